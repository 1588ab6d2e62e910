"""The vaults with collections that filing is measured on."""

from __future__ import annotations

import pytest

from bench.collected import FOLDER, collected, quoted
from infold.text import collapse_spaces
from infold.vault.note import parse


def vault(count: int = 40) -> dict[str, str]:
    """Notes of several paragraphs, each paragraph its own."""
    return {
        f"{n}.md": f"# Note {n}\n\n"
        + "\n\n".join(
            f"Paragraph {k} of note {n} has twelve words and more about {n * 7 + k}, it seems." for k in range(5)
        )
        for n in range(count)
    }


@pytest.mark.parametrize("make", [collected, quoted])
def test_every_passage_stands_once_and_long_notes_hold_many(make):
    """What moves into a collection is gone from its note, nothing is lost, and the same notes give the same vault."""
    notes = {path: parse(path, text) for path, text in vault().items()}
    found = make(notes)
    assert found == make(notes)
    reading = [text for path, text in found.items() if path.startswith(f"{FOLDER}/")]
    assert max(map(len, reading)) > 3 * len(vault()["0.md"])
    told = [collapse_spaces(text.replace("\n> ", "\n")) for path, text in found.items() if "/map-" not in path]
    for n in range(40):
        for k in range(5):
            assert sum(text.count(f"Paragraph {k} of note {n} has") for text in told) == 1
