"""The rules that the edits of a chunk must keep (spec 1, Validation, and DESIGN's promises 2 and 3).

All that is wrong is said at once, each problem with the number of the edit and its file, in words by which a model can
correct itself. Where text stands and what an edit changes belong to `vault.edits`, what stays whole to `vault.protect`,
what belongs together to `vault.structure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise
from pathlib import PurePosixPath
from typing import Final

from infold.errors import EditRefused
from infold.librarian.answers import Edit, EditRequest, Paragraph, ProposedEdits
from infold.text import folded_words
from infold.vault.edits import REMOVAL_HINT, LocatedEdit, lost_words, plan_change, removal_clause
from infold.vault.match import Haystack, line_of
from infold.vault.outside import outside_marks
from infold.vault.protect import check_protected
from infold.vault.structure import check_structure

_SUFFIXES: Final = ("", ".md", ".markdown")
_SHOWN_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class _LocatedProposal:
    """An edit whose find text was located: its number in the answer, and the change it makes."""

    number: int
    edit: Edit
    change: LocatedEdit


@dataclass(slots=True)
class _Findings:
    problems: list[str] = field(default_factory=list)

    def add(self, number: int, edit: Edit, what: str, hint: str = "") -> None:
        self.problems.append(f"edit {number} ({edit.file}): {what}" + (f". {hint}" if hint else ""))


def check_edits(answer: ProposedEdits, request: EditRequest) -> None:
    """Checks an answer against the texts it was asked for. A path given by its bare name or without .md is completed.

    Raises ValueError that names everything that is wrong.
    """
    findings = _Findings()
    haystacks = {note.path: Haystack(note.text) for note in request.notes}
    placed: list[_LocatedProposal] = []
    for number, edit in enumerate(answer.edits, start=1):
        change = _locate(number, edit, haystacks, findings)
        if change is not None:
            placed.append(_LocatedProposal(number, edit, change))
    _check_overlaps(placed, request, findings)
    _check_removal(placed, request, findings)
    if not findings.problems:
        _check_whole(placed, request, findings)
    findings.problems += _accounting(answer, request)
    if not findings.problems:
        findings.problems += _kept_words(answer, placed, request)
        findings.problems += _lost_marks(answer, request)
    if findings.problems:
        raise ValueError("; ".join(findings.problems))


def _locate(number: int, edit: Edit, haystacks: dict[str, Haystack], findings: _Findings) -> LocatedEdit | None:
    path = _path(edit.file, list(haystacks))
    if path is None:
        known = ", ".join(haystacks) or "none"
        findings.add(number, edit, f"is not CHECKED OUT; checked out: {known}")
        return None
    edit.file = path
    if edit.is_duplicate:
        edit.replace = None
    elif edit.replace is None:
        findings.add(number, edit, "has no `replace`", "Give it, or set is_duplicate to true.")
        return None
    try:
        change = plan_change(haystacks[path], edit.find, edit.find if edit.replace is None else edit.replace)
    except EditRefused as error:
        findings.add(number, edit, str(error), error.hint)
        return None
    if not edit.is_duplicate and change.before.split() == change.after.split():
        hint = "Add the new text to `replace`, or set is_duplicate to true where `find` already covers it."
        findings.add(number, edit, "changes nothing", hint)
        return None
    return change


def _path(named: str, known: Sequence[str]) -> str | None:
    """The checked-out note meant by `named`: its path, without suffix too, else a file name that only one has."""
    wanted = named.strip().removeprefix("[[").removesuffix("]]").removeprefix("./")
    for suffix in _SUFFIXES:
        if wanted + suffix in known:
            return wanted + suffix
    names = {wanted.casefold() + suffix for suffix in _SUFFIXES}
    found = [path for path in known if path.casefold() in names or PurePosixPath(path).name.casefold() in names]
    return found[0] if len(found) == 1 else None


def _standard(placed: Sequence[_LocatedProposal]) -> list[_LocatedProposal]:
    return [entry for entry in placed if not entry.edit.is_duplicate]


def _check_overlaps(placed: Sequence[_LocatedProposal], request: EditRequest, findings: _Findings) -> None:
    order = sorted(_standard(placed), key=lambda entry: (entry.edit.file, entry.change.match.start))
    for first, second in pairwise(order):
        note = request.note(first.edit.file)
        if note and first.edit.file == second.edit.file and second.change.match.start < first.change.match.end:
            line = line_of(note.text, second.change.match.start)
            earlier, later = sorted((first, second), key=lambda entry: entry.number)
            what = f"overlaps edit {earlier.number} at line {line}"
            findings.add(later.number, later.edit, what, "Make one edit of them, or anchor them on different text.")


def _check_removal(placed: Sequence[_LocatedProposal], request: EditRequest, findings: _Findings) -> None:
    standard = _standard(placed)
    most = request.params.max_removed_words
    for entry, words in zip(standard, lost_words([entry.change for entry in standard]), strict=True):
        if len(words) > most:
            findings.add(entry.number, entry.edit, removal_clause(words, most), REMOVAL_HINT)


def _check_whole(placed: Sequence[_LocatedProposal], request: EditRequest, findings: _Findings) -> None:
    """Each note with all its edits; where that breaks something, each edit alone says which one does it."""
    for note in request.notes:
        of_note = [entry for entry in _standard(placed) if entry.edit.file == note.path]
        together = _broken(note.text, of_note)
        if together is None:
            continue
        alone = [(entry, problem) for entry in of_note if (problem := _broken(note.text, [entry]))]
        for entry, problem in alone:
            findings.add(entry.number, entry.edit, str(problem), problem.hint)
        if not alone:
            numbers = ", ".join(str(entry.number) for entry in of_note)
            findings.problems.append(f"edits {numbers} ({note.path}) together: {together}. {together.hint}")


def _broken(text: str, placed: Sequence[_LocatedProposal]) -> EditRefused | None:
    """What edits of a note break: a span that stays whole, or what belongs together."""
    changes = [entry.change for entry in placed]
    try:
        check_protected(text, changes)
        check_structure(text, changes)
    except EditRefused as problem:
        return problem
    return None


def _accounting(answer: ProposedEdits, request: EditRequest) -> list[str]:
    """Whether each paragraph of the chunk ends somewhere, and only there."""
    known = [paragraph.n for paragraph in request.chunk.paragraphs]
    listed = f"this chunk has paragraph{'s' * (len(known) > 1)} {', '.join(map(str, known))}"
    problems = [
        f"edit {number} ({edit.file}): there is no paragraph {n}; {listed}"
        for number, edit in enumerate(answer.edits, start=1)
        for n in dict.fromkeys(edit.paragraphs)
        if n not in known
    ]
    left = [entry.paragraph for entry in answer.left]
    problems += [f"left: there is no paragraph {n}; {listed}" for n in dict.fromkeys(left) if n not in known]
    problems += [
        f"left: paragraph {entry.paragraph} has no reason" for entry in answer.left if not entry.reason.strip()
    ]
    covered = {n for edit in answer.edits for n in answer.paragraphs_of(edit, request.chunk)}
    problems += [
        f"paragraph {n} is both in an edit and left out: choose one" for n in known if n in left and n in covered
    ]
    missing = [str(n) for n in known if n not in left and n not in covered]
    if missing:
        problems.append(
            f"in no edit: paragraph{'s' * (len(missing) > 1)} {', '.join(missing)}; add an edit or a duplicate marker, "
            "or list what fits none of the files under `left` with the reason"
        )
    return problems


def _kept_words(answer: ProposedEdits, placed: Sequence[_LocatedProposal], request: EditRequest) -> list[str]:
    """Whether each paragraph's words really stand in what its edits add, or in what its duplicate markers quote."""
    problems = []
    left = {entry.paragraph for entry in answer.left}
    holding: dict[int, list[_LocatedProposal]] = {}
    for entry in placed:
        for n in answer.paragraphs_of(entry.edit, request.chunk):
            holding.setdefault(n, []).append(entry)
    stands = {entry.number: _words_of(entry) for entry in placed}
    for paragraph in request.chunk.paragraphs:
        if paragraph.n not in left:
            problem = _missing_words(paragraph, holding.get(paragraph.n, []), stands, request)
            problems += [problem] if problem else []
    return problems


