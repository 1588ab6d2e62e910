"""The model path against a local endpoint that takes its time: wall time beside the critical path, tokens a chunk.

    python bench/model_path.py [--latency 0.2] [--concurrency 8] [--vault foam-docs --vault dendron-site]

The endpoint is a process of its own and answers by rule, so that figures are about infold and not about a model. The
critical path is what the same calls would take if nothing but the endpoint took time: each chunk's calls one after
another, no more chunks at once than the concurrency, and a chunk's edits after those of earlier chunks that checked out
one of its notes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY)]

from bench.synthetic import shared_data  # noqa: E402
from infold.app import open_steps  # noqa: E402
from infold.environment import Environment  # noqa: E402
from infold.evaluation.cases import Sizes, load_notes, make_case  # noqa: E402
from infold.evaluation.trial import write_case  # noqa: E402
from infold.inbox.integration import integrate  # noqa: E402
from infold.inbox.planning import Prepared  # noqa: E402
from infold.inbox.run import Run  # noqa: E402
from infold.inbox.steps import DirectSteps  # noqa: E402
from infold.librarian.answers import Chunk, EditRequest, LookRequest, NoteCard, OpenNote, Paragraph  # noqa: E402
from infold.librarian.decisions import DecisionStore  # noqa: E402
from infold.librarian.model import ModelLibrarian  # noqa: E402
from infold.librarian.prompts import prompt  # noqa: E402
from infold.settings import EditingParams, LibrarianParams, Params  # noqa: E402
from infold.text import token_count  # noqa: E402
from infold.vault.files import decode, read_bytes  # noqa: E402
from infold.workspace import Workspace  # noqa: E402
from tests.fakes.openai_server import Asked, serving  # noqa: E402

CHUNKS = 24
SUMMARY = "It tells what water does in a kettle, and why the temperature matters for the leaf. " * 6
NOTE = "# Water\n\n" + "Water is what tea is made of, mostly, and it can be too hot. " * 40 + "\n\nA last line.\n"


def main() -> None:
    """Prints three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--vault", action="append", help="a public vault by name; may be given more than once")
    options = parser.parse_args()
    _conversations(options.latency, options.concurrency)
    data = shared_data()
    vaults = options.vault or ["forgetful-notes", "foam-docs", "dendron-site"]
    print(f"\nThe whole job, dry run, after its preparation: {CHUNKS} paragraphs of a public vault, each a chunk.")
    print("vault             calls  wall s  critical s  ratio   again: calls  reused  wall s")
    tokens = [_whole_job(vault, data / "vaults" / vault, options.latency, options.concurrency) for vault in vaults]
    print("\nPrompt tokens a chunk; the naive ways are computed for the same chunks and notes.")
    print("vault             notes   infold: sent  not cached   all summaries   15 full notes")
    for line in tokens:
        print(line)


