"""`infold evaluate` as a person types it: offline, with a model against a local server, killed and run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.evaluation.conftest import write_vault

SMALL = ("--paragraphs", "4", "--seeds", "0")


@pytest.fixture
def notes(tmp_path) -> Path:
    return write_vault(tmp_path / "notes")


@pytest.fixture
def evaluate(infold, notes, tmp_path):
    """`infold evaluate` on the five subjects."""
    where = ("--vault", notes, "--state", tmp_path / "state", "--set", "search.embedding=static")
    return lambda *words: infold("evaluate", *where, *words)


def test_a_person_reads_how_many_came_home_and_what_to_try(evaluate, tmp_path):
    """The finding first, figures with intervals, the report's place; the files are there and the exit code is 0."""
    done = evaluate(*SMALL, "--compare", "exploration.search_candidates=0", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "of 4 paragraphs cut out of the notes came home" in done.stdout
    assert "exploration.search_candidates=0, on the same 8 paragraphs:" in done.stdout
    assert f"{tmp_path / 'out'}/report.html" in done.stdout
    assert (tmp_path / "out" / "report.html").is_file()


def test_one_json_object_and_accepted_figures(evaluate, tmp_path):
    """`--accept` writes what `--check` then holds; a figure that fell is named, with exit 1; the file is for git."""
    accepted = tmp_path / "kept" / "evaluation.json"
    done = evaluate(*SMALL, "--json", "--accept", accepted)
    value = json.loads(done.stdout)
    assert (done.exit_code, value["metrics"]["runs"], value["fallen"]) == (0, 1, [])
    value = value["metrics"]
    assert value["figures"].keys() == value["intervals"].keys() - {f"lead_over_{n}" for n in ("bm25", "dense", "grep")}
    assert evaluate(*SMALL, "--check", accepted).exit_code == 0
    figures = json.loads(accepted.read_text())
    accepted.write_text(json.dumps({**figures, "counts": {"lost": -1, "damaged": 0}}))
    done = evaluate(*SMALL, "--check", accepted)
    assert done.exit_code == 1
    assert "Fallen: lost: 0, accepted -1" in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (("--seeds", "many"), "evaluate.seeds"),
        (("--compare", "exploration.misspelt=1"), "exploration.misspelt"),
        (("--check", "nowhere.json"), "nowhere.json"),
    ],
)
def test_wrong_use_is_told_with_the_name(evaluate, words, said):
    """Exit 2 and the setting or file that is wrong."""
    done = evaluate("--paragraphs", "2", *(() if "--seeds" in words else ("--seeds", "0")), *words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_vault_without_prose_is_told_what_it_lacks(infold, tmp_path):
    """Exit 2, and what a note must have."""
    done = infold("evaluate", "--vault", write_vault(tmp_path / "bare", {"index.md": "# Nothing\n"}))
    assert done.exit_code == 2
    assert "25 to 180 words" in done.stderr


def test_a_model_is_estimated_counted_and_paid_once(evaluate, model_server):
    """The bill is shown before and counted after; asked again, and with one seed more, nothing is paid twice."""
    model = ("--librarian", "model", "--model", "test-model", "--paragraphs", "2", "--json")
    done = evaluate(*model, "--seeds", "0")
    value = json.loads(done.stdout)["metrics"]
    assert done.exit_code == 0, done.output
    assert "test-model: some" in done.stderr
    assert value["usage"]["calls"] == len(model_server.asked) > 0
    assert value["usage"]["prompt_tokens"] > 0
    assert value["usage"]["usd"] is None
    assert value["measured_on"]["librarian"].startswith("test-model")
    paid = len(model_server.asked)
    assert json.loads(evaluate(*model, "--seeds", "0").stdout)["metrics"]["usage"] == value["usage"]
    assert len(model_server.asked) == paid
    evaluate(*model, "--seeds", "0-1")
    assert len(model_server.asked) > paid
    assert not model_server.repeated
    assert "secret" not in done.output


def test_the_cap_is_one_for_all_cases(evaluate, model_server):
    """It stops before the cap is passed, says how many cases are finished, and exits with 1; none is half counted."""
    model = ("--librarian", "model", "--model", "test-model", "--paragraphs", "2", "--seeds", "0-3")
    first = json.loads(evaluate(*model[:-1], "0", "--json").stdout)["metrics"]["usage"]
    tokens = first["prompt_tokens"] + first["completion_tokens"]
    model_server.asked.clear()
    done = evaluate(*model, "--json", "--max-tokens", str(tokens + 14_000))
    value = json.loads(done.stdout)["metrics"]
    assert done.exit_code == 1
    assert 1 <= value["runs"] < 4
    assert f"{value['runs']} of 4 cases are finished" in value["stopped"]
    spent = evaluate(*model, "--json", "--max-tokens", "10")
    assert json.loads(spent.stdout)["metrics"]["runs"] == value["runs"]


def test_a_model_beside_the_offline_librarian(evaluate, model_server):
    """Two librarians on the same paragraphs: only one of them asks the endpoint, and the difference is given."""
    done = evaluate(
        "--paragraphs", "2", "--seeds", "0", "--json", "--compare", "librarian.kind=model librarian.model=m"
    )
    (comparison,) = json.loads(done.stdout)["metrics"]["comparisons"]
    assert comparison["librarian"].startswith("m/")
    assert comparison["paragraphs"] == 4
    assert comparison["differences"]["home"]["low"] is not None
    assert model_server.asked


def test_killed_and_run_again_it_goes_on(notes, tmp_path):
    """SIGKILL after the first case: the vault is untouched, and the second call carries out only what is missing."""
    before = {path: path.read_bytes() for path in notes.rglob("*")}
    command = [sys.executable, "-m", "infold", "evaluate", "--vault", str(notes), "--state", str(tmp_path / "state")]
    command += ["--paragraphs", "4", "--seeds", "0-9", "--set", "search.embedding=static", "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    kept = tmp_path / "state" / "kept" / "evaluations" / "cases"
    deadline = time.monotonic() + 240
    while not list(kept.rglob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    finished = len(list(kept.rglob("*.json")))
    assert 1 <= finished < 10
    assert {path: path.read_bytes() for path in notes.rglob("*")} == before
    stamps = {path: path.stat().st_mtime_ns for path in kept.rglob("*.json")}
    command[command.index("0-9")] = f"0-{finished}"
    again = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert json.loads(again.stdout)["metrics"]["runs"] == finished + 1
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*.json")}.items() >= stamps.items()
    assert len(list(kept.rglob("*.json"))) == finished + 1