def _words_of(entry: _LocatedProposal) -> frozenset[str]:
    """The words that an edit adds, or that a duplicate marker quotes."""
    return frozenset(folded_words(entry.change.before) if entry.edit.is_duplicate else entry.change.added)


def _lost_marks(answer: ProposedEdits, request: EditRequest) -> list[str]:
    """Paragraphs from outside whose edits do not say so any more: the label stays with the text."""
    problems: list[str] = []
    for paragraph in request.chunk.paragraphs:
        edits = [edit for edit in answer.edits if paragraph.n in answer.paragraphs_of(edit, request.chunk)]
        said = "\n".join(edit.replace or "" for edit in edits)
        lost = [mark for mark in outside_marks(paragraph.text) if mark not in said]
        if lost and edits and not all(edit.is_duplicate for edit in edits):
            problems.append(f"paragraph {paragraph.n}: its text must go on ending with {lost[0]}")
    return problems


def _missing_words(
    paragraph: Paragraph,
    holding: Sequence[_LocatedProposal],
    stands: Mapping[int, frozenset[str]],
    request: EditRequest,
) -> str | None:
    wanted = dict.fromkeys(folded_words(paragraph.text))
    numbers = ", ".join(str(entry.number) for entry in holding)
    marks = [any(word in stands[entry.number] for entry in holding) for word in wanted]
    kept = list(compress(wanted, marks))
    missing = _first(word for word, is_kept in zip(wanted, marks, strict=True) if not is_kept)
    if not _standard(holding):
        if len(kept) >= request.params.min_duplicate_share * len(wanted):
            return None
        return (
            f"paragraph {paragraph.n}: the text quoted by edit {numbers} does not cover it (missing: {missing}); "
            "quote the text that does, or add the paragraph with a find/replace"
        )
    if len(kept) >= request.params.min_kept_share * len(wanted):
        return None
    return (
        f"paragraph {paragraph.n}: only {len(kept)} of its {len(wanted)} words stand in what edit {numbers} adds "
        f"(missing: {missing}); keep the paragraph's own wording"
    )


def _first(words: Iterable[str]) -> str:
    listed = list(words)
    return ", ".join(listed[:_SHOWN_WORDS]) + (", …" if len(listed) > _SHOWN_WORDS else "")
