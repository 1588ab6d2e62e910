"""The words said to a model: one Markdown file each, with `$name` where a value goes.

`PROMPT_VERSION` follows from the files' content, so that a changed word changes every decision key by itself.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from infold.text import content_hash


def prompt(name: str, /, **values: object) -> str:
    """The prompt of that name with its values put in. What stands in a value is never read as a placeholder."""
    return _template(name).substitute({key: str(value) for key, value in values.items()})


@cache
def _template(name: str) -> Template:
    return Template((files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip())


def _version() -> str:
    found = sorted(
        (f.name, f.read_text(encoding="utf-8")) for f in files(__package__).iterdir() if f.name.endswith(".md")
    )
    return content_hash("\0".join(part for pair in found for part in pair))[:10]


PROMPT_VERSION = _version()
