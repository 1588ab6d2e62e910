"""Keeping the tables in step with the vault."""

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.catalogue import sync as sync_module
from infold.catalogue.links import dangling_links, load_links
from infold.catalogue.notes import load_notes
from infold.catalogue.sync import TablesResult, sync_tables
from infold.errors import VaultNotFound
from infold.settings import Params, SummaryParams, VaultParams

PARAMS = Params()


@pytest.fixture
def vault(tmp_path) -> Path:
    root = tmp_path / "vault"
    write(root, "index.md", "# Index\n\n[[a]] [[sub/b]] [[nowhere]] [[a]] [[#Index]] ![[p.png]]\n")
    write(root, "a.md", "---\naliases: [Alpha]\n---\n# A\n\n[[b]]\n")
    write(root, "sub/b.md", "# B\n\n## Part\n\n[[Alpha]]\n")
    return root


@pytest.fixture
def tables(tmp_path) -> Path:
    return tmp_path / "tables"


def write(root: Path, path: str, text: str, *, age_seconds: float = 3600) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    then = time.time() - age_seconds
    os.utime(file, (then, then))


def counts(result: TablesResult) -> tuple[int, int, int, int]:
    return result.added, result.changed, result.removed, result.unchanged


def outgoing(tables: Path) -> dict[str, list[str]]:
    return {path: list(targets) for path, targets in load_notes(tables).select("path", "outgoing").iter_rows()}


def targets(tables: Path) -> list[tuple[str, str, str | None]]:
    return list(load_links(tables).select("source", "raw", "target").iter_rows())


def test_the_first_sync_makes_both_tables(vault, tables):
    """A row a note and a row a link, links resolved in the order of the note, outgoing notes each once."""
    result = sync_tables(vault, tables, PARAMS)
    assert (result.scanned, *counts(result)) == (3, 3, 0, 0, 0)
    notes = load_notes(tables)
    assert notes["path"].to_list() == ["a.md", "index.md", "sub/b.md"]
    assert notes["kind"].to_list() == ["standard", "index", "standard"]
    assert notes["headings"].to_list() == [["# A"], ["# Index"], ["# B", "## Part"]]
    assert set(notes["trust"]) == {"vault"}
    assert outgoing(tables) == {"a.md": ["sub/b.md"], "index.md": ["a.md", "sub/b.md"], "sub/b.md": ["a.md"]}
    assert targets(tables)[1:7] == [
        ("index.md", "[[a]]", "a.md"),
        ("index.md", "[[sub/b]]", "sub/b.md"),
        ("index.md", "[[nowhere]]", None),
        ("index.md", "[[a]]", "a.md"),
        ("index.md", "[[#Index]]", "index.md"),
        ("index.md", "![[p.png]]", None),
    ]
    assert dangling_links(load_links(tables))["raw"].to_list() == ["[[nowhere]]"]


def test_nothing_changed_reads_and_writes_nothing(vault, tables, monkeypatch):
    """A second sync looks at names, sizes and times only."""
    sync_tables(vault, tables, PARAMS)
    stamps = [(file.name, file.stat().st_mtime_ns) for file in tables.iterdir()]
    monkeypatch.setattr(sync_module, "read_rows", lambda root, wanted, *rest: [] if not wanted else pytest.fail("read"))
    assert counts(sync_tables(vault, tables, PARAMS)) == (0, 0, 0, 3)
    assert [(file.name, file.stat().st_mtime_ns) for file in tables.iterdir()] == stamps


def test_only_what_changed_is_read(vault, tables, monkeypatch):
    """A changed, a new and a removed note cost themselves."""
    sync_tables(vault, tables, PARAMS)
    write(vault, "a.md", "# A now\n\n[[index]]\n", age_seconds=1800)
    write(vault, "new.md", "# New\n")
    (vault / "sub" / "b.md").unlink()
    seen: list[str] = []
    real = sync_module.read_rows
    monkeypatch.setattr(
        sync_module,
        "read_rows",
        lambda root, wanted, *rest: seen.extend(p for p, _ in wanted) or real(root, wanted, *rest),
    )
    assert counts(sync_tables(vault, tables, PARAMS)) == (1, 1, 1, 1)
    assert seen == ["a.md", "new.md"]
    assert outgoing(tables) == {"a.md": ["index.md"], "index.md": ["a.md"], "new.md": []}


