"""Seen against the truth: where each paragraph of a case ended, whether a word was lost, whether a note was damaged.

Holds for every librarian: one that inserts paragraphs as they are, and one that merges and rewords.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infold.evaluation.cases import COPIES, Case, LeftOutParagraph
from infold.evaluation.records import Ending, Verdict
from infold.inbox.run import ParagraphRecord, Run
from infold.settings import EditingParams
from infold.text import collapse_spaces, folded_words
from infold.vault.differences import line_splices, same_insertions
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note
from infold.vault.splices import Splice
from infold.vault.structure import structure_problems


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """A finished run of a case: its record, the notes after it by path, and the inbox after it."""

    run: Run
    notes: Mapping[str, str]
    inbox: str


def judge(
    case: Case, outcome: CaseOutcome, editing: EditingParams, guesses: Sequence[Mapping[str, str | None]]
) -> tuple[Verdict, ...]:
    """A verdict for each paragraph of the case, in the order of the inbox; `guesses` are the baselines', in step."""
    records = {collapse_spaces(record.text): record for record in outcome.run.paragraphs}
    found = [records.get(collapse_spaces(item.text)) for item in case.inbox]
    mates = _homes_by_chunk(case.inbox, found)
    judge_one = _Judge(case, outcome, editing)
    return tuple(
        judge_one.verdict(n, item, record, guess, _others(mates, record, item))
        for n, (item, record, guess) in enumerate(zip(case.inbox, found, guesses, strict=True), start=1)
    )


def damaged_notes(case: Case, outcome: CaseOutcome, editing: EditingParams) -> tuple[str, ...]:
    """The notes that lost something of their own.

    That is: more words than one edit may take away, or a line that no edit spoke of and that is no longer there, byte
    for byte and in its order.
    """
    spoken_of: dict[str, list[str]] = {}
    for chunk in outcome.run.chunks:
        for edit in chunk.edits:
            if edit.kind == "edit":
                spoken_of.setdefault(edit.file, []).append(collapse_spaces(edit.find))
    return tuple(
        path
        for path, before in sorted(case.notes.items())
        if (after := outcome.notes.get(path, "")) != before
        and (
            _lost_words(before, after) > editing.max_removed_words * max(1, len(spoken_of.get(path, ())))
            or not _has_all_lines(before, after, spoken_of.get(path, ()))
        )
    )


def broken_structure(case: Case, outcome: CaseOutcome) -> tuple[str, ...]:
    """What the run parted in a note though it belonged together, or put above its first sentence: path, line, what."""
    return tuple(
        f"{path}:{problem.line} {problem.what}"
        for path, before in sorted(case.notes.items())
        if (after := outcome.notes.get(path, "")) != before
        for problem in structure_problems(before, _kindest(before, line_splices(before, after)))
    )


def _kindest(text: str, splices: Sequence[Splice]) -> list[Splice]:
    """The same change, each insertion where it parts nothing, if the difference can be read so."""
    return [
        next((one for one in same_insertions(text, s) if not any(structure_problems(text, [one]))), s) for s in splices
    ]


