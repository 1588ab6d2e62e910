"""The program itself, in processes of its own, with the offline librarian: what is promised to shells and programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def program(tmp_path):
    """Calls `python -m infold` in the test's own folder."""

    def call(*words: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
        command = [sys.executable, "-m", "infold", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    return call


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes."""
    return {os.fsdecode(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_demo_shows_the_whole_job_and_its_undo_works_as_printed(program, tmp_path):
    """Chunks, what was looked at and opened, edits, the duplicate with its quote, what fits nowhere, report, undo."""
    done = program("demo", "--into", "demo")
    assert done.returncode == 1, done.stderr
    for part in (
        "Chunk 1",
        "looked at",
        "opened",
        "→ ",
        "+ ",
        "has it already",
        "“The first heap",
        "stays in the inbox",
    ):
        assert part in done.stdout
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith(("report ", "undo ")))
    assert Path(lines["report"]).is_file()
    *_, undo = lines["undo"].partition(" undo ")
    undone = program("undo", *shlex.split(undo))
    assert undone.returncode == 0, undone.stderr
    assert files(tmp_path / "demo" / "vault") == files(REPOSITORY / "data" / "vault")


def test_the_first_line_of_the_demo_comes_at_once(tmp_path):
    """Somebody who tries it sees within two seconds that something happens."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
    command = [sys.executable, "-u", "-m", "infold", "demo", "--into", str(tmp_path / "demo")]
    started = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as run:
        assert run.stdout is not None
        first = run.stdout.readline()
        seconds = time.monotonic() - started
        run.kill()
    assert first.startswith("infold demo")
    assert seconds < 2 * float(os.environ.get("INFOLD_SLOWNESS", "3"))


@pytest.mark.slow
def test_hard_inputs_beside_a_normal_vault(program, tmp_path, shared_data):
    """The run completes, names what it skipped on stderr, and changes none of the hard files."""
    vault = tmp_path / "vault"
    subprocess.run(["cp", "-r", REPOSITORY / "data" / "vault", vault], check=True)
    with tarfile.open(shared_data / "markdown" / "nasty.tar.gz") as archive:
        archive.extractall(vault, filter="fully_trusted")
    hard = files(vault / "nasty-synth")
    done = program("integrate", "--vault", vault, "--json", "--runner", "direct")
    assert done.returncode in (0, 1), done.stderr
    value = json.loads(done.stdout)
    assert value["status"] in ("applied", "partial")
    assert files(vault / "nasty-synth") == hard
    shown = program("show", "last", "--vault", vault).stderr
    for name in ("invalid-utf8.md", "utf16le-bom.md", "nul.md", "one-line-5MB.md", "Case.md", "case.md"):
        assert f"skipped nasty-synth/{name}" in shown
    touched = {edit["file"] for chunk in value["chunks"] for edit in chunk["edits"]}
    assert not any(file.startswith("nasty-synth/") for file in touched)


def test_a_reader_that_stops_early_is_no_error(program, tmp_path):
    """`infold … | head -1` ends quietly."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("x\n")
    command = f"{shlex.quote(sys.executable)} -m infold status --settings --vault vault | head -1"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.stdout == "vault:\n"
    assert done.stderr == ""
