"""Stage `snapshot`: a copy that follows the vault, and never loses what it holds to an accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from infold.errors import VaultFault, VaultNotFound
from infold.settings import VaultParams
from infold.stages.snapshot import take_snapshot

PARAMS = VaultParams()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.md").write_bytes(b"\xef\xbb\xbf# Index\r\n")
    (folder / "sub" / "note.md").write_text("# Note\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_notes_are_copied_byte_for_byte_and_nothing_else(vault, tmp_path):
    """A snapshot holds each note's bytes and its time, and no file that is not a note."""
    result = take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert result.copied == ("index.md", "sub/note.md")
    assert contents(tmp_path / "snapshot") == {"index.md": b"\xef\xbb\xbf# Index\r\n", "sub/note.md": b"# Note\n"}
    for path in result.copied:
        assert (tmp_path / "snapshot" / path).stat().st_mtime_ns == (vault / path).stat().st_mtime_ns


def test_only_what_changed_is_copied_again(vault, tmp_path):
    """The second snapshot of an unchanged vault writes nothing; a changed, a new and a removed note are followed."""
    take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    again = take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert (again.copied, again.removed, again.unchanged) == ((), (), 2)
    (vault / "index.md").write_text("# Other\n")
    (vault / "new.md").write_text("# New\n")
    (vault / "sub" / "note.md").unlink()
    result = take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert (result.copied, result.removed, result.unchanged) == (("index.md", "new.md"), ("sub/note.md",), 0)
    assert contents(tmp_path / "snapshot") == {"index.md": b"# Other\n", "new.md": b"# New\n"}
    assert not (tmp_path / "snapshot" / "sub").exists()


def test_a_missing_vault_leaves_the_last_snapshot(vault, tmp_path):
    """A vault on a drive that is not there is an error, not a deletion."""
    take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    before = contents(tmp_path / "snapshot")
    vault.rename(tmp_path / "elsewhere")
    with pytest.raises(VaultNotFound):
        take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert contents(tmp_path / "snapshot") == before


def test_a_suddenly_empty_vault_is_refused(vault, tmp_path):
    """A vault without a single note does not empty a snapshot that has some; the message says how to mean it."""
    take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    (vault / "index.md").unlink()
    (vault / "sub" / "note.md").unlink()
    with pytest.raises(VaultFault, match="holds no note") as refused:
        take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert str(tmp_path / "snapshot") in refused.value.hint
    assert len(contents(tmp_path / "snapshot")) == 2


def test_an_empty_vault_has_an_empty_snapshot(tmp_path):
    """A new vault without notes is no error."""
    (tmp_path / "vault").mkdir()
    take_snapshot(tmp_path / "vault", tmp_path / "snapshot", PARAMS)
    assert contents(tmp_path / "snapshot") == {}


def test_a_note_that_cannot_be_read_keeps_its_last_copy(vault, tmp_path):
    """One bad file stops nothing and is named; what the snapshot has of it stays."""
    take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    (vault / "sub" / ".note.md.icloud").write_bytes(b"placeholder")
    (vault / "sub" / "note.md").unlink()
    result = take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert "sub/note.md" in result.skipped
    assert contents(tmp_path / "snapshot")["sub/note.md"] == b"# Note\n"


def test_links_out_of_the_vault_are_not_followed(vault, tmp_path):
    """A symbolic link that leads out of the vault brings nothing into the snapshot."""
    (tmp_path / "secret.md").write_text("secret\n")
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    result = take_snapshot(vault, tmp_path / "snapshot", PARAMS)
    assert "link.md" in result.skipped
    assert "link.md" not in contents(tmp_path / "snapshot")
