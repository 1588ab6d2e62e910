"""Summaries that are there are not looked at again, and whatever may change one has them looked at."""

from collections.abc import Callable
from pathlib import Path

import pytest

import infold
from infold.catalogue import summaries

LONG = " ".join(f"Sentence {number} says what the radiators in room {number} need." for number in range(30))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "index.md").write_text("# Index\n\n- [[Radiators]]\n")
    (folder / "Radiators.md").write_text(f"# Radiators\n\n{LONG}\n")
    return folder


@pytest.fixture
def sync(vault: Path, tmp_path: Path) -> Callable[..., None]:
    def run(*changes: str) -> None:
        with infold.open(vault, state=tmp_path / "state", changes=["search.embedding=none", *changes]) as opened:
            opened.sync()

    return run


@pytest.fixture
def looks(monkeypatch) -> list[str]:
    """Fills with one entry each time that all summaries are read."""
    seen: list[str] = []
    real = summaries.SummaryStore.load

    def counted(store: summaries.SummaryStore):
        seen.append("all")
        return real(store)

    monkeypatch.setattr(summaries.SummaryStore, "load", counted)
    return seen


def test_nothing_changed_reads_no_summary(sync, looks):
    """Once a look found nothing to do, the next syncs of an unchanged vault take none."""
    sync()
    sync()
    before = len(looks)
    sync()
    sync()
    assert len(looks) == before


def test_a_changed_note_has_its_summary_made(vault, tmp_path, sync, looks):
    """A changed note ends the rest, and its new text has a summary afterwards."""
    sync()
    sync()
    (vault / "Radiators.md").write_text(f"# Radiators\n\nBoilers come first. {LONG}\n")
    sync()
    rows = summaries.SummaryStore(tmp_path / "state" / "derived" / "summaries").load()
    assert any("Boilers" in row.summary for row in rows.values())


def test_summaries_that_were_deleted_come_back(tmp_path, sync):
    """The mark is of the files too: one that is gone is made again by the next sync."""
    sync()
    sync()
    folder = tmp_path / "state" / "derived" / "summaries"
    made = summaries.SummaryStore(folder).load().keys()
    for part in folder.glob("summaries-*.parquet"):
        part.unlink()
    sync()
    assert summaries.SummaryStore(folder).load().keys() == made


def test_other_settings_have_them_looked_at(sync, looks):
    """A setting that a summary depends on ends the rest."""
    sync()
    sync()
    before = len(looks)
    sync("summary.index_filename_pattern=radiators")
    assert len(looks) > before