class _Judge:
    def __init__(self, case: Case, outcome: CaseOutcome, editing: EditingParams) -> None:
        self._case = case
        self._outcome = outcome
        self._editing = editing
        self._chunks = {chunk.id: chunk for chunk in outcome.run.chunks}
        self._inbox = collapse_spaces(outcome.inbox)
        self._parsed: dict[str, Note] = {}

    def verdict(
        self,
        n: int,
        item: LeftOutParagraph,
        record: ParagraphRecord | None,
        guess: Mapping[str, str | None],
        mates: tuple[str, ...],
    ) -> Verdict:
        chunk = self._chunks.get(record.chunk) if record and record.chunk is not None else None
        landed = self._landed(item, record)
        return Verdict(
            n=n,
            kind=item.kind,
            path=item.path,
            trail=item.trail,
            text=item.text,
            how=item.how,
            ending=self._ending(item, record, landed),
            file=record.file if record else None,
            landed=landed,
            is_placed=self._is_placed(item, record),
            quote=record.quote if record else None,
            reason=record.reason if record else None,
            chunk=record.chunk if record else None,
            chunk_mates=mates,
            viewed=chunk.viewed if chunk else (),
            checked_out=chunk.checked_out if chunk else (),
            is_lost=not self._is_accounted(item, record),
            guesses=dict(guess),
        )

    def _ending(self, item: LeftOutParagraph, record: ParagraphRecord | None, landed: tuple[str, ...] | None) -> Ending:
        if record is None:
            return "missing"
        if record.outcome == "left":
            return "left"
        if record.outcome == "duplicate":
            if item.kind in COPIES:
                return "duplicate"
            held = collapse_spaces(self._case.notes.get(record.file or "", ""))
            return "repeat" if collapse_spaces(item.text) in held else "false duplicate"
        if record.file != item.path:
            return "elsewhere"
        return "home" if landed == item.trail else "other section"

    def _landed(self, item: LeftOutParagraph, record: ParagraphRecord | None) -> tuple[str, ...] | None:
        """The headings above the block of the note that holds the paragraph, or most of what is new there."""
        if record is None or record.outcome != "integrated" or record.file is None:
            return None
        note = self._note(record.file)
        match = re.search(r"\s+".join(map(re.escape, item.text.split())), note.text)
        if match:
            for block in note.blocks:
                if block.start <= match.start() < block.end:
                    return block.trail
        return self._most_like(item, note)

    def _is_placed(self, item: LeftOutParagraph, record: ParagraphRecord | None) -> bool | None:
        """Whether it stands in its note between the neighbours it was cut from, other new text aside."""
        if item.gap is None or record is None or record.outcome != "integrated" or record.file != item.path:
            return None
        before, after = self._case.notes[item.path], self._outcome.notes.get(item.path, "")
        wanted = set(folded_words(item.text))
        added = [s for s in line_splices(before, after) if s.text.strip()]
        best = max(added, key=lambda s: len(wanted & set(folded_words(s.text))), default=None)
        if best is None:
            return None
        starts = [block.start for block in parse(item.path, before).blocks]
        return any(bisect_left(starts, one.start) == item.gap for one in same_insertions(before, best))

    def _most_like(self, item: LeftOutParagraph, note: Note) -> tuple[str, ...] | None:
        wanted = set(folded_words(item.text))
        before = self._case.notes.get(note.path, "")

        def share(block: Block) -> int:
            text = note.block_text(block)
            return 0 if text in before else len(wanted & set(folded_words(text)))

        said = [block for block in note.blocks if block.kind not in (BlockKind.HEADING, BlockKind.FRONT_MATTER)]
        best = max(said, key=share, default=None)
        return best.trail if best is not None and share(best) else None

    def _is_accounted(self, item: LeftOutParagraph, record: ParagraphRecord | None) -> bool:
        """Its text is in the inbox, covered by a quote that stands in the note, or, as far as it must, in the note."""
        if record is None:
            return False
        if record.outcome == "left":
            return collapse_spaces(item.text) in self._inbox
        held = self._outcome.notes.get(record.file or "", "")
        if record.outcome == "duplicate":
            return _stands_in(record.quote or "", held)
        if collapse_spaces(item.text) in collapse_spaces(held):
            return True
        wanted = set(folded_words(item.text))
        edits = [edit for chunk in self._chunks.values() for edit in chunk.edits if record.n in edit.paragraphs]
        files = {edit.file for edit in edits if edit.kind == "edit"}
        everywhere = set().union(*(folded_words(self._outcome.notes.get(path, "")) for path in files))
        return len(wanted & everywhere) >= self._editing.min_kept_share * len(wanted)

    def _note(self, path: str) -> Note:
        if path not in self._parsed:
            self._parsed[path] = parse(path, self._outcome.notes.get(path, ""))
        return self._parsed[path]


def _stands_in(quote: str, held: str) -> bool:
    """Whether a quote stands in a note: in one piece, or its lines in their order where others joined them."""
    wanted = [collapse_spaces(line) for line in quote.splitlines() if line.strip()]
    lines = map(collapse_spaces, held.splitlines())
    is_whole = collapse_spaces(quote) in collapse_spaces(held)
    return bool(wanted) and (is_whole or all(line in lines for line in wanted))


def _homes_by_chunk(
    items: Sequence[LeftOutParagraph], records: Iterable[ParagraphRecord | None]
) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for item, record in zip(items, records, strict=True):
        if record is not None and record.chunk is not None:
            found.setdefault(record.chunk, []).append(item.path)
    return found


def _others(homes: Mapping[int, list[str]], record: ParagraphRecord | None, item: LeftOutParagraph) -> tuple[str, ...]:
    if record is None or record.chunk is None:
        return ()
    rest = list(homes[record.chunk])
    rest.remove(item.path)
    return tuple(rest)


def _lost_words(before: str, after: str) -> int:
    return (Counter(folded_words(before)) - Counter(folded_words(after))).total()


def _has_all_lines(before: str, after: str, spoken_of: Sequence[str]) -> bool:
    """Whether each line of `before` is in `after`, in order, but for those that an edit quoted."""
    kept = after.splitlines(keepends=True)
    at = 0
    for line in before.splitlines(keepends=True):
        found = next((i for i in range(at, len(kept)) if line in (kept[i], kept[i].rstrip("\r\n"))), None)
        if found is not None:
            at = found + 1
        elif not any(collapse_spaces(line) in text for text in spoken_of):
            return False
    return True