def test_a_touched_file_is_hashed_and_not_parsed(vault, tables):
    """Another time with the same bytes changes nothing, and is known the next time."""
    sync_tables(vault, tables, PARAMS)
    before = load_notes(tables).drop("mtime_ns")
    os.utime(vault / "a.md", (1_700_000_000, 1_700_000_000))
    assert counts(sync_tables(vault, tables, PARAMS)) == (0, 0, 0, 3)
    assert load_notes(tables).drop("mtime_ns").equals(before)
    assert load_notes(tables)["mtime_ns"][0] == 1_700_000_000 * 10**9


def test_a_change_within_the_resolution_of_time_is_seen(vault, tables):
    """A file rewritten with the same size and time as the tables were written is hashed, not trusted."""
    write(vault, "a.md", "# A old", age_seconds=0)
    sync_tables(vault, tables, PARAMS)
    status = (vault / "a.md").stat()
    (vault / "a.md").write_text("# A new")
    os.utime(vault / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(sync_tables(vault, tables, PARAMS)) == (0, 1, 0, 2)
    assert load_notes(tables)["title"].to_list()[0] == "A new"


def test_links_follow_names_that_come_and_go(vault, tables):
    """A dangling link finds its note once that exists; links to a removed note dangle; notes not read again."""
    sync_tables(vault, tables, PARAMS)
    write(vault, "deep/nowhere.md", "# Here\n")
    sync_tables(vault, tables, PARAMS)
    assert outgoing(tables)["index.md"] == ["a.md", "sub/b.md", "deep/nowhere.md"]
    (vault / "a.md").rename(vault / "renamed.md")
    sync_tables(vault, tables, PARAMS)
    assert outgoing(tables)["index.md"] == ["sub/b.md", "deep/nowhere.md"]
    assert outgoing(tables)["sub/b.md"] == ["renamed.md"]  # by its alias


def test_links_follow_aliases_that_come_and_go(vault, tables):
    """An alias taken out of one note and given to another moves the links that use it."""
    sync_tables(vault, tables, PARAMS)
    write(vault, "a.md", "# A\n", age_seconds=1800)
    sync_tables(vault, tables, PARAMS)
    assert outgoing(tables)["sub/b.md"] == []
    write(vault, "index.md", "---\naliases: alpha\n---\n", age_seconds=1800)
    sync_tables(vault, tables, PARAMS)
    assert outgoing(tables)["sub/b.md"] == ["index.md"]


@pytest.mark.parametrize("name", ["notes.parquet", "links.parquet"])
@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_a_damaged_table_is_made_again(vault, tables, name, damage):
    """Cut, deleted or of another version: one sync brings both tables back as they were."""
    sync_tables(vault, tables, PARAMS)
    notes, links = load_notes(tables), load_links(tables)
    file = tables / name
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-10] if damage == "cut" else b"PAR1")
    sync_tables(vault, tables, PARAMS)
    assert load_notes(tables).equals(notes)
    assert load_links(tables).equals(links)


def test_an_empty_vault_leaves_the_tables(vault, tables):
    """Notes that are all gone at once are a vault not mounted, not a deletion; the same for a folder not there."""
    sync_tables(vault, tables, PARAMS)
    before = load_notes(tables)
    shutil.rmtree(vault)
    for _ in range(2):
        result = sync_tables(vault, tables, PARAMS)
        assert (result.emptied, result.removed, result.skipped != ()) == (True, 0, not vault.exists())
        assert load_notes(tables).equals(before)
        vault.mkdir(exist_ok=True)


def test_a_vault_that_never_was_is_an_error(tmp_path):
    """Without tables a missing folder is a wrong path."""
    with pytest.raises(VaultNotFound):
        sync_tables(tmp_path / "none", tmp_path / "tables", PARAMS)


def test_a_vault_without_notes_has_empty_tables(tmp_path):
    """A new vault is no error, and not `emptied`."""
    (tmp_path / "vault").mkdir()
    result = sync_tables(tmp_path / "vault", tmp_path / "tables", PARAMS)
    assert (result.scanned, result.emptied) == (0, False)
    assert load_notes(tmp_path / "tables").height == 0


def test_a_placeholder_of_cloud_sync_is_not_a_deletion(vault, tables):
    """A note evicted to the cloud keeps its row and its links; it is named."""
    sync_tables(vault, tables, PARAMS)
    (vault / "sub" / "b.md").rename(vault / "sub" / ".b.md.icloud")
    result = sync_tables(vault, tables, PARAMS)
    assert (result.removed, [item.path for item in result.skipped]) == (0, ["sub/b.md"])
    assert outgoing(tables)["index.md"] == ["a.md", "sub/b.md"]


