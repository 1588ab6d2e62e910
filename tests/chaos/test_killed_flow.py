"""The whole flow killed at random moments and run again: a tenth of the full measure here, all by `make chaos`."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.fakes.openai_server import FakeOpenAI, serving

pytestmark = [pytest.mark.chaos, pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

KILLS = max(1, round(20 * float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))))
TOPICS = ("bread", "tyres", "garden", "compost", "cheese", "weather", "radio", "maps")
JUST_ANSWERED_SECONDS = 1.0  # an answer handed over this short before the end may not have been read
PROGRAM = """
import sys
from pathlib import Path
from flows.runner import choose_runner, run_integrate
from infold.inbox.runs import recover
from infold.settings import Params
from infold.workspace import Workspace
folder = Path(sys.argv[1])
params = Params.model_validate({
    "librarian": {"kind": "model"}, "search": {"embedding": "none"},
    "integrate": {"quiet_seconds": 0, "concurrency": 3},
})
place = Workspace(folder / "vault", folder / "state", folder / "vault" / "inbox.md", params)
recover(place)
begun = lambda *stage: print(stage, flush=True)
print(run_integrate(place, choose_runner(sys.argv[2]), begun).status.value, flush=True)
"""


@dataclass
class Place:
    """A vault and its state, in one folder."""

    folder: Path
    endpoint: str

    def start(self, runner: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "OPENAI_BASE_URL": self.endpoint, "OPENAI_API_KEY": "sk-test"}
        command = [sys.executable, "-c", PROGRAM, str(self.folder), runner]
        return subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True)

    def run(self, runner: str) -> str:
        """A run to its end; its last line is the status."""
        said, _ = self.start(runner).communicate(timeout=240)
        return said.splitlines()[-1]

    def notes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((self.folder / "vault").iterdir())}


@pytest.fixture
def vault(tmp_path) -> Path:
    """A note for each topic, and an inbox that has something new for each."""
    folder = tmp_path / "template"
    folder.mkdir()
    (folder / "index.md").write_text("# Index\n\n" + "".join(f"- [[{topic}]]\n" for topic in TOPICS))
    for topic in TOPICS:
        (folder / f"{topic}.md").write_text(f"# {topic.title()}\n\nThe first thing known about {topic}.\n")
    (folder / "inbox.md").write_text("\n\n".join(f"Something new about {topic} was heard." for topic in TOPICS) + "\n")
    return folder


@pytest.fixture
def place(vault, tmp_path):
    """Makes a fresh copy of the vault with a state of its own."""

    def make(name: str, endpoint: FakeOpenAI) -> Place:
        shutil.copytree(vault, tmp_path / name / "vault")
        return Place(tmp_path / name, endpoint.url)

    return make


@pytest.mark.timeout(3600)
def test_a_killed_flow_goes_on_without_asking_twice(prefect_api, place):
    """Killed anywhere, run again by either runner: the vault of the uninterrupted run, no paid answer asked again."""
    with serving(latency=0.1) as endpoint:
        whole = place("whole", endpoint)
        process = whole.start("prefect")
        process.stdout.readline()
        begun = time.monotonic()
        process.communicate(timeout=240)
        seconds = time.monotonic() - begun
        assert b"Something new" not in whole.notes()["inbox.md"]
    moments = random.Random(KILLS)
    for n in range(KILLS):
        with serving(latency=0.1) as endpoint:
            killed = place(f"killed {n}", endpoint)
            process = killed.start("prefect")
            process.stdout.readline()
            time.sleep(moments.uniform(0, seconds))
            process.kill()
            process.communicate()
            moment = time.monotonic()
            asked = len(endpoint.asked)
            paid = {a.digest for a in endpoint.asked if a.answered and a.answered < moment - JUST_ANSWERED_SECONDS}

            assert killed.run("prefect" if n % 2 else "direct") in ("applied", "nothing-to-do")
            assert [again.decision for again in endpoint.asked[asked:] if again.digest in paid] == []
            assert killed.notes() == whole.notes()
