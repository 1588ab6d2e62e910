"""`infold nav import` killed in the middle: the same command again goes on, loses nothing, and pays for nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import infold
from infold.navigator.records import StoredNode
from tests.fakes.openai_server import serving

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL"),
]

NOTES = 300
SHARE = float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))
KILLS = max(2, round(20 * SHARE))
AT_ONCE = 8  # questions side by side
WITHOUT = ("search.embedding=static",)
WITH_MODEL = (*WITHOUT, "librarian.kind=model", "librarian.model=gpt-4o-mini", f"integrate.concurrency={AT_ONCE}")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Notes with two sections each, of which no two say the same."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for n in range(NOTES):
        parts = "\n".join(f"## Part {part}\n\nBed {n} was dug in week {part}; see [[bed {n // 2}]].\n" for part in "ab")
        (folder / f"bed {n}.md").write_text(f"# Bed {n}\n\nWhat grew in bed {n}.\n\n{parts}")
    return folder


def importing(
    vault: Path, state: Path, changes: tuple[str, ...], endpoint: str = "", more: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    options = [word for change in changes for word in ("--set", change)]
    command = ["nav", "import", ".", "--vault", str(vault), "--state", str(state), *options, *more]
    return subprocess.Popen(
        [sys.executable, "-m", "infold", *command],
        env={**os.environ, "OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "sk-test"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def agreed(vault: Path, state: Path, endpoint: str) -> subprocess.Popen[str]:
    """An import whose estimate was agreed to, as it begins."""
    said, _ = importing(vault, state, WITH_MODEL, endpoint, ("--json",)).communicate(timeout=300)
    return importing(vault, state, WITH_MODEL, endpoint, ("--token", json.loads(said)["quote"]["token"]))


def ends_well(process: subprocess.Popen[str]) -> None:
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    assert f"{NOTES} notes imported" in said


def nodes_in(vault: Path, state: Path) -> list[tuple[object, ...]]:
    """Every node as it is answered, but when it was made."""
    with infold.open(vault, state=state, changes=WITHOUT) as opened:
        nodes: list[StoredNode] = list(opened.navigator_store.every())
        assert set(opened.navigator_store.choices.imports()) == {f"bed {n}.md" for n in range(NOTES)}
    return [(each.id, each.parent_id, each.path, each.start, each.end, each.summary, each.is_dirty) for each in nodes]


def kept_in(vault: Path, state: Path) -> dict[str, tuple[str, str]]:
    """The summaries that are kept so far, with who made them when, by content."""
    with infold.open(vault, state=state, changes=WITHOUT) as opened:
        opened.navigator_store  # noqa: B018 - makes the file where a process ended before it did
        kept = opened.workspace.navigator
    with closing(sqlite3.connect(kept)) as db:
        return {row[0]: row[1:] for row in db.execute("SELECT context_hash, summary, created_at FROM summaries")}


def test_an_import_killed_at_moments_of_chance_goes_on(vault: Path, tmp_path: Path):
    """Without a model: what was kept stays as it was made, and in the end all is as if nothing had happened."""
    started = time.monotonic()
    ends_well(importing(vault, tmp_path / "whole", WITHOUT))
    seconds = time.monotonic() - started
    chance = random.Random(os.getpid())
    state = tmp_path / "killed"
    before: dict[str, tuple[str, str]] = {}
    for _ in range(KILLS):
        process = importing(vault, state, WITHOUT)
        time.sleep(chance.uniform(seconds / 3, seconds))
        process.kill()
        process.communicate()
        kept = kept_in(vault, state)
        assert before.items() <= kept.items()
        before = kept
    ends_well(importing(vault, state, WITHOUT))
    assert before.items() <= kept_in(vault, state).items()
    assert nodes_in(vault, state) == nodes_in(vault, tmp_path / "whole")


def test_an_import_killed_while_a_model_answers_pays_nothing_twice(vault: Path, tmp_path: Path):
    """The server counts: each note is asked about once, but for what was under way when the process ended."""
    state = tmp_path / "killed"
    paid: set[str] = set()
    killed = 0
    with serving(latency=0.05) as endpoint:
        for _ in range(KILLS):
            process = agreed(vault, state, endpoint.url)
            wanted = len(endpoint.asked) + max(1, (NOTES - len(paid)) // 3)
            while len(endpoint.asked) < wanted and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            paid = {each.digest for each in endpoint.asked if each.answered}
        assert killed >= 2
        assert paid
        asked, before = len(endpoint.asked), kept_in(vault, state)
        ends_well(agreed(vault, state, endpoint.url))
        again = [each.path for each in endpoint.asked[asked:] if each.digest in paid]
        assert len(again) <= 2 * AT_ONCE  # answers that were handed over, and not read before the end
        assert len({each.digest for each in endpoint.asked}) == NOTES
        assert len(endpoint.asked) <= NOTES + KILLS * 2 * AT_ONCE
        assert before.items() <= kept_in(vault, state).items()
        asked = len(endpoint.asked)
        ends_well(importing(vault, state, WITH_MODEL, endpoint.url))
        assert len(endpoint.asked) == asked
    nodes = nodes_in(vault, state)
    assert len({each[0] for each in nodes}) == len(nodes) == 7 * NOTES
    assert all(summary and not is_dirty for *_, summary, is_dirty in nodes)
