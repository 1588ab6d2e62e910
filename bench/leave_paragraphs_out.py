"""Leave-paragraphs-out: cuts prose out of real vaults, lets the product fold it back in, and counts what came home.

    python -m bench.leave_paragraphs_out [--seeds 0,1,2] [--vaults foam-docs,...] [--cases FILE] [--data DIR]

The whole product runs, offline: tables, summaries, index, grouping, exploration, edits, journal. Beside it stands plain
BM25 over whole notes on the very same cases. `search_candidates: 0` is exploration by links alone.

home       share of the cut paragraphs put back in the note they came from
section    of those, the share that stands under its own heading
copies     share of the verbatim copies that were recognised as duplicates
reworded   the same for copies with their sentences in another order and a clause dropped
false dup  share of the cut paragraphs that were taken for duplicates, though no other note has them word for word
repeats    share of the cut paragraphs that another note has word for word, and that were marked as duplicates for it
left       share of the cut paragraphs that stayed in the inbox
lost       paragraphs that are neither in a note, nor covered by a quote, nor in the inbox
damage     notes whose own lines are not all there, in order, byte for byte
grouping   pairwise F1 of the groups against "came from the same note"
"""

from __future__ import annotations

import argparse
import asyncio
import math
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Final, TextIO

from bench.left_out import INBOX, VAULTS, Case, LeftOut, load_notes, make_case
from infold.environment import Environment
from infold.inbox.integration import integrate
from infold.inbox.run import ParagraphRecord, Run
from infold.inbox.steps import open_steps
from infold.settings import load_params
from infold.text import collapse_spaces
from infold.vault.note import parse
from infold.workspace import Workspace

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "vaults"


@dataclass
class Tally:
    """Counts over cases."""

    cut: int = 0
    home: int = 0
    section: int = 0
    baseline: int = 0
    copies: int = 0
    recognised: int = 0
    reworded: int = 0
    reworded_recognised: int = 0
    false_duplicates: int = 0
    repeats: int = 0
    left: int = 0
    lost: int = 0
    damaged: int = 0
    pairs: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        summed = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        return Tally(**summed)

    def shares(self) -> dict[str, float]:
        """The figures of the table."""
        f1 = 2 * self.pairs["both"] / max(1, self.pairs["grouped"] + self.pairs["true"])
        return {
            "BM25": self.baseline / max(1, self.cut),
            "home": self.home / max(1, self.cut),
            "section": self.section / max(1, self.home),
            "copies": self.recognised / max(1, self.copies),
            "reworded": self.reworded_recognised / max(1, self.reworded),
            "false dup": self.false_duplicates / max(1, self.cut),
            "repeats": self.repeats / max(1, self.cut),
            "left": self.left / max(1, self.cut),
            "lost": float(self.lost),
            "damage": float(self.damaged),
            "grouping": f1,
            "s/run": self.seconds,
        }


def main() -> None:
    """Runs the cases that the arguments name and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the vaults")
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--seeds", default="0,1,2", help="numbers or ranges: 0,1,2 or 10-19")
    parser.add_argument("--candidates", default="", help="values of exploration.search_candidates; default and 0")
    parser.add_argument("--cases", type=argparse.FileType("w"), help="one line per paragraph: what went where")
    options = parser.parse_args()
    seeds = list(numbers(options.seeds))
    for setting in options.candidates.split(",") if options.candidates else ("", "0"):
        print(f"\nsearch_candidates: {setting or 'default'}, seeds {options.seeds}", flush=True)
        tallies = {
            vault: _vault(vault, options.data / vault, seeds, setting, options.cases)
            for vault in options.vaults.split(",")
        }
        _print(tallies, len(seeds))


def _vault(vault: str, source: Path, seeds: Sequence[int], candidates: str, cases: TextIO | None) -> Tally:
    notes = load_notes(source)
    total = Tally()
    for seed in seeds:
        total += run_case(make_case(vault, notes, seed, reworded=4), source, candidates, cases)
    return total


def run_case(case: Case, source: Path, candidates: str, cases: TextIO | None) -> Tally:
    """One case in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="leave-out-"))
    try:
        case.write(folder / "vault", source)
        overrides = [f"exploration.search_candidates={candidates}"] if candidates else []
        params = load_params(None, [*overrides, "integrate.quiet_seconds=0"])
        workspace = Workspace(folder / "vault", folder / "state", folder / "vault" / INBOX, params)
        run = asyncio.run(_integrate(workspace))
        return _score(case, workspace, run, cases)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _integrate(workspace: Workspace) -> Run:
    async with open_steps(workspace, Environment()) as steps:
        return await integrate(workspace, steps)


def _score(case: Case, workspace: Workspace, run: Run, cases: TextIO | None) -> Tally:
    tally = Tally(seconds=run.seconds)
    after = {path: (workspace.vault / path).read_bytes().decode() for path in case.notes}
    inbox_after = collapse_spaces(workspace.inbox.read_text(encoding="utf-8"))
    baseline = PlainBM25(case.notes)
    records = {collapse_spaces(record.text): record for record in run.paragraphs}
    for item in case.inbox:
        record = records.get(collapse_spaces(item.text))
        _count(tally, item, record, after, baseline, cases, case)
        if not _is_accounted(item, record, after, inbox_after):
            tally.lost += 1
    tally.damaged = sum(not _has_all_lines(before, after[path]) for path, before in case.notes.items())
    tally.pairs = _pairs(case, records)
    return tally


