"""Which files are notes, which are not and why."""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from infold.errors import NoteUnreadable, PathRefused, VaultNotFound
from infold.settings import VaultParams
from infold.vault.files import decode, read_bytes, read_with_status, safe_path
from infold.vault.scanning import Scan, scan

PARAMS = VaultParams()
needs_posix = pytest.mark.skipif(os.name == "nt", reason="names and links of POSIX file systems")


def write(root: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str]:
    return {item.path: item.reason for item in found.skipped}


def test_notes_are_listed_in_order_with_size_and_time(tmp_path):
    """A scan gives every note of every folder, sorted by path, and no other file."""
    write(tmp_path, "b.md", "a/z.markdown", "a/b/c.MD", "picture.png", "notes.txt", "inbox.md")
    found = scan(tmp_path, PARAMS)
    assert paths(found) == ["a/b/c.MD", "a/z.markdown", "b.md", "inbox.md"]
    assert found.skipped == ()
    status = (tmp_path / "b.md").stat()
    assert (found.files[2].size, found.files[2].mtime_ns) == (status.st_size, status.st_mtime_ns)


def test_dot_folders_are_never_entered(tmp_path):
    """What lies in `.obsidian`, `.git`, `.trash` or any other dot folder is no note, and needs no word."""
    write(tmp_path, "a.md", ".trash/old.md", ".obsidian/x.md", "sub/.git/y.md", ".hidden.md")
    found = scan(tmp_path, PARAMS)
    assert paths(found) == ["a.md"]
    assert found.skipped == ()


def test_a_missing_vault_is_an_error(tmp_path):
    """No folder, no scan: an absent vault must not look like an empty one."""
    with pytest.raises(VaultNotFound):
        scan(tmp_path / "nowhere", PARAMS)


@needs_posix
def test_symbolic_links_are_not_followed_and_named(tmp_path):
    """A link out of the vault, a link to nothing and a second name for a note are passed over, each with its reason."""
    write(tmp_path, "vault/a.md", "outside/secret.md")
    vault = tmp_path / "vault"
    (vault / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "again.md").symlink_to(vault / "a.md")
    (vault / "loop").symlink_to(vault)
    (vault / "gone.md").symlink_to(vault / "nothing.md")
    (vault / "picture.png").symlink_to(tmp_path / "nothing.png")
    found = scan(vault, PARAMS)
    assert paths(found) == ["a.md"]
    named = reasons(found)
    assert "out of the vault" in named["out.md"]
    assert "out of the vault" in named["folder"]
    assert "own name" in named["again.md"]
    assert "own name" in named["loop"]
    assert "nothing" in named["gone.md"]
    assert "picture.png" not in named


@needs_posix
def test_names_that_clash_elsewhere_are_all_refused(tmp_path):
    """Two files that differ in case or Unicode form only are one file on other machines: neither is a note."""
    write(tmp_path, "Case.md", "a.md", unicodedata.normalize("NFC", "é.md"))
    try:
        write(tmp_path, "case.md", unicodedata.normalize("NFD", "é.md"))
    finally:
        listed = len(list(tmp_path.iterdir()))
    if listed < 5:
        pytest.skip("this file system folds names")
    found = scan(tmp_path, PARAMS)
    assert paths(found) == ["a.md"]
    assert len(found.skipped) == 4
    assert all("case or Unicode form" in item.reason for item in found.skipped)


@needs_posix
def test_a_folder_that_clashes_refuses_the_notes_that_meet_in_it(tmp_path):
    """`Notes/a.md` and `notes/a.md` clash; what only one of the folders holds does not."""
    write(tmp_path, "Notes/a.md", "Notes/b.md")
    write(tmp_path, "notes/a.md")
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("this file system folds names")
    assert paths(scan(tmp_path, PARAMS)) == ["Notes/b.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="a file system that takes any bytes as a name")
def test_names_that_are_not_text_are_named(tmp_path):
    """A name of undecodable bytes or with a line break is passed over, shown with escapes, and breaks nothing."""
    write(tmp_path, "good.md", "two\nlines.md")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))).write_text("x")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/dir\xff"))).mkdir()
    found = scan(tmp_path, PARAMS)
    assert paths(found) == ["good.md"]
    assert set(reasons(found)) == {"two\\x0alines.md", "caf\\xe9.md", "dir\\xff"}