@contextmanager
def _endpoint(latency: float) -> Iterator[str]:
    """The address of an endpoint in a process of its own."""
    command = [sys.executable, "-m", "tests.fakes.openai_server", "--latency", str(latency)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def _conversations(latency: float, concurrency: int) -> None:
    """24 conversations of three calls that wait for each other, with nothing but the librarian."""
    with _endpoint(latency) as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(_converse(url, folder / "warm", 1, concurrency))
        started, cpu = time.perf_counter(), time.process_time()
        calls = asyncio.run(_converse(url, folder / "cold", CHUNKS, concurrency))
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        again = time.perf_counter()
        assert asyncio.run(_converse(url, folder / "cold", CHUNKS, concurrency)) == 0
        again = time.perf_counter() - again
    critical = max(3.0, calls / concurrency) * latency
    print(f"{CHUNKS} conversations of 3 calls at {latency * 1000:.0f} ms, {concurrency} side by side:")
    print(f"  {calls} calls, wall {wall:.2f} s, critical path {critical:.2f} s, ratio {wall / critical:.2f}")
    print(f"  own work {cpu / calls * 1000:.1f} ms CPU a call")
    print(f"  all of it again from the store: {again:.2f} s, {again / calls * 1000:.1f} ms an answer, 0 calls")


async def _converse(url: str, folder: Path, chunks: int, concurrency: int) -> int:
    """The number of calls that were paid."""
    params = LibrarianParams(kind="model", model="bench")
    environment = Environment(OPENAI_BASE_URL=url)
    model = ModelLibrarian(params, EditingParams(), environment, DecisionStore(folder), concurrency)
    paths = [f"note-{n}.md" for n in range(12)]
    summaries = dict.fromkeys(paths, SUMMARY)
    cards = [NoteCard(path, path, ("# Title", "## Part"), tuple(paths[:4])) for path in paths]

    async def one(n: int) -> None:
        chunk = Chunk(n, (Paragraph(n, f"Kettle {n} boils water that is too hot for leaf {n}, they say."),))
        conversation = model.conversation(chunk)
        await conversation.look(LookRequest(chunk, (cards[0],), tuple(cards[1:]), summaries, 1, 2, 4, 3))
        await conversation.look(LookRequest(chunk, tuple(cards[:3]), tuple(cards[3:]), summaries, 2, 1, 4, 3))
        await conversation.edit(EditRequest(chunk, (OpenNote("note-1.md", NOTE),), EditingParams()))

    await asyncio.gather(*(one(n) for n in range(1, chunks + 1)))
    await model.close()
    return model.spend.usage.calls


def _whole_job(vault: str, source: Path, latency: float, concurrency: int) -> str:
    """Prints the wall time of the job without its preparation; gives the line of the table of tokens."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = Workspace(source, folder / "kept", source / "inbox.md", Params())
        write_case(make_case(vault, load_notes(source, place.params.vault), 1, Sizes(24, 0, 0)), place, folder)
        workspace = _workspace(folder, concurrency)
        with serving() as server:  # without delay, to see what is asked
            environment = Environment(OPENAI_BASE_URL=server.url)
            asyncio.run(_prepare(workspace, environment))
            server.asked.clear()
            run, _ = asyncio.run(_plan(workspace, environment))
            asked = list(server.asked)
            naive = asyncio.run(_naive(workspace, environment, run))
        shutil.rmtree(workspace.decisions)
        with _endpoint(latency) as url:
            environment = Environment(OPENAI_BASE_URL=url)
            paid, wall = asyncio.run(_plan(workspace, environment))
            again, wall_again = asyncio.run(_plan(workspace, environment))
    critical = _critical_path(run, asked, concurrency) * latency
    print(
        f"{vault:<16} {paid.usage.calls:>6} {wall:>7.2f} {critical:>11.2f} {wall / critical:>6.2f}"
        f" {again.usage.calls:>14} {again.usage.reused:>7} {wall_again:>7.2f}"
    )
    return _tokens_line(vault, run, naive, asked)


def _workspace(folder: Path, concurrency: int) -> Workspace:
    values = Params().model_dump()
    values["librarian"] |= {"kind": "model", "model": "bench"}
    values["integrate"] |= {"concurrency": concurrency, "quiet_seconds": 0}
    vault = folder / "vault"
    return Workspace(vault, folder / "state", vault / "inbox.md", Params.model_validate(values))


async def _prepare(workspace: Workspace, environment: Environment) -> None:
    async with open_steps(workspace, environment=environment) as steps:
        await steps.prepare()


async def _plan(workspace: Workspace, environment: Environment) -> tuple[Run, float]:
    async with open_steps(workspace, environment=environment) as steps:
        prepared = _Prepared(steps)
        started = time.perf_counter()
        run = await integrate(workspace, prepared, dry_run=True)
        return run, time.perf_counter() - started - prepared.preparing_seconds


class _Prepared(DirectSteps):
    """The steps, with the time of the preparation kept apart."""

    def __init__(self, steps: DirectSteps) -> None:
        self.__dict__ = steps.__dict__
        self.preparing_seconds = 0.0

    async def prepare(self) -> Prepared:
        started = time.perf_counter()
        prepared = await super().prepare()
        self.preparing_seconds = time.perf_counter() - started
        return prepared


def _critical_path(run: Run, asked: list[Asked], concurrency: int) -> float:
    """How many calls long the run is when only calls take time."""
    calls = Counter((_chunk_of(request), request.decision) for request in asked if request.decision != "Grouping")
    free = [0.0] * concurrency
    explored: list[float] = []
    settled: list[float] = []
    for chunk in run.chunks:
        slot = free.index(min(free))
        explored.append(free[slot] + calls[chunk.paragraphs[0], "Look"])
        earlier = [
            end
            for end, other in zip(settled, run.chunks, strict=False)
            if not set(other.checked_out).isdisjoint(chunk.checked_out)
        ]
        free[slot] = max([*explored, *earlier]) + calls[chunk.paragraphs[0], "Edits"]
        settled.append(free[slot])
    return len(asked) - sum(calls.values()) + max(free)


def _chunk_of(request: Asked) -> int:
    """The first paragraph of the chunk that a request is about."""
    said = next(str(m["content"]) for m in request.messages if m["role"] == "user")
    return int(said.removeprefix("<<<paragraph ").split(" ", 1)[0])


async def _naive(workspace: Workspace, environment: Environment, run: Run) -> tuple[float, float, int]:
    """Prompt tokens a chunk: two requests with all summaries in each; one request with the 15 best notes whole."""
    async with open_steps(workspace, environment=environment) as steps:
        snapshot = (await steps.prepare()).snapshot
        cards = sum(token_count(f"- [[{path}]] — {snapshot.summaries.get(path, '')}") for path in snapshot.cards)
        by_summaries = by_notes = 0
        texts = {p.n: p.text for p in run.paragraphs}
        for chunk in run.chunks:
            text = "\n\n".join(texts[n] for n in chunk.paragraphs)
            frame = token_count(prompt("chunk/system")) + token_count(text)
            checked_out = sum(_note_tokens(workspace, path) for path in chunk.checked_out)
            by_summaries += 2 * (frame + cards) + checked_out
            by_notes += frame + sum(_note_tokens(workspace, path) for path in steps.searcher.candidates(text, 15))
        return by_summaries / len(run.chunks), by_notes / len(run.chunks), len(snapshot.cards)


def _note_tokens(workspace: Workspace, path: str) -> int:
    return token_count(decode(read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes), path))


def _tokens_line(vault: str, run: Run, naive: tuple[float, float, int], asked: list[Asked]) -> str:
    sent: defaultdict[int, list[int]] = defaultdict(list)
    for request in asked:
        if request.decision != "Grouping":
            sent[_chunk_of(request)].append(token_count(json.dumps(request.messages, ensure_ascii=False)))
    every = sum(map(sum, sent.values())) / len(run.chunks)
    fresh = sum(map(max, sent.values())) / len(run.chunks)  # each request extends the one before: the last holds all
    return f"{vault:<16} {naive[2]:>6} {every:>14.0f} {fresh:>11.0f} {naive[0]:>15.0f} {naive[1]:>15.0f}"


if __name__ == "__main__":
    main()