def test_a_folder_out_of_reach_is_not_a_deletion(vault, tables, monkeypatch):
    """Notes under a folder that cannot be listed keep their rows."""
    sync_tables(vault, tables, PARAMS)
    real = os.scandir

    def refused(place):
        if str(place).endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr("os.scandir", refused)
    result = sync_tables(vault, tables, PARAMS)
    assert (result.removed, [item.path for item in result.skipped]) == (0, ["sub/"])
    assert load_notes(tables).height == 3


def test_a_note_that_turns_unreadable_leaves_the_tables_and_is_named(vault, tables):
    """Not UTF-8 any more: no row that could be offered, and the reason in the result, every time."""
    sync_tables(vault, tables, PARAMS)
    (vault / "a.md").write_bytes(b"caf\xe9")
    for removed in (1, 0):
        result = sync_tables(vault, tables, PARAMS)
        assert result.removed == removed
        assert "not UTF-8" in result.skipped[0].reason
        assert result.unchanged == 2
    assert load_notes(tables)["path"].to_list() == ["index.md", "sub/b.md"]


def test_front_matter_that_cannot_be_read_is_a_warning_every_time(vault, tables):
    """The note is kept as text; the warning names it with the line, also when nothing changed."""
    write(vault, "a.md", "---\na: [\n---\n# A\n")
    for _ in range(2):
        (warning,) = sync_tables(vault, tables, PARAMS).warnings
        assert warning.path == "a.md"
        assert "line" in warning.reason


def test_kinds_follow_the_parameters_without_reading(vault, tables):
    """Another index pattern changes kinds in the table although no note changed."""
    sync_tables(vault, tables, PARAMS)
    other = Params(summary=SummaryParams(index_filename_pattern="b"), vault=VaultParams(inbox_file="a.md"))
    assert counts(sync_tables(vault, tables, other)) == (0, 0, 0, 3)
    assert load_notes(tables)["kind"].to_list() == ["inbox", "standard", "index"]


def test_a_crash_between_the_tables_is_mended(vault, tables, monkeypatch):
    """Killed after the links and before the notes: the next sync gives what an uninterrupted one would have."""
    sync_tables(vault, tables, PARAMS)
    write(vault, "c.md", "[[a]] [[d]]\n")
    write(vault, "d.md", "[[nowhere]]\n")
    real = sync_module.write_table

    def killed(file, *rest):
        if file.name == "notes.parquet":
            raise KeyboardInterrupt
        real(file, *rest)

    monkeypatch.setattr(sync_module, "write_table", killed)
    with pytest.raises(KeyboardInterrupt):
        sync_tables(vault, tables, PARAMS)
    monkeypatch.undo()
    sync_tables(vault, tables, PARAMS)
    fresh = tables.parent / "fresh"
    sync_tables(vault, fresh, PARAMS)
    assert load_notes(tables).equals(load_notes(fresh))
    assert load_links(tables).equals(load_links(fresh))


NAMES = st.sampled_from(["a", "b", "sub/a", "sub/c", "index"])
TEXTS = st.sampled_from(
    ["[[a]] [[c]]", "---\naliases: c\n---\n[[sub/a]]", "[[index]] [x](./a.md)", "# t [[Alpha]]", "\xff"]
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(st.lists(st.dictionaries(NAMES, TEXTS, min_size=1), min_size=2, max_size=4))
def test_step_by_step_is_as_all_at_once(tmp_path_factory, states):
    """Whatever happens to a vault between syncs, the tables are those of a first sync of what it is now."""
    root = tmp_path_factory.mktemp("vault")
    tables = tmp_path_factory.mktemp("tables")
    for age, state in enumerate(states):
        shutil.rmtree(root)
        root.mkdir()
        for name, text in state.items():
            write(root, f"{name}.md", "", age_seconds=9000 - age)
            (root / f"{name}.md").write_bytes(text.encode("latin-1"))
            os.utime(root / f"{name}.md", (10**9 + age, 10**9 + age))
        stepwise = sync_tables(root, tables / "stepwise", PARAMS)
        if stepwise.emptied:
            return
    sync_tables(root, tables / "fresh", PARAMS)
    assert load_notes(tables / "stepwise").equals(load_notes(tables / "fresh"))
    assert load_links(tables / "stepwise").equals(load_links(tables / "fresh"))