def test_a_note_over_the_limit_is_named_with_both_sizes(tmp_path):
    """`vault.max_note_bytes` holds, and the report says what it is."""
    write(tmp_path, "big.md", text="x" * 2000)
    write(tmp_path, "small.md")
    found = scan(tmp_path, VaultParams(max_note_bytes=1024))
    assert paths(found) == ["small.md"]
    assert "2000" in reasons(found)["big.md"]
    assert "1024" in reasons(found)["big.md"]


def test_icloud_stubs_stand_for_their_note(tmp_path):
    """`.Note.md.icloud` is a note that is elsewhere: named, and what is known of it is kept."""
    write(tmp_path, "a.md", "sub/.Plan.md.icloud", ".photo.jpg.icloud")
    found = scan(tmp_path, PARAMS)
    assert [(item.path, item.is_kept) for item in found.skipped] == [("sub/Plan.md", True)]
    assert "placeholder" in found.skipped[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="sparse files")
def test_files_without_blocks_are_placeholders_where_others_have_blocks(tmp_path):
    """A large file that occupies no disk is not downloaded; on a file system that tells no blocks, all are notes."""
    with (tmp_path / "hole.md").open("wb") as file:
        file.truncate(10_000)
    if (tmp_path / "hole.md").stat().st_blocks:
        pytest.skip("this file system has no sparse files")
    assert paths(scan(tmp_path, PARAMS)) == ["hole.md"]
    write(tmp_path, "real.md", text="x" * 10_000)
    if not (tmp_path / "real.md").stat().st_blocks:
        os.sync()
    found = scan(tmp_path, PARAMS)
    assert paths(found) == ["real.md"]
    assert found.skipped[0].is_kept


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_named_like_a_note_is_never_opened(tmp_path):
    """Opening a pipe would wait for ever: it is named as no regular file, by the scan and by a read."""
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(scan(tmp_path, PARAMS)) == {"pipe.md": "not a regular file"}
    with pytest.raises(NoteUnreadable, match="regular"):
        read_bytes(tmp_path, "pipe.md", 1000)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_is_named_and_kept(tmp_path):
    """Notes under a folder out of reach are not taken for deleted."""
    write(tmp_path, "a.md", "locked/b.md")
    (tmp_path / "locked").chmod(0)
    try:
        found = scan(tmp_path, PARAMS)
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert paths(found) == ["a.md"]
    assert [(item.path, item.is_kept) for item in found.skipped] == [("locked/", True)]


@needs_posix
def test_folders_may_lie_deeper_than_calls(tmp_path):
    """A thousand folders in each other are walked without recursion."""
    made = "import os\nfor _ in range(1200):\n os.mkdir('d'); os.chdir('d')\nopen('deep.md', 'w').close()"
    subprocess.run([sys.executable, "-c", made], cwd=tmp_path, check=True)
    try:
        assert [path.count("/") for path in paths(scan(tmp_path, PARAMS))] == [1200]
    finally:
        subprocess.run(["rm", "-rf", "d"], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "../x.md", "a/../../x.md", "a//b.md", "./a.md", "a/.", "a\0.md", "a\n.md", "\ud800"],
)
def test_paths_that_leave_the_vault_are_refused(tmp_path, path):
    """Nothing but a plain path downwards names a file of the vault."""
    with pytest.raises(PathRefused):
        safe_path(tmp_path, path)


@needs_posix
def test_paths_through_symbolic_links_are_refused(tmp_path):
    """No read or write passes a link, be it the file or a folder above it, whether it leads out or not."""
    write(tmp_path, "vault/a.md", "outside/secret.md")
    vault = tmp_path / "vault"
    (vault / "out").symlink_to(tmp_path / "outside")
    (vault / "in.md").symlink_to(vault / "a.md")
    with pytest.raises(PathRefused, match="out of the vault"):
        read_bytes(vault, "out/secret.md", 1000)
    with pytest.raises(PathRefused, match="symbolic link"):
        safe_path(vault, "in.md")


@needs_posix
def test_folders_that_were_looked_at_are_known_and_links_still_refused(tmp_path):
    """One search looks at a folder once; what it came to know lets no link pass."""
    write(tmp_path, "vault/a/b/1.md", "vault/a/b/2.md", "outside/secret.md")
    vault = tmp_path / "vault"
    (vault / "a/out").symlink_to(tmp_path / "outside")
    (vault / "a/b/in.md").symlink_to(vault / "a/b/1.md")
    known: set[str] = set()
    assert [read_with_status(vault, f"a/b/{n}.md", 100, known)[0] for n in (1, 2)] == [b"text\n"] * 2
    assert known == {f"{vault}/a", f"{vault}/a/b"}
    for path in ("a/out/secret.md", "a/b/in.md"):
        with pytest.raises(PathRefused):
            read_with_status(vault, path, 100, known)
    assert len(known) == 2


