"""Packages whose modules are loaded when they are named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from infold import lazy

CODE = """
import sys
from infold import lazy
before = [name for name in sys.modules if name.startswith("infold.notebook")]
lazy.notebook.daily.daily_log
print(before, "infold.notebook.daily" in sys.modules, "infold.notebook.pages" in sys.modules)
"""


def test_a_module_is_loaded_when_it_is_named():
    """Not before, and no other of its package that it does not need."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split("] ") == ["[", "True False\n"]


def test_what_is_named_is_the_thing_itself():
    """Modules, packages within packages, and what a package itself declares."""
    from infold.search.embed.providers import open_embedder
    from infold.search.query.searcher import Searcher

    assert lazy.search.query.searcher.Searcher is Searcher
    assert lazy.search.embed.providers.open_embedder is open_embedder


@pytest.mark.parametrize("name", ["nothing", "__wrapped__"])
def test_what_is_not_there_is_no_attribute(name):
    """As of any module; the fault of a module that cannot be loaded is its own."""
    with pytest.raises(AttributeError):
        getattr(lazy.notebook, name)
