"""`infold integrate --runner`: what a person sees of the runner, and what a program does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

REPOSITORY = Path(__file__).resolve().parents[2]


def integrate(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "vault").mkdir(exist_ok=True)
    (folder / "vault" / "index.md").write_text("# Index\n\nNotes on bread.\n\nRye is done at ninety-eight degrees.\n")
    (folder / "vault" / "inbox.md").write_text("Rye bread keeps for a week.\n")
    command = [sys.executable, "-m", "infold", "integrate", "--json", "--dry-run", "--set", "search.embedding=none"]
    place = ["--vault", str(folder / "vault"), "--state", str(folder / "state")]
    return subprocess.run(
        [*command, *place, *options],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_flow_prints_one_object_and_says_on_stderr_who_ran(prefect_api, tmp_path):
    """Under Prefect stdout holds the contract's one object; the runner is one line on stderr, without its own logs."""
    done = integrate(tmp_path, "--runner", "prefect")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["status"] == "planned"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert [line for line in said if "Running with Prefect" in line]
    assert len(said) <= 3, done.stderr


def test_prefect_asked_for_without_a_server_fails_with_the_next_step(tmp_path):
    """No server: exit 3 and the command that starts one; no hidden server, and nothing done."""
    done = integrate(tmp_path, "--runner", "prefect", PREFECT_API_URL="", PREFECT_HOME=str(tmp_path / "home"))
    assert done.returncode == 3
    assert "infold flows up" in done.stderr + done.stdout
    assert not (tmp_path / "state" / "kept" / "runs").exists()
