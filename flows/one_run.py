"""One integration by Prefect, in a process of its own: started by `flows.runner` and ended with it.

A flow whose server goes away holds on for minutes, asking again for each record that it cannot send; its process can be
ended at any moment, for whoever carries the run on finds all that was decided. What it says goes to stdout, a JSON
object a line: progress, then the run or the error. What Prefect says goes to the server's log.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from flows.server_folder import ServerFolder
from flows.watching import finished, watcher
from infold import errors
from infold.errors import InfoldError
from infold.inbox.run import Run
from infold.progress import Progress
from infold.settings import Params
from infold.workspace import Workspace
from tasks.environment import QUIET

_SECONDS_BETWEEN_LOOKS: Final = 2.0
_MISSED_LOOKS: Final = 3  # a busy server answers late; one that is gone never does


class ServerGone(Exception):
    """The server went away. `run` is what was done, where it was done already."""

    def __init__(self, run: Run | None) -> None:
        super().__init__("the Prefect server went away")
        self.run = run


def run_in_process(
    workspace: Workspace,
    environment: dict[str, str],
    progress: Progress,
    is_there: Callable[[], bool],
    *,
    dry_run: bool,
) -> Run:
    """The run that the process gives, or the error that it raised; ServerGone where `is_there` fails for long."""
    run: Run | None = None
    with _started(workspace, environment, dry_run=dry_run) as said:
        for line in _lines(said, is_there):
            if line is None:
                raise ServerGone(run)
            if "progress" in line:
                progress(*line["progress"])
            elif "run" in line:
                run = Run.model_validate(line["run"])
            elif "done" in line and run is not None:
                return run
            elif "error" in line:
                _raise(line["error"])
    if is_there():
        raise errors.EnvironmentFault(
            "The process that carried the run out has ended.", hint=f"See {ServerFolder.of(workspace).log}."
        )
    raise ServerGone(run)


def _raise(error: dict[str, str]) -> None:
    kind = getattr(errors, error["type"], InfoldError)
    raise kind(error["message"], hint=error["hint"])


def _lines(said: IO[bytes], is_there: Callable[[], bool]) -> Iterator[dict[str, Any] | None]:
    """What the process says, line by line; None, as the last, where the server is gone meanwhile."""
    lines: queue.Queue[bytes] = queue.Queue()

    def read() -> None:
        for line in said:
            lines.put(line)
        lines.put(b"")

    threading.Thread(target=read, daemon=True).start()
    missed = 0
    while missed < _MISSED_LOOKS:
        try:
            line = lines.get(timeout=_SECONDS_BETWEEN_LOOKS)
        except queue.Empty:
            missed = 0 if is_there() else missed + 1
            continue
        if not line:
            return
        yield json.loads(line)
    yield None


@contextmanager
def _started(workspace: Workspace, environment: dict[str, str], *, dry_run: bool) -> Iterator[IO[bytes]]:
    """The process, under way; ended with the block, whatever it is doing."""
    folder = ServerFolder.of(workspace)
    folder.make()
    packages = str(Path(__file__).resolve().parents[1])  # where flows and tasks are found
    path = os.pathsep.join(filter(None, (packages, os.environ.get("PYTHONPATH"))))
    place = {"vault": str(workspace.vault), "state": str(workspace.state), "inbox": str(workspace.inbox)}
    wanted = {**place, "params": workspace.params.model_dump(mode="json", exclude_defaults=True), "dry_run": dry_run}
    with os.fdopen(os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.one_run"],
            env={**os.environ, **QUIET, **environment, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert process.stdin is not None  # noqa: S101 - asked for above
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(json.dumps(wanted).encode() + b"\n")
        process.stdin.flush()
        yield process.stdout
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """The process: reads what is wanted from stdin, and ends when stdin does."""
    wanted = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what else is printed is no record

    def say(**record: Any) -> None:
        said.write(json.dumps(record) + "\n")
        said.flush()

    watcher.set(lambda stage, done, total: say(progress=[stage, done, total]))
    finished.set(lambda run: say(run=run.model_dump(mode="json")))
    try:
        run = asyncio.run(_run(wanted))
        say(run=run.model_dump(mode="json"))
        say(done=True)
    except InfoldError as error:
        say(error={"type": type(error).__name__, "message": str(error), "hint": error.hint})


async def _run(wanted: dict[str, Any]) -> Run:
    from flows.integrate import integrate

    vault, state, inbox = (Path(wanted[name]) for name in ("vault", "state", "inbox"))
    return await integrate(vault, state, inbox, Params.model_validate(wanted["params"]), dry_run=wanted["dry_run"])


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
