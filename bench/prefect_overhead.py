"""What Prefect adds to a run and to a task, with a server up, beside the same steps run directly.

    python bench/prefect_overhead.py [--chunks 48] [--repeat 5]

Starts a server of its own in a temporary folder. The librarian answers by script and at once, so that what is measured
is the engine and not the decisions. Targets on an idle machine with two cores: 2 s a run, 60 ms a task.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from flows.processes import children  # noqa: E402 - after the path
from flows.serve import start_server  # noqa: E402
from flows.server_folder import ServerFolder  # noqa: E402
from infold.inbox.integration import integrate  # noqa: E402
from infold.inbox.run import Run  # noqa: E402
from infold.inbox.steps import DirectSteps  # noqa: E402
from infold.settings import Params  # noqa: E402
from infold.workspace import Workspace  # noqa: E402
from tasks.environment import configure  # noqa: E402
from tests.fakes.scripted import ScriptedLibrarian  # noqa: E402

TARGET_RUN_SECONDS, TARGET_TASK_MS = 2.0, 60.0
Once = Callable[[Workspace], Awaitable[Run]]


def make_workspace(folder: Path, chunks: int) -> Workspace:
    """A vault with a note for each chunk, and an inbox with a paragraph for each."""
    vault = folder / "vault"
    vault.mkdir(parents=True)
    names = [f"note {n}" for n in range(chunks)]
    (vault / "index.md").write_text("# Index\n\n" + "".join(f"- [[{name}]]\n" for name in names))
    for n, name in enumerate(names):
        (vault / f"{name}.md").write_text(f"# Note {n}\n\nWhat is known of {n}.\n")
    (vault / "inbox.md").write_text("\n\n".join(f"Something new about {n}." for n in range(chunks)) + "\n")
    params = {
        "integrate": {"quiet_seconds": 0},
        "search": {"embedding": "none"},
        "exploration": {"search_candidates": 0},
    }
    return Workspace(vault, folder / "state", vault / "inbox.md", Params.model_validate(params))


def look(request: Any) -> dict[str, Any]:
    """Views the note of the chunk's number, then checks it out."""
    wanted = f"note {request.chunk.text.split()[-1].rstrip('.')}.md"
    viewed = {card.path for card in request.viewed}
    return {"action": "checkout" if wanted in viewed else "view", "files": [wanted]}


def edit(request: Any) -> dict[str, Any]:
    """Puts the chunk after the note's last line."""
    note = request.notes[0]
    last = note.text.rstrip().rsplit("\n", 1)[-1]
    return {"edits": [{"file": note.path, "find": last, "replace": f"{last}\n\n{request.chunk.text}"}]}


def direct_steps(place: Workspace) -> DirectSteps:
    """The plain steps, with a librarian that answers at once."""
    return DirectSteps(place, ScriptedLibrarian(look=look, edit=edit))


async def run_directly(place: Workspace) -> Run:
    """The composition and nothing else."""
    return await integrate(place, direct_steps(place), dry_run=True)


async def run_with_prefect(place: Workspace) -> Run:
    """The same as a flow."""
    from prefect import flow

    from tasks.steps import PrefectSteps

    @flow(name="integrate", persist_result=False)
    async def measured() -> Run:
        steps = PrefectSteps(direct_steps(place), place)
        run = await integrate(place, steps, dry_run=True)
        await steps.close()
        return run

    return await measured()


async def seconds(once: Once, place: Workspace) -> float:
    """Wall time of one run, in this process."""
    started = time.perf_counter()
    await once(place)
    return time.perf_counter() - started


def process_seconds(code: str) -> float:
    """Wall time of a process that runs `code`."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)
    return time.perf_counter() - started


async def measure(chunks: int, repeat: int) -> list[tuple[str, float, float, str]]:
    """Rows: what, direct seconds, Prefect seconds, what is added in the unit of the target."""
    tasks = 2 * chunks + 2
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        one = make_workspace(Path(folder) / "one", 1)
        await run_directly(one)
        await run_with_prefect(one)  # what is imported and connected once
        taken = {once: [await seconds(once, one) for _ in range(repeat)] for once in (run_directly, run_with_prefect)}
        small = {once: min(values) for once, values in taken.items()}  # other work only ever adds
        rows.append(row("a run of 1 chunk in a process that is up", small[run_directly], small[run_with_prefect]))
        many = make_workspace(Path(folder) / "many", chunks)
        await run_directly(many)  # tables and index, so that only decisions are measured
        for what in ("first time", "all cached"):
            plain, flow = await seconds(run_directly, many), await seconds(run_with_prefect, many)
            added = (flow - plain - (small[run_with_prefect] - small[run_directly])) / (tasks - 4) * 1000
            rows.append((f"a run of {chunks} chunks, {tasks} tasks, {what}", plain, flow, f"{added:.0f} ms a task"))
    imports = "from infold.inbox import integration, steps"
    plain, flow = (
        min(process_seconds(code) for _ in range(repeat)) for code in (imports, f"{imports}; import flows.integrate")
    )
    rows.append(row("starting a process: imports", plain, flow))
    return rows


def row(what: str, plain: float, flow: float) -> tuple[str, float, float, str]:
    """One row; what Prefect adds to a whole run."""
    return what, plain, flow, f"{flow - plain:.2f} s"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=48)
    parser.add_argument("--repeat", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, children() as start:
        os.environ["PREFECT_HOME"] = home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        folder = ServerFolder(Path(home))
        started = time.perf_counter()
        _, api_url = start_server(port, folder, start, threading.Event())
        print(f"server up after {time.perf_counter() - started:.1f} s; load {os.getloadavg()[0]:.1f}\n")
        configure(folder.home, api_url, folder.auth_string())
        rows = asyncio.run(measure(chosen.chunks, chosen.repeat))
    print("| what | direct s | Prefect s | added |\n|---|---|---|---|")
    for what, plain, flow, added in rows:
        print(f"| {what} | {plain:.2f} | {flow:.2f} | {added} |")
    print(f"\nTargets: {TARGET_RUN_SECONDS:.0f} s a run, {TARGET_TASK_MS:.0f} ms a task.")


if __name__ == "__main__":
    main()
