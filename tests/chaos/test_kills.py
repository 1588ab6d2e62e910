"""Processes killed at random moments: a tenth of the full measure here, all of it by `make chaos`."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

SHARE = float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="forks and SIGKILL")
def test_killed_while_applying_and_undoing_nothing_is_lost_and_nothing_twice():
    """After each restart the vault is a state of the uninterrupted run, each paragraph in exactly one place."""
    kills = max(1, round(100 * SHARE))
    script = REPOSITORY / "bench" / "chaos.py"
    done = subprocess.run(
        [sys.executable, str(script), "--kills", str(kills), "--seed", str(os.getpid()), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["kills"], found["lost"], found["twice"]) == (kills, 0, 0)
