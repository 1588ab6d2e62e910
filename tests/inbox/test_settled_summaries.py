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
    for part in folder.iterdir():
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


@pytest.fixture
def rows(tmp_path: Path) -> Callable[[], dict]:
    return lambda: summaries.SummaryStore(tmp_path / "state" / "derived" / "summaries").load()


def test_a_few_changed_notes_are_summarised_by_themselves(vault, tmp_path, sync, looks, rows):
    """Long, short and new notes that no index note leads to: no look at all others, and the same rows as by one."""
    (vault / "index.md").write_text("# Index\n")
    sync()
    sync()
    before = len(looks)
    (vault / "Radiators.md").write_text(f"---\ntags: [heat]\n---\n# Radiators\n\nBoilers come first. {LONG}\n")
    (vault / "Taps.md").write_text("# Taps\n\nTaps  drip.\n")
    sync()
    sync()
    assert len(looks) == before
    alone = {key: row for key, row in rows().items() if "Boilers" in row.summary or "drip" in row.summary}
    assert len(alone) == 2
    for part in (tmp_path / "state" / "derived" / "summaries").iterdir():
        part.unlink()
    sync()
    assert alone.items() <= rows().items()


def test_an_index_note_follows_what_it_leads_to(vault, sync, looks, rows):
    """A change in a linked note, which leaves the index note itself as it was, has the latter summarised again."""
    sync()
    sync()
    before, known = len(looks), rows().keys()
    (vault / "Radiators.md").write_text("# Radiators\n\nThey are gone.\n")
    sync()
    assert len(looks) > before + 1
    assert len(rows().keys() - known) == 2


def test_many_changed_notes_are_looked_at_with_all_others(vault, sync, looks, rows):
    """As many as pay for workers; none is left without its summary."""
    sync()
    sync()
    before = len(looks)
    for number in range(60):
        (vault / f"Room {number}.md").write_text(f"# Room {number}\n\nRoom {number} is cold.\n")
    sync()
    assert len(looks) > before
    assert sum("is cold" in row.summary for row in rows().values()) == 60


def test_a_model_s_summaries_are_never_taken_for_settled(vault, tmp_path):
    """Who else summarises is asked each time, whatever was settled offline before."""
    from infold.catalogue.store import catalogue_of
    from infold.inbox.settled_summaries import are_settled

    with infold.open(vault, state=tmp_path / "state", changes=["search.embedding=none"]) as opened:
        opened.sync()
        opened.sync()
        offline = opened.workspace
    with infold.open(vault, state=tmp_path / "state", changes=["librarian.kind=model"]) as opened:
        asked = opened.workspace
    catalogue = catalogue_of(offline)
    assert (are_settled(offline, catalogue), are_settled(asked, catalogue)) == (True, False)
    catalogue.close()


def test_a_plan_of_settled_summaries_reads_none(vault, tmp_path, sync, looks):
    """The offline librarian decides without summaries; who looks at one finds all, index notes included."""
    import asyncio

    from infold.app import open_steps

    (vault / "Walls.md").write_text(f"# Walls\n\nWalls are painted. {LONG}\n")
    with infold.open(vault, state=tmp_path / "state", changes=["search.embedding=none"]) as opened:
        space = opened.workspace

    async def shown() -> tuple[dict[str, str], int]:
        async with open_steps(space) as steps:
            summaries = (await steps.prepare()).snapshot.summaries
            before = len(looks)
            return dict(summaries), before

    made, _ = asyncio.run(shown())
    asyncio.run(shown())
    before = len(looks)
    kept, when_prepared = asyncio.run(shown())
    assert when_prepared == before
    assert kept == made
    assert all(made[path] for path in ("index.md", "Radiators.md", "Walls.md"))
