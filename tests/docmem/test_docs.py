"""The page on memory trees."""

from __future__ import annotations

import re

from infold.docmem.memory import open_docmem
from tests.conftest import REPOSITORY


def test_examples_of_the_page_run(tmp_path, monkeypatch):
    """Each example of docs/docmem.md runs as written, and what it asserts holds."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "docmem.md").read_text(), re.DOTALL)
    assert len(blocks) >= 7
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/docmem.md", "exec"), names)  # the examples are ours
    open_docmem(tmp_path / "docmem.sqlite").close()
