"""Keeping the catalogue in step with the vault."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.catalogue import sync as sync_module
from infold.catalogue.days import DayFrom
from infold.catalogue.kinds import kind_of
from infold.catalogue.links import as_written, dangling_links, shown_names
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import CatalogueResult, sync_catalogue
from infold.errors import CatalogueFault, NoteUnreadable, VaultNotFound
from infold.settings import Params, SummaryParams, VaultParams
from infold.vault.note import parse

PARAMS = Params()


@pytest.fixture
def vault(tmp_path) -> Path:
    root = tmp_path / "vault"
    write(root, "index.md", "# Index\n\n[[a]] [[sub/b]] [[nowhere]] [[a]] [[#Index]] ![[p.png]]\n")
    write(root, "a.md", "---\naliases: [Alpha]\n---\n# A\n\n[[b]]\n")
    write(root, "sub/b.md", "# B\n\n## Part\n\n[[Alpha]]\n")
    return root


@pytest.fixture
def catalogue(tmp_path, vault):
    found = Catalogue(tmp_path / "state" / "catalogue.sqlite", vault, PARAMS)
    yield found
    found.close()


def write(root: Path, path: str, text: str, *, age_seconds: float = 3600) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    then = time.time() - age_seconds
    os.utime(file, (then, then))


def counts(result: CatalogueResult) -> tuple[int, int, int, int]:
    return result.added, result.changed, result.removed, result.unchanged


def outgoing(catalogue: Catalogue) -> dict[str, list[str]]:
    return {path: list(targets) for path, targets in catalogue.outgoing().items()}


def dangling(catalogue: Catalogue) -> list[str]:
    return [as_written(link) for _, link in dangling_links(catalogue)]


def titles(catalogue: Catalogue) -> dict[str, str]:
    return {note.path: note.title for note in catalogue.notes()}


def everything(catalogue: Catalogue) -> object:
    """All that the catalogue knows, times of files and days taken from them aside."""
    notes = [(note.path, note.sha256, note.title, note.headings, note.aliases) for note in catalogue.notes()]
    return notes, catalogue.outgoing(), catalogue.targets(), dangling(catalogue), shown_names(catalogue)


def test_the_first_sync_reads_every_note(vault, catalogue):
    """A row a note, links resolved in the order of the note, outgoing notes each once."""
    result = sync_catalogue(catalogue)
    assert (result.scanned, *counts(result)) == (3, 3, 0, 0, 0)
    notes = catalogue.notes()
    assert [note.path for note in notes] == ["a.md", "index.md", "sub/b.md"]
    assert [note.headings for note in notes] == [("# A",), ("# Index",), ("# B", "## Part")]
    assert {note.trust for note in notes} == {"vault"}
    assert outgoing(catalogue) == {"a.md": ["sub/b.md"], "index.md": ["a.md", "sub/b.md"], "sub/b.md": ["a.md"]}
    assert catalogue.targets()["index.md"] == ("a.md", "sub/b.md", None, "a.md", "index.md", None)
    assert dangling(catalogue) == ["[[nowhere]]"]


def test_nothing_changed_reads_and_writes_nothing(vault, catalogue, monkeypatch):
    """A second sync looks at names, sizes and times only."""
    sync_catalogue(catalogue)
    monkeypatch.setattr(Catalogue, "writing", lambda _: pytest.fail("written"))
    monkeypatch.setattr(sync_module, "Crew", lambda *_: pytest.fail("read"))
    result = sync_catalogue(catalogue)
    assert counts(result) == (0, 0, 0, 3)
    assert [file.path for file in result.files] == ["a.md", "index.md", "sub/b.md"]


def test_only_what_changed_is_read(vault, catalogue, monkeypatch):
    """A changed, a new and a removed note cost themselves."""
    sync_catalogue(catalogue)
    write(vault, "a.md", "# A now\n\n[[index]]\n", age_seconds=1800)
    write(vault, "new.md", "# New\n")
    (vault / "sub" / "b.md").unlink()
    read = parsed_paths(monkeypatch)
    assert counts(sync_catalogue(catalogue)) == (1, 1, 1, 1)
    assert read == ["a.md", "new.md"]
    assert outgoing(catalogue) == {"a.md": ["index.md"], "index.md": ["a.md"], "new.md": []}


def parsed_paths(monkeypatch) -> list[str]:
    """Fills with the paths of the notes that are parsed."""
    paths: list[str] = []
    monkeypatch.setattr("infold.vault.note.parse", lambda path, text: paths.append(path) or parse(path, text))
    return paths


def test_with_paths_nothing_else_is_looked_at(vault, catalogue):
    """What changed elsewhere waits for a sync of everything."""
    sync_catalogue(catalogue)
    write(vault, "a.md", "# A now\n", age_seconds=1800)
    write(vault, "new.md", "# New\n")
    (vault / "sub" / "b.md").unlink()
    result = sync_catalogue(catalogue, ["new.md", "sub/b.md"])
    assert (result.added, result.changed, result.removed) == (1, 0, 1)
    assert titles(catalogue) == {"a.md": "A", "index.md": "Index", "new.md": "New"}


def test_a_touched_file_is_hashed_and_not_parsed(vault, catalogue, monkeypatch):
    """Another time with the same bytes changes nothing, and is known the next time."""
    sync_catalogue(catalogue)
    before = everything(catalogue)
    os.utime(vault / "a.md", (1_700_000_000, 1_700_000_000))
    read = parsed_paths(monkeypatch)
    assert counts(sync_catalogue(catalogue)) == (0, 0, 0, 3)
    assert (read, everything(catalogue)) == ([], before)
    assert catalogue.stamps()["a.md"].mtime_ns == 1_700_000_000 * 10**9


def test_a_change_within_the_resolution_of_time_is_seen(vault, catalogue):
    """A file rewritten with the same size and time as it was read with is hashed, not trusted."""
    write(vault, "a.md", "# A old", age_seconds=0)
    sync_catalogue(catalogue)
    status = (vault / "a.md").stat()
    (vault / "a.md").write_text("# A new")
    os.utime(vault / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(sync_catalogue(catalogue)) == (0, 1, 0, 2)
    assert titles(catalogue)["a.md"] == "A new"


def test_links_follow_names_that_come_and_go(vault, catalogue):
    """A dangling link finds its note once that exists; links to a removed note dangle; notes not read again."""
    sync_catalogue(catalogue)
    write(vault, "deep/nowhere.md", "# Here\n")
    sync_catalogue(catalogue)
    assert outgoing(catalogue)["index.md"] == ["a.md", "sub/b.md", "deep/nowhere.md"]
    (vault / "a.md").rename(vault / "renamed.md")
    sync_catalogue(catalogue)
    assert outgoing(catalogue)["index.md"] == ["sub/b.md", "deep/nowhere.md"]
    assert outgoing(catalogue)["sub/b.md"] == ["renamed.md"]  # by its alias


def test_links_follow_aliases_that_come_and_go(vault, catalogue):
    """An alias taken out of one note and given to another moves the links that use it."""
    sync_catalogue(catalogue)
    write(vault, "a.md", "# A\n", age_seconds=1800)
    sync_catalogue(catalogue)
    assert outgoing(catalogue)["sub/b.md"] == []
    write(vault, "index.md", "---\naliases: alpha\n---\n", age_seconds=1800)
    sync_catalogue(catalogue)
    assert outgoing(catalogue)["sub/b.md"] == ["index.md"]


@pytest.mark.parametrize("damage", ["cut", "gone", "other", "page"])
def test_a_damaged_catalogue_is_made_again(vault, catalogue, damage):
    """Cut, deleted, overwritten or something else: one sync brings it back as it was."""
    sync_catalogue(catalogue)
    before = everything(catalogue)
    catalogue.close()
    data = catalogue.file.read_bytes()
    if damage == "gone":
        catalogue.file.unlink()
    else:
        middle = len(data) // 2
        parts = {"cut": data[:middle], "other": b"no database", "page": data[:4096] + b"\xff" * (len(data) - 4096)}
        catalogue.file.write_bytes(parts[damage])
    sync_catalogue(catalogue)
    assert everything(catalogue) == before


@pytest.mark.parametrize("damage", [b"\xff", b"\x81", b"", 7])
def test_a_note_whose_outline_is_damaged_is_parsed(vault, catalogue, damage):
    """What is packed has no checksum: what cannot be unpacked is taken from the note itself."""
    sync_catalogue(catalogue)
    with catalogue.writing() as db:
        db.execute("UPDATE outlines SET outline = ?, passages = ?", (damage, damage))
        db.execute("UPDATE links SET places = ?", (damage,))
    for path in catalogue.paths():
        assert catalogue.note(path) == parse(path, catalogue.text(path))
        passages = catalogue.written(path).passages
        assert [at[:2] for at in catalogue.passage_cuts(path)] == [(each.start, each.end) for each in passages]


def test_damage_that_a_sync_does_not_meet_is_gone_with_the_file(vault, catalogue):
    """A page of links that cannot be read: the command fails that needs it, and the next makes the catalogue anew."""
    sync_catalogue(catalogue)
    before = catalogue.targets()
    with catalogue.reading() as db:
        root, size = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'links'").fetchone()[0], 4096
    catalogue.close()
    data = bytearray(catalogue.file.read_bytes())
    data[(root - 1) * size : (root - 1) * size + 8] = b"\xff" * 8
    catalogue.file.write_bytes(data)
    sync_catalogue(catalogue)
    with pytest.raises(CatalogueFault, match="malformed"):
        catalogue.targets()
    catalogue.close()
    sync_catalogue(catalogue)
    assert catalogue.targets() == before


def test_a_catalogue_of_an_earlier_infold_is_made_anew(vault, catalogue):
    """Its tables are read by nobody, and the room that they took is given back."""
    catalogue.file.parent.mkdir()
    with closing(sqlite3.connect(catalogue.file)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        db.execute("INSERT INTO meta VALUES ('identity', 'facts 4')")
        for table in ("files", "notes", "outlines"):
            db.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, other BLOB)")
        db.execute("CREATE TABLE links (note, ordinal, target, PRIMARY KEY (note, ordinal)) WITHOUT ROWID")
        db.execute("CREATE INDEX links_by_target ON links (target)")
        db.execute("CREATE TABLE derived (name TEXT PRIMARY KEY, generation INTEGER NOT NULL, data BLOB NOT NULL)")
        db.execute("INSERT INTO derived VALUES ('graph', 0, x'00')")
        db.execute("INSERT INTO files (other) VALUES (zeroblob(1000000))")
        db.execute("PRAGMA user_version = 2")
    sync_catalogue(catalogue)
    assert outgoing(catalogue)["index.md"] == ["a.md", "sub/b.md"]
    catalogue.close()
    assert catalogue.file.stat().st_size < 100_000


def test_other_passages_are_cut_again(vault, catalogue):
    """What the facts of a note depend on beside its text is part of the catalogue: another setting reads all again."""
    sync_catalogue(catalogue)
    catalogue.close()
    other = Catalogue(catalogue.file, vault, Params.model_validate({"search": {"passage_tokens": 64}}))
    assert counts(sync_catalogue(other)) == (3, 0, 0, 0)
    other.close()


def test_an_empty_vault_leaves_the_catalogue(vault, catalogue):
    """Notes that are all gone at once are a vault not mounted, not a deletion; the same for a folder not there."""
    sync_catalogue(catalogue)
    before = everything(catalogue)
    shutil.rmtree(vault)
    for paths in (None, ["a.md"], None, ["a.md"]):
        result = sync_catalogue(catalogue, paths)
        assert (result.emptied, result.removed, result.skipped != ()) == (True, 0, not vault.exists())
        assert everything(catalogue) == before
        if paths:
            vault.mkdir(exist_ok=True)


def test_a_vault_that_never_was_is_an_error(tmp_path):
    """Without a catalogue a missing folder is a wrong path."""
    with pytest.raises(VaultNotFound):
        sync_catalogue(Catalogue(tmp_path / "c.sqlite", tmp_path / "none", PARAMS))


def test_a_vault_without_notes_has_an_empty_catalogue(tmp_path):
    """A new vault is no error, and not `emptied`."""
    (tmp_path / "vault").mkdir()
    catalogue = Catalogue(tmp_path / "c.sqlite", tmp_path / "vault", PARAMS)
    result = sync_catalogue(catalogue)
    assert (result.scanned, result.emptied, catalogue.notes()) == (0, False, [])


def test_a_placeholder_of_cloud_sync_is_not_a_deletion(vault, catalogue):
    """A note evicted to the cloud keeps its row and its links; it is named."""
    sync_catalogue(catalogue)
    (vault / "sub" / "b.md").rename(vault / "sub" / ".b.md.icloud")
    result = sync_catalogue(catalogue)
    assert (result.removed, [item.path for item in result.skipped]) == (0, ["sub/b.md"])
    assert outgoing(catalogue)["index.md"] == ["a.md", "sub/b.md"]


def test_a_folder_out_of_reach_is_not_a_deletion(vault, catalogue, monkeypatch):
    """Notes under a folder that cannot be listed keep their rows."""
    sync_catalogue(catalogue)
    real = os.scandir

    def refused(place):
        if os.path.samefile(place, vault / "sub"):  # noqa: PTH121 - a folder may be named by its descriptor
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr("os.scandir", refused)
    result = sync_catalogue(catalogue)
    assert (result.removed, [item.path for item in result.skipped]) == (0, ["sub/"])
    assert len(catalogue.notes()) == 3


def test_a_note_that_turns_unreadable_leaves_the_catalogue_and_is_named(vault, catalogue):
    """Not UTF-8 any more: no row that could be offered, and the reason in the result, every time."""
    sync_catalogue(catalogue)
    (vault / "a.md").write_bytes(b"caf\xe9")
    for removed in (1, 0):
        result = sync_catalogue(catalogue)
        assert result.removed == removed
        assert "not UTF-8" in result.skipped[0].reason
        assert (result.unchanged, [file.path for file in result.files]) == (2, ["index.md", "sub/b.md"])
    assert list(titles(catalogue)) == ["index.md", "sub/b.md"]


def test_front_matter_that_cannot_be_read_is_a_warning_every_time(vault, catalogue):
    """The note is kept as text; the warning names it with the line, also when nothing changed."""
    write(vault, "a.md", "---\na: [\n---\n# A\n")
    for _ in range(2):
        (warning,) = sync_catalogue(catalogue).warnings
        assert warning.path == "a.md"
        assert "line" in warning.reason


def test_a_sync_that_is_killed_is_mended_by_the_next(vault, catalogue, monkeypatch):
    """Killed after the notes and before their links: the next sync gives what an uninterrupted one would have."""
    sync_catalogue(catalogue)
    write(vault, "c.md", "[[a]] [[d]]\n")
    write(vault, "d.md", "[[nowhere]]\n")
    write(vault, "nowhere.md", "\n")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("infold.catalogue.link_targets.resolve_links", killed)
    with pytest.raises(KeyboardInterrupt):
        sync_catalogue(catalogue)
    monkeypatch.undo()
    assert counts(sync_catalogue(catalogue)) == (0, 0, 0, 6)
    fresh = Catalogue(catalogue.file.with_name("fresh.sqlite"), vault, PARAMS)
    sync_catalogue(fresh)
    assert everything(catalogue) == everything(fresh)
    fresh.close()


def test_a_note_has_a_day_whatever_says_it(vault, catalogue):
    """By its name, else by its front matter, else by the time of its file when it was first seen, and marked as such."""
    then = 1_600_000_000  # 2020-09-13
    write(vault, "2024-02-29 meeting.md", "---\ndate: 2021-01-01\n---\n")
    write(vault, "dated.md", "---\ncreated: 2021-01-01\n---\n")
    write(vault, "2023-02-29.md", "no such day\n")
    os.utime(vault / "2023-02-29.md", (then, then))
    sync_catalogue(catalogue)
    write(vault, "2023-02-29.md", "written again, on another day\n")
    sync_catalogue(catalogue)
    days = {note.path: (note.day, note.day_from) for note in catalogue.notes()}
    assert days["2024-02-29 meeting.md"] == ("2024-02-29", DayFrom.NAME)
    assert days["dated.md"] == ("2021-01-01", DayFrom.FRONT_MATTER)
    assert days["2023-02-29.md"] == ("2020-09-13", DayFrom.FILE)


def test_a_note_is_read_once_while_it_is_in_use(vault, catalogue, monkeypatch):
    """Sync, note, passages and text: one reading and one parse; what changed since is read and parsed as it is."""
    read: list[str] = []
    real = os.open
    monkeypatch.setattr("os.open", lambda path, *rest, **more: read.append(str(path)) or real(path, *rest, **more))
    parsed = parsed_paths(monkeypatch)
    sync_catalogue(catalogue)
    for path in ("a.md", "index.md"):
        note = catalogue.note(path)
        assert note == parse(path, catalogue.text(path))
        (start, end, _), *others = catalogue.passage_cuts(path)
        assert (note.text[start:end], others) == (note.text[note.text.index("#") :].strip(), [])
    assert sorted(Path(path).name for path in read if path.endswith(".md")) == ["a.md", "b.md", "index.md"]
    assert parsed == ["a.md", "index.md", "sub/b.md"]
    catalogue.drop(["a.md"])
    write(vault, "a.md", "# Another\n")
    assert catalogue.note("a.md").title == "Another"
    with pytest.raises(NoteUnreadable):
        catalogue.note("none.md")


def test_kinds_are_told_by_the_parameters(vault, catalogue):
    """Another index pattern changes kinds although no note changed, and nothing is read again."""
    sync_catalogue(catalogue)
    other = Params(summary=SummaryParams(index_filename_pattern="b"), vault=VaultParams(inbox_file="a.md"))
    again = Catalogue(catalogue.file, vault, other)
    assert counts(sync_catalogue(again)) == (0, 0, 0, 3)
    kind = kind_of(other, vault)
    assert [kind(note.path) for note in again.notes()] == ["inbox", "standard", "index"]
    again.close()


NAMES = st.sampled_from(["a", "b", "sub/a", "sub/c", "index"])
TEXTS = st.sampled_from(
    ["[[a]] [[c]]", "---\naliases: c\n---\n[[sub/a]]", "[[index]] [x](./a.md)", "# t [[Alpha]]", "\xff"]
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(st.lists(st.dictionaries(NAMES, TEXTS, min_size=1), min_size=2, max_size=4))
def test_step_by_step_is_as_all_at_once(tmp_path_factory, states):
    """Whatever happens to a vault between syncs, the catalogue is that of a first sync of what it is now."""
    root = tmp_path_factory.mktemp("vault")
    stepwise = Catalogue(tmp_path_factory.mktemp("state") / "c.sqlite", root, PARAMS)
    for age, state in enumerate(states):
        shutil.rmtree(root)
        root.mkdir()
        for name, text in state.items():
            write(root, f"{name}.md", "", age_seconds=9000 - age)
            (root / f"{name}.md").write_bytes(text.encode("latin-1"))
            os.utime(root / f"{name}.md", (10**9 + age, 10**9 + age))
        if sync_catalogue(stepwise).emptied:
            return
    fresh = Catalogue(stepwise.file.with_name("fresh.sqlite"), root, PARAMS)
    sync_catalogue(fresh)
    assert everything(stepwise) == everything(fresh)
    stepwise.close()
    fresh.close()


def test_problems_are_found_without_going_through_all_files(vault, catalogue):
    """Each sync names them: what that takes depends on how many there are, not on the number of notes."""
    for number in range(50):
        write(vault, f"{number}.md", "# Note\n")
    write(vault, "broken.md", "---\na: [\n---\n")
    sync_catalogue(catalogue)
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with catalogue.reading() as db:
        db.set_progress_handler(count, 1)
        found = catalogue.problems()
        db.set_progress_handler(None, 0)
    assert [path for path, _ in found] == ["broken.md"]
    assert steps < 100
