"""The page on infold from Python: every example runs; and the pages that are made from the table are what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def _notes(nowhere) -> None:
    """The small vault of the page, in the folder where its examples run."""
    notes = Path("notes")
    notes.mkdir()
    (notes / "index.md").write_text("# Home\n\n- [[boiler]]\n- [[garden]]\n")
    (notes / "boiler.md").write_text("# Boiler\n\nRadiators are bled in October, the one upstairs first.\n")
    (notes / "garden.md").write_text("# Garden\n\nThe hedge is cut in June, when the birds have gone.\n")
    (notes / "inbox.md").write_text("The boiler's pump hums when the radiators upstairs hold air.\n")


@pytest.mark.usefixtures("_notes")
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_runs(number, capsys):
    """As it stands on the page, in an empty folder with the vault of the page."""
    exec(compile(EXAMPLES[number], f"docs/python.md, example {number + 1}", "exec"), {"__name__": "__main__"})
    assert "Traceback" not in capsys.readouterr().out


def test_the_page_of_operations_is_the_table():
    """No change of what programs read passes unseen. When it fails: `python -m scripts.json_docs`."""
    code = "from scripts.json_docs import render; import sys; sys.stdout.write(render())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout == (REPOSITORY / "docs" / "json.md").read_text(encoding="utf-8")
