"""The program itself, in processes of its own, with the offline librarian: what is promised to shells and programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import psutil
import pytest

from scripts.readme_demo import excerpt, masked, run_demo, shown_in_readme

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def program(tmp_path):
    """Calls `python -m infold` in the test's own folder."""

    def call(*words: object, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
        command = [sys.executable, "-m", "infold", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)

    return call


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes."""
    return {os.fsdecode(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Path, str]:
    """The folder that a demo was run in, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, run_demo(folder)


def test_the_demo_shows_the_whole_job(demo):
    """Chunks, what was looked at and opened, edits, the duplicate with its quote, what fits nowhere, the report."""
    folder, text = demo
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
        assert part in text
    (report,) = (line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("report "))
    assert (folder / report).is_file()


def test_the_readme_shows_what_the_demo_prints(demo):
    """Run id and seconds aside. When it fails: `python -m scripts.readme_demo`, and read what changed."""
    assert masked(excerpt(demo[1])) == masked(shown_in_readme())


def test_the_undo_of_the_demo_works_as_printed(demo, program):
    """Afterwards the copy is the demo vault again, byte for byte."""
    folder, text = demo
    (undo,) = (line.split(" undo ", 1)[1] for line in text.splitlines() if line.startswith("undo "))
    undone = program("undo", *shlex.split(undo), cwd=folder)
    assert undone.returncode == 0, undone.stderr
    assert files(folder / "demo" / "vault") == files(REPOSITORY / "data" / "vault")


def test_the_first_line_of_the_demo_comes_at_once(tmp_path):
    """Somebody who tries it sees within two seconds of work that something happens."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
    command = [sys.executable, "-u", "-m", "infold", "demo", "--into", str(tmp_path / "demo")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as run:
        assert run.stdout is not None
        first = run.stdout.readline()
        times = psutil.Process(run.pid).cpu_times()
        run.kill()
    assert first.startswith("infold demo")
    assert times.user + times.system < 2 * float(os.environ.get("INFOLD_SLOWNESS", "3"))


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
