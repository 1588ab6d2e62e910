"""What the pages load and is not ours is as it was published, with its licence."""

from __future__ import annotations

import hashlib

from scripts.vendor import FOLDER, LIBRARIES


def test_each_file_is_as_it_was_chosen():
    """The hash of each vendored file is the pinned one, its licence lies beside it, and nothing else is there."""
    found = {file.name for file in FOLDER.iterdir()}
    assert found == {name for each in LIBRARIES for name in (each.file, f"{each.name}.LICENSE")}
    for library in LIBRARIES:
        assert hashlib.sha256((FOLDER / library.file).read_bytes()).hexdigest() == library.file_sha256
        assert "Permission to use, copy, modify" in (FOLDER / f"{library.name}.LICENSE").read_text()
