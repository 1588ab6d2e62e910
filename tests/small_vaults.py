"""Vaults of a few notes that tests of several packages write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TWO_SUBJECTS = {
    "garden/tomatoes.md": "---\ntags: [garden]\ndate: 2025-05-01\n---\n# Tomatoes\n\nTomatoes want sun and water.\n\n"
    "## Watering\n\nWater the tomato plants in the morning, at the roots.\n\nNever wet the leaves of a tomato plant.\n\n"
    "## Pests\n\nAphids sit below the leaves; see [[compost#Heat]].\n",
    "garden/compost.md": "---\ntags: [garden]\ndate: 2024-03-01\n---\n# Compost\n\nCompost feeds the garden soil.\n\n"
    "## Heat\n\nA hot heap of compost kills the seeds of weeds.\n",
    "work/release.md": "---\ntags: [work/infra]\ndate: 2026-01-10\n---\n# Release\n\nThe server is deployed by a script.\n\n"
    "## Rollback\n\nRoll the deployment of the server back with the script.\n",
    "work/database.md": "# Database\n\nThe database server keeps a log of every write. See [[release]].\n",
    "index.md": "# Home\n\n[[tomatoes]] and [[release]]\n",
}

HOUSE = {
    "index.md": "# Home\n\n[[house/boiler]]\n",
    "house/boiler.md": "# Boiler\n\nThe pressure of the boiler is 1.4 bar.\n\n## Valve\n\nBrass.\n",
}


def written(notes: Mapping[str, str], folder: Path) -> Path:
    """The folder, with these notes in it."""
    for path, text in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
