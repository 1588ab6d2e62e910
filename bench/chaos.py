"""Kills at random moments: nothing lost, nothing twice, the end as if nothing had happened.

    python bench/chaos.py --kills 100

A worker process plans a run on a vault, applies it and undoes it, then the next, over and over; it is killed (SIGKILL)
at random moments of applying and undoing and started again on the same folder. After each kill and restart the vault
must be one of the two states of the uninterrupted run, and each paragraph must stand in exactly one place.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

REPOSITORY = Path(__file__).resolve().parents[1]
NOTES = 12
PARAGRAPHS = 30
LEFT = 3


def note_text(n: int) -> str:
    """A note of one of four kinds: LF, CRLF with BOM, front matter, no last line end."""
    body = f"# Note {n}\n\n" + "".join(f"Anchor {n}-{k} stands here.\n\n" for k in range(10)) + "The end.\n"
    if n % 4 == 1:
        return "\ufeff" + body.replace("\n", "\r\n")
    if n % 4 == 2:
        return "---\ntags: [chaos]\n---\n" + body
    return body.rstrip() if n % 4 == 3 else body


def paragraph(n: int, turn: int) -> str:
    """A paragraph that no other paragraph or note resembles."""
    return f"Paragraph {n} of turn {turn}: {hashlib.sha256(f'{n}/{turn}'.encode()).hexdigest()}."


def inbox_text(turn: int) -> str:
    """The inbox of one turn."""
    return "# Inbox\n\n" + "\n\n".join(paragraph(n, turn) for n in range(PARAGRAPHS)) + "\n"


def plan(turn: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """All files before and after the run of a turn, made from its number alone."""
    from infold.inbox.inbox_text import locate_paragraphs, remove_paragraphs
    from infold.vault.edits import apply_edits

    before = {f"folder {n % 3}/note {n}.md": note_text(n) for n in range(NOTES)}
    after = {}
    for index, (path, text) in enumerate(before.items()):
        anchors = [(n, f"Anchor {index}-{n // NOTES} stands here.") for n in range(index, PARAGRAPHS - LEFT, NOTES)]
        after[path] = apply_edits(text, [(anchor, f"{anchor}\n\n{paragraph(n, turn)}") for n, anchor in anchors])
    inbox = inbox_text(turn)
    spans = locate_paragraphs(inbox, [paragraph(n, turn) for n in range(PARAGRAPHS - LEFT)])
    before["inbox.md"], after["inbox.md"] = inbox, remove_paragraphs(inbox, [span for span in spans if span])
    return {p: t.encode() for p, t in before.items()}, {p: t.encode() for p, t in after.items()}


def work(folder: Path, turns: int, out: IO[str]) -> None:
    """The worker: recovers, then goes on with the turn that `folder` shows, to the last one."""

    def say(what: str) -> None:
        print(what, file=out, flush=True)

    from infold.errors import RunStateWrong
    from infold.inbox.run import ChunkRecord, EditRecord, ParagraphRecord, Run, RunStatus
    from infold.inbox.run_store import RunStore
    from infold.inbox.runs import apply_run, recover, save_planned, undo_run
    from infold.settings import Params
    from infold.workspace import Workspace

    vault = folder / "vault"
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}})
    workspace = Workspace(vault, folder / "state", vault / "inbox.md", params)
    if not vault.exists():
        for path, data in plan(0)[0].items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes(data)
    for said in recover(workspace):
        say(f"recovered: {said}")
    store = RunStore(workspace.runs)
    latest = store.latest()
    first = int(latest.id.removeprefix("turn-")) if latest else 0
    for turn in range(first, first + turns):
        run_id = f"turn-{turn:04d}"
        before, after = plan(turn)
        paths = [path for path in before if path != "inbox.md"]
        if not (workspace.runs / run_id / "run.json").exists():
            if turn:
                (folder / "inbox.new").write_bytes(before["inbox.md"])
                (folder / "inbox.new").replace(vault / "inbox.md")
            chunks, paragraphs = [], []
            for n in range(PARAGRAPHS):
                place = paths[n % NOTES] if n < PARAGRAPHS - LEFT else None
                edit = EditRecord(file=place or "", kind="edit", find="", replace="", paragraphs=(n,))
                chunks.append(ChunkRecord(id=n, paragraphs=(n,), edits=(edit,) if place else ()))
                outcome = "integrated" if place else "left"
                paragraphs.append(
                    ParagraphRecord(n=n, text=paragraph(n, turn), outcome=outcome, chunk=n, file=place, reason="kept")
                )
            run = Run(
                id=run_id,
                status=RunStatus.PLANNED,
                vault=str(vault),
                inbox="inbox.md",
                created_at="2026-01-01T00:00:00+00:00",
                librarian="chaos",
                paragraphs=tuple(paragraphs),
                chunks=tuple(chunks),
            )
            save_planned(workspace, run, {path: (before[path], after[path]) for path in before})
        status = store.load(run_id).status
        if status is RunStatus.PLANNED:
            say(f"applying {turn}")
            status = apply_run(workspace, run_id).status
        if status is RunStatus.PARTIAL:
            say(f"undoing {turn}")
            try:
                undo_run(workspace, run_id)
            except RunStateWrong as error:
                say(f"already: {error}")
        say(f"done {turn}")


@dataclass
class Score:
    """What was seen."""

    kills: int = 0
    in_mid_change: int = 0  # kills that left files of both states behind
    finished: int = 0  # runs that recovery had to finish
    applications: int = 0


def contents(vault: Path) -> dict[str, bytes]:
    """Every file of the vault, hidden ones too."""
    return {p.relative_to(vault).as_posix(): p.read_bytes() for p in sorted(vault.rglob("*")) if p.is_file()}


def check(folder: Path) -> None:
    """The vault is one of the two states of its turn, with nothing beside, and each paragraph stands in one place."""
    found = contents(folder / "vault")
    turn = int(found["inbox.md"].decode().split(" of turn ")[1].split(":")[0])
    before, after = plan(turn)
    for n in range(PARAGRAPHS):
        times = sum(text.count(paragraph(n, turn).encode()) for text in found.values())
        assert times == 1, f"paragraph {n} of turn {turn} stands {times} times"
    strange = [path for path in found if found[path] not in (before.get(path), after.get(path))]
    assert not strange, f"neither as before nor as after: {strange}"
    assert found in (before, after), "a mixture of before and after"


def apply_and_undo(kills: int, seed: int, folder: Path, out: IO[str] | None = None) -> Score:
    """Kills a worker `kills` times at random moments; raises AssertionError at the first thing that is wrong."""
    chance = random.Random(seed)
    score = Score()
    with tempfile.TemporaryDirectory() as elsewhere:  # what the forked workers need is imported here, once
        work(Path(elsewhere), 1, io.StringIO())
    duration = _duration(folder)
    while score.kills < kills:
        with Worker(folder, turns=1_000_000) as worker:
            wanted = chance.choice(("applying", "undoing"))
            while wanted not in worker.line():
                pass
            time.sleep(chance.random() * duration)
            worker.kill()
        score.kills += 1
        score.applications += sum("applying" in line for line in worker.lines)
        score.in_mid_change += _is_mixed(folder)
        with Worker(folder, turns=0) as restarted:
            restarted.rest()
        score.finished += sum("recovered" in line for line in restarted.lines)
        check(folder)
        if out and score.kills % 10 == 0:
            print(f"  {score.kills} kills, {score.in_mid_change} in the middle of a change", file=out, flush=True)
    return score


class Worker:
    """A process of its own that does `work` and says on a pipe what it is about to do; forked, so quick to start."""

    def __init__(self, folder: Path, turns: int) -> None:
        self.lines: list[str] = []
        reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reading)
            code = 1
            try:
                with os.fdopen(writing, "w") as said:
                    work(folder, turns, said)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        self._said = os.fdopen(reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._said.close()
        status = os.waitpid(self._pid, 0)[1]
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert was_killed or os.waitstatus_to_exitcode(status) == 0, "the worker failed by itself"

    def line(self) -> str:
        """The next thing it says."""
        line = self._said.readline()
        assert line, "the worker ended by itself"
        self.lines.append(line)
        return line

    def rest(self) -> None:
        """All that it says until it ends."""
        self.lines += self._said.readlines()

    def kill(self) -> None:
        """SIGKILL, now."""
        os.kill(self._pid, signal.SIGKILL)
        self.rest()


def _duration(folder: Path) -> float:
    """How long an application takes here, so that kills fall within one."""
    with Worker(folder, turns=2) as worker:
        moments = {}
        for _ in range(6):
            moments[worker.line().strip()] = time.monotonic()
        worker.rest()
    return moments["undoing 1"] - moments["applying 1"]


def _is_mixed(folder: Path) -> bool:
    try:
        check(folder)
    except AssertionError:
        return True
    return False


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="kills while applying and undoing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="infold-chaos-") as folder:
        score = apply_and_undo(options.kills, options.seed, Path(folder), None if options.json else sys.stdout)
    result = {
        "kills": score.kills,
        "in_mid_change": score.in_mid_change,
        "finished_by_recovery": score.finished,
        "applications": score.applications,
        "lost": 0,
        "twice": 0,
        "seconds": round(time.monotonic() - started, 1),
    }
    if options.json:
        print(json.dumps(result))
    else:
        print(
            "apply and undo: {kills} kills ({in_mid_change} in the middle of a change, {finished_by_recovery} runs "
            "finished by recovery), {applications} applications, {lost} lost, {twice} twice, {seconds} s".format(
                **result
            )
        )
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY / "src"))
    sys.exit(main())
