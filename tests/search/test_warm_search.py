"""A search of a vault that is kept open, after others: what it still goes through, and what it still looks at."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import infold

SOURCE = Path(infold.__file__).parent
MOST_FILES = 35


@pytest.fixture
def kept_open(tmp_path):
    """A small vault, indexed with its vectors and searched, as a server has it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.md").write_text(
            f"# Note {number}\n\nPump {number} hums.\n\n## Garden\n\nA fence of wood.\n"
        )
    with infold.open(folder, state=tmp_path / "state") as vault:
        vault.is_kept_open = True
        vault.sync()
        vault.rebuild_index()
        for words in ("pump hums", "fence", "garden wood"):
            vault.search(words, limit=60)  # so that each note was read once
        yield vault


def files_called(work) -> set[str]:
    """The modules of the package of which some function is called."""
    found = set()

    def hear(frame, event, _):
        if event == "call":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        work()
    finally:
        sys.setprofile(before)
    return {str(Path(file).relative_to(SOURCE)) for file in found if Path(file).is_relative_to(SOURCE)}


def test_a_warm_search_goes_through_few_files(kept_open):
    """Whoever reads how a question is answered reads no more than that; a new step takes the place of another."""
    if kept_open._moments.get().now() is None:
        pytest.skip("changes cannot be listened for in this file system, so that each search scans the folder")
    found = []
    files = files_called(lambda: found.append(kept_open.search("pump wood")))
    assert found[0].results
    assert len(files) <= MOST_FILES, sorted(files)


def test_what_waits_for_a_vector_is_known_after_each_write(kept_open):
    """Not counted at each search, but whenever somebody, here or elsewhere, has written to the index."""
    searcher = kept_open.live_search._open()
    assert searcher.pending_vectors == 0
    folder = kept_open.workspace.vault
    for number in range(3):
        (folder / f"new {number}.md").write_text(f"# New {number}\n\nIt snows.\n")
        with infold.open(folder, state=kept_open.workspace.state) as other:
            other.sync_index(vectors=False)
            assert searcher.pending_vectors == 1
            other.sync_index()
            assert searcher.pending_vectors == 0


def test_what_compares_notes_quickly_is_loaded_for_a_process_that_stays_alone(tmp_path):
    """A vault that is kept open has numpy soon after its first search; one search by itself does without."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pump.md").write_text("# Pump\n\nThe pump hums.\n")
    code = textwrap.dedent("""
        import sys, time, infold
        with infold.open(sys.argv[1], state=sys.argv[2]) as vault:
            vault.is_kept_open = sys.argv[3] == "kept"
            assert vault.search("pump").results
            until = time.monotonic() + (60 if vault.is_kept_open else 1)
            while "numpy" not in sys.modules and time.monotonic() < until:
                time.sleep(0.02)
            print("numpy" in sys.modules)
    """)
    subprocess.run(
        [sys.executable, "-m", "infold", "index", "--vault", tmp_path / "notes", "--state", tmp_path / "state"],
        check=True,
    )
    for how, expected in (("kept", "True"), ("once", "False")):
        words = [sys.executable, "-c", code, tmp_path / "notes", tmp_path / "state", how]
        assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.split() == [expected]
