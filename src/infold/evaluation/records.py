"""What an evaluation keeps: one verdict a paragraph, one result a case, one arm a way of filing, and all of it.

Frozen records that are kept as JSON. What they add up to belongs to `evaluation.figures`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from infold.evaluation.cases import COPIES, CaseKind
from infold.inbox.run import RunPart, SkippedFile
from infold.librarian.spend import Usage

Ending = Literal["home", "other section", "elsewhere", "duplicate", "false duplicate", "repeat", "left", "missing"]


class Verdict(RunPart):
    """What became of one paragraph of a case, and what should have.

    `ending` is of the product's three outcomes seen against the truth. For a copy `duplicate` is right; for a cut it is
    a `false duplicate`, or a `repeat` where the note named holds the text word for word.
    """

    n: int  # its place in the inbox, from 1
    kind: CaseKind
    path: str  # where it stood
    trail: tuple[str, ...]  # the headings above it there
    text: str
    how: tuple[str, ...] = ()  # in what a reworded copy differs
    ending: Ending
    file: str | None = None  # the note it went into, or that is said to cover it
    landed: tuple[str, ...] | None = None  # the headings it stands under now
    is_placed: bool | None = None  # between the neighbours it was cut from; None where that cannot be told
    quote: str | None = None
    reason: str | None = None  # why it was left
    chunk: int | None = None
    chunk_mates: tuple[str, ...] = ()  # where the other paragraphs of its chunk stood
    viewed: tuple[str, ...] = ()
    checked_out: tuple[str, ...] = ()
    is_lost: bool = False
    guesses: dict[str, str | None] = Field(default_factory=dict)  # the note that each baseline names

    @property
    def is_home(self) -> bool:
        """A prose paragraph that is back in the note it was cut from."""
        return self.kind == "cut" and self.is_back

    @property
    def is_back(self) -> bool:
        """Whatever was cut is back in the note it came from."""
        return self.kind not in COPIES and self.ending in ("home", "other section")

    @property
    def is_right(self) -> bool:
        """Nothing to mend: home under its own heading, or a copy that was recognised."""
        return self.ending == ("duplicate" if self.kind in COPIES else "home")


class CaseResult(RunPart):
    """One case, judged. `usage` is what was paid while it ran."""

    key: str
    vault: str
    seed: int
    librarian: str
    verdicts: tuple[Verdict, ...]
    damaged: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()  # what belonged together and was parted: path, line, what
    stops: dict[str, int] = Field(default_factory=dict)  # how often which rule ended an exploration
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0


class Arm(RunPart):
    """One way of filing, over all cases. `settings` are what differs from the settings in force."""

    name: str
    settings: tuple[str, ...] = ()
    librarian: str = ""
    cases: tuple[CaseResult, ...] = ()

    @property
    def usage(self) -> Usage:
        """What all its cases took."""
        return sum((case.usage for case in self.cases), Usage())


class Evaluation(RunPart):
    """One evaluation, whole: the first arm is what is asked about, the others stand beside it."""

    vault: str
    created_at: str  # ISO 8601, UTC
    version: str
    seeds: tuple[int, ...]
    paragraphs: int
    resamples: int
    notes: int = 0
    arms: tuple[Arm, ...]
    settings: dict[str, Any] = Field(default_factory=dict)  # those in force, by section
    warnings: tuple[str, ...] = ()  # what a reader must know, such as a vault too small or a cap that was reached
    stopped: str | None = None  # why not every case was carried out