def test_a_vault_reached_by_a_link_is_fine(tmp_path):
    """Links above the vault are the owner's business."""
    write(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert paths(scan(tmp_path / "link", PARAMS)) == ["a.md"]
    assert read_bytes(tmp_path / "link", "a.md", 100) == b"text\n"


def test_a_file_that_does_not_exist_has_a_safe_path(tmp_path):
    """New notes and vanished ones pass; reading says that nothing is there."""
    assert safe_path(tmp_path, "new/note.md") == tmp_path / "new" / "note.md"
    with pytest.raises(NoteUnreadable, match="not there"):
        read_bytes(tmp_path, "new/note.md", 100)
    with pytest.raises(NoteUnreadable):
        read_bytes(tmp_path, "x" * 300 + ".md", 100)


def test_a_note_that_grew_is_not_read(tmp_path):
    """The limit holds at the read too."""
    write(tmp_path, "a.md", text="x" * 101)
    with pytest.raises(NoteUnreadable, match="101 bytes"):
        read_bytes(tmp_path, "a.md", 100)


def test_text_keeps_every_byte():
    """Decoding is reversible: BOM, line ends and control signs stay."""
    data = "\ufeff# é\r\nx\ry\n\x0c👩".encode()
    assert decode(data, "a.md").encode() == data


@pytest.mark.parametrize(
    "data,word",
    [
        ("x".encode("utf-16"), "UTF-16"),
        (b"# a\n\0b", "NUL byte at 4"),
        (b"# a\ncaf\xe9", "line 2"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_named_for_what_it_is(data, word):
    """UTF-16, binaries and broken UTF-8 are told apart, with the place."""
    with pytest.raises(NoteUnreadable, match=word) as caught:
        decode(data, "a.md")
    assert "a.md" in str(caught.value)


def test_a_digest_tells_every_change_that_a_scan_can_see(tmp_path):
    """Equal digests for a vault left alone; another for a note written, touched, gone, renamed or passed over."""
    write(tmp_path, "a.md", "sub/b.md", "sub/c.md")
    seen = [scan(tmp_path, PARAMS).digest]
    assert scan(tmp_path, PARAMS).digest == seen[0]
    os.utime(tmp_path / "a.md", ns=(1, 1))
    seen.append(scan(tmp_path, PARAMS).digest)
    write(tmp_path, "sub/b.md", text="longer text\n")
    seen.append(scan(tmp_path, PARAMS).digest)
    (tmp_path / "sub" / "c.md").rename(tmp_path / "sub" / "d.md")
    seen.append(scan(tmp_path, PARAMS).digest)
    (tmp_path / "sub" / "d.md").unlink()
    seen.append(scan(tmp_path, PARAMS).digest)
    (tmp_path / "a.md").write_bytes(b"x" * 3000)
    seen.append(scan(tmp_path, VaultParams(max_note_bytes=2000)).digest)
    assert len(set(seen)) == len(seen)


def test_files_are_found_the_same_where_folders_are_listed_by_name(tmp_path, monkeypatch):
    """Where the system lists no opened folder, a scan is the same: notes small and large, links, rules, clashes."""
    write(tmp_path, "a.md", "sub/b.md", "sub/deep/c.md", ".hidden/d.md", "left/e.md", "Ä.md", "ä.md")
    (tmp_path / "big.md").write_text("word " * 2000)
    (tmp_path / ".gitignore").write_text("left/\n")
    if os.name != "nt":
        (tmp_path / "sub" / "link.md").symlink_to(tmp_path / "a.md")
    opened = scan(tmp_path, PARAMS)
    monkeypatch.setattr("infold.vault.scanning._LISTS_OPENED", False)
    named = scan(tmp_path, PARAMS)
    assert paths(named) == paths(opened) == ["a.md", "big.md", "sub/b.md", "sub/deep/c.md"]
    assert (named.skipped, named.ignored, named.digest) == (opened.skipped, opened.ignored, opened.digest)
