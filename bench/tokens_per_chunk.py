"""What a chunk costs in tokens: infold's conversation beside the naive ways.

The conversation is worded as a model would get it; decisions are taken by the offline librarian ("typical") or by one
that views as much as the limits allow and opens three notes ("widest"). Beside it: all summaries in one prompt, and the
full text of the 15 best search hits. Tokens by the product's rule, a quarter of the characters.

`sent` counts every call's whole prompt; `new` only what extends the call before, which is what an endpoint with a
prompt cache bills in full.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from synthetic import shared_data

from infold.inbox.atlas import Atlas
from infold.inbox.editing import Draft, ask_for_edits
from infold.inbox.exploration import explore
from infold.inbox.steps import DirectSteps, open_steps
from infold.librarian import wording
from infold.librarian.answers import Chunk, EditRequest, Edits, LeftOut, Look, LookRequest, Paragraph
from infold.librarian.base import Librarian, Transcript
from infold.librarian.cards import available_card
from infold.librarian.spend import Spend, Usage
from infold.settings import Environment, Params
from infold.text import token_count, word_count
from infold.vault.files import read_bytes
from infold.vault.note import parse
from infold.vault.records import BlockKind
from infold.workspace import Workspace

VAULTS = ("foam-docs", "forgetful-notes", "dendron-site")
NAIVE_NOTES = 15


@dataclass
class Counting:
    """Words every request as for a model, counts it, and lets `inner` (or the limits, where it is None) decide."""

    inner: Librarian | None
    name: str = "counting"
    spend: Spend = field(default_factory=Spend)
    calls: int = 0
    sent: int = 0
    new: int = 0
    answered: int = 0

    def conversation(self, chunk: Chunk, transcript: Transcript = ()) -> CountingConversation:
        """A conversation that grows at its end."""
        return CountingConversation(self, chunk, self.inner.conversation(chunk) if self.inner else None, transcript)


class CountingConversation:
    """One chunk's conversation."""

    def __init__(self, counter: Counting, chunk: Chunk, inner: object, transcript: Transcript) -> None:
        self._counter = counter
        self._inner = inner
        self._chunk = chunk
        self.transcript: Transcript = transcript or tuple(wording.chunk_opening())
        self.usage = Usage()

    async def look(self, request: LookRequest) -> Look:
        """Counted; decided by the inner librarian, or as widely as the limits allow."""
        message = wording.look_message(request, wording.Shown.after(self.transcript))
        if self._inner is not None:
            answer = await self._inner.look(request)
        elif request.may_view:
            answer = Look(action="view", files=[c.path for c in request.available[: request.may_view]])
        else:
            answer = Look(action="checkout", files=[c.path for c in request.viewed[-request.may_check_out :]])
        self._count(message, answer.model_dump_json())
        return answer

    async def edit(self, request: EditRequest) -> Edits:
        """Counted; decided by the inner librarian, or everything left."""
        message = wording.edit_message(request, wording.Shown.after(self.transcript))
        if self._inner is not None:
            answer = await self._inner.edit(request)
        else:
            answer = Edits(
                edits=[], left=[LeftOut(paragraph=p.n, reason="only counted") for p in self._chunk.paragraphs]
            )
        self._count(message, answer.model_dump_json() if self._inner else json.dumps(self._chunk.text))
        return answer

    def _count(self, message: dict[str, object], answer: str) -> None:
        before = len(self.transcript)
        self.transcript = (*self.transcript, message)
        sizes = [token_count(str(m["content"])) for m in self.transcript]
        self._counter.calls += 1
        self._counter.sent += sum(sizes)
        self._counter.new += sizes[-1] + (sizes[0] if before == 1 else 0)
        self._counter.answered += token_count(answer)
        self.transcript = (*self.transcript, {"role": "assistant", "content": answer})


async def measure(vault: Path, state: Path, chunks: int) -> list[tuple[str, ...]]:
    """The rows of one vault."""
    workspace = Workspace(vault, state, vault / "inbox.md", Params())
    async with open_steps(workspace, Environment()) as steps:
        atlas = (await steps.prepare()).atlas
        sample = paragraphs_of(vault, atlas, chunks)
        rows = []
        for name, inner in (("infold, typical", steps.librarian), ("infold, widest", None)):
            counter = Counting(inner)
            for chunk in sample:
                await walk(chunk, atlas, steps, counter, workspace)
            each = [counter.calls, counter.sent, counter.new, counter.answered]
            rows.append((vault.name, name, *(f"{value / len(sample):,.1f}" for value in each)))
        summaries = sum(token_count(available_card(card)) for card in atlas.cards.values())
        naive = [
            sum(token_count(read(vault, p)) for p in steps.searcher.candidates(c.text, NAIVE_NOTES)) for c in sample
        ]
        text = sum(token_count(c.text) for c in sample) / len(sample)
        for name, size in (
            ("all summaries, one prompt", summaries),
            ("full notes of the top 15", sum(naive) / len(sample)),
        ):
            rows.append((vault.name, name, "1.0", f"{size + text:,.1f}", f"{size + text:,.1f}", f"{text:,.1f}"))
        return rows


async def walk(chunk: Chunk, atlas: Atlas, steps: DirectSteps, counter: Counting, workspace: Workspace) -> None:
    """Explores and edits one chunk, writing nothing."""
    params = workspace.params
    candidates = steps.searcher.candidates(chunk.text, params.exploration.search_candidates)
    exploration = await explore(chunk, atlas, candidates, counter, params.exploration)
    draft = Draft(lambda path: read_bytes(workspace.vault, path, params.vault.max_note_bytes))
    notes = draft.open(exploration.checked_out)
    if notes:
        await ask_for_edits(chunk, exploration, notes, counter, params.editing)


def read(vault: Path, path: str) -> str:
    """A note's text."""
    return (vault / path).read_text(encoding="utf-8")


def paragraphs_of(vault: Path, atlas: Atlas, count: int) -> list[Chunk]:
    """Seeded prose paragraphs of the vault, each as a chunk."""
    found = []
    for path in sorted(atlas.cards):
        note = parse(path, read(vault, path))
        texts = [note.block_text(b) for b in note.blocks if b.kind is BlockKind.PARAGRAPH]
        found += [text for text in texts if 25 <= word_count(text) <= 180]
    chosen = random.Random(0).sample(found, min(count, len(found)))
    return [Chunk(n, (Paragraph(n, text),)) for n, text in enumerate(chosen, start=1)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=24)
    options = parser.parse_args()
    data = shared_data()
    print(f"{'vault':<16} {'way':<26} {'calls':>6} {'sent':>10} {'new':>10} {'answered':>9}   tokens a chunk")
    for name in VAULTS:
        with tempfile.TemporaryDirectory() as folder:
            vault = Path(folder) / name
            shutil.copytree(data / "vaults" / name, vault)
            for vault_name, way, calls, sent, new, answered in asyncio.run(
                measure(vault, Path(folder) / "state", options.chunks)
            ):
                print(f"{vault_name:<16} {way:<26} {calls:>6} {sent:>10} {new:>10} {answered:>9}")


if __name__ == "__main__":
    main()