def _count(
    tally: Tally,
    item: LeftOut,
    record: ParagraphRecord | None,
    after: dict[str, str],
    baseline: PlainBM25,
    cases: TextIO | None,
    case: Case,
) -> None:
    outcome: str = record.outcome if record else "missing"
    if item.is_reworded:
        tally.reworded += 1
        tally.reworded_recognised += outcome == "duplicate"
        said = outcome
    elif item.is_copy:
        tally.copies += 1
        tally.recognised += outcome == "duplicate"
        said = outcome
    else:
        tally.cut += 1
        guess = baseline.best(item.text)
        tally.baseline += guess == item.path
        if outcome == "duplicate":
            stands = collapse_spaces(item.text) in collapse_spaces(case.notes[record.file or ""] if record else "")
            tally.repeats += stands
            tally.false_duplicates += not stands
        tally.left += outcome == "left"
        trail = _trail_of(item, after[item.path]) if outcome == "integrated" else None
        tally.home += trail is not None
        tally.section += trail == item.trail
        said = "elsewhere" if trail is None and outcome == "integrated" else outcome
        said = ("home" if trail == item.trail else "other section") if trail is not None else said
    if cases:
        kind = "reworded" if item.is_reworded else "copy" if item.is_copy else "cut"
        where = (record.file or record.reason) if record else None
        head = collapse_spaces(item.text)[:90]
        print(f"{case.vault}\t{case.seed}\t{kind}\t{said}\t{item.path}\t{where}\t{head}", file=cases, flush=True)


def _trail_of(item: LeftOut, text: str) -> tuple[str, ...] | None:
    """The headings above the paragraph in its own note; None where it does not stand there."""
    at = text.find(item.text)
    if at < 0:
        return None
    note = parse(item.path, text)
    holding = [block for block in note.blocks if block.start <= at < block.end]
    return holding[0].trail if holding else None


def _is_accounted(item: LeftOut, record: ParagraphRecord | None, after: dict[str, str], inbox_after: str) -> bool:
    if record is None:
        return False
    if record.outcome == "left":
        return collapse_spaces(item.text) in inbox_after
    held = collapse_spaces(after.get(record.file or "", ""))
    if record.outcome == "duplicate":
        return bool(record.quote) and collapse_spaces(record.quote or "") in held
    return collapse_spaces(item.text) in held


def _has_all_lines(before: str, after: str) -> bool:
    rest = iter(after.splitlines(keepends=True))
    return all(
        any(line == other or line == other.rstrip("\r\n") for other in rest)
        for line in before.splitlines(keepends=True)
    )


def _pairs(case: Case, records: dict[str, ParagraphRecord]) -> Counter[str]:
    """Pairs of paragraphs: in one chunk, of one note, both. Reworded copies are left out."""
    entries = []
    for item in case.inbox:
        record = records.get(collapse_spaces(item.text))
        if record is not None and not item.is_reworded:
            entries.append((record.chunk, item.path))
    found: Counter[str] = Counter()
    for (one_chunk, one_path), (other_chunk, other_path) in combinations(entries, 2):
        grouped, true = one_chunk == other_chunk and one_chunk is not None, one_path == other_path
        found.update({"grouped": grouped, "true": true, "both": grouped and true})
    return found


class PlainBM25:
    """The baseline: BM25 (k1 1.5, b 0.75) over whole notes, words folded, nothing else."""

    def __init__(self, notes: dict[str, str]) -> None:
        self._paths = list(notes)
        counts = [Counter(self._words(text)) for text in notes.values()]
        self._lengths = [count.total() for count in counts]
        self._mean = sum(self._lengths) / max(1, len(counts))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((number, times))

    def best(self, text: str) -> str | None:
        """The note that BM25 puts first."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(self._words(text)):
            postings = self._postings.get(word, [])
            weight = math.log(1 + (len(self._paths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, times in postings:
                norm = 1.5 * (0.25 + 0.75 * self._lengths[number] / self._mean)
                scores[number] += weight * times * 2.5 / (times + norm)
        return self._paths[max(scores, key=lambda number: scores[number])] if scores else None

    @staticmethod
    def _words(text: str) -> list[str]:
        return re.findall(r"\w+", text.casefold())


def numbers(said: str) -> Iterable[int]:
    """`0,1,2` or `10-19` as numbers."""
    for part in said.split(","):
        first, dash, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1) if dash else (int(first),)


def _print(tallies: dict[str, Tally], runs: int) -> None:
    rows = {vault: tally.shares() | {"s/run": tally.seconds / runs} for vault, tally in tallies.items()}
    chosen = [rows[vault] for vault in ("foam-docs", "forgetful-notes") if vault in rows]
    if len(chosen) == 2:
        rows["mean of the first two"] = {name: (chosen[0][name] + chosen[1][name]) / 2 for name in chosen[0]}
    names = list(next(iter(rows.values())))
    print(f"{'':24}" + "".join(f"{name:>10}" for name in names))
    for vault, row in rows.items():
        print(f"{vault:24}" + "".join(f"{row[name]:10.3f}" for name in names), flush=True)


if __name__ == "__main__":
    main()
