"""Looking at a plan before it is applied: what stays in the inbox first, then each edit under its heading."""

from __future__ import annotations

from typing import Final

from infold import lazy
from infold.app import OpenVault
from infold.errors import IndexFault, RunNotFound
from infold.inbox.run import RunStatus
from infold.operations.contract import Effect, Group, Message
from infold.operations.inbox import RunRequest
from infold.operations.table import operation
from infold.search.query.query_parser import as_text
from infold.text import words

_NEAREST: Final = 3
_ASKED_CHARACTERS: Final = 400
_NAME_WORDS: Final = 6


class HunkShown(Message):
    """One edit of a plan, under its heading."""

    number: int
    """For `run_apply`: from 1, note by note in the order of the text."""
    file: str
    """The note."""
    trail: tuple[str, ...]
    """The headings above the place."""
    find: str
    """The text of the note that stands there."""
    replace: str
    """What takes its place: mostly the same, with the new text before or after it."""
    paragraphs: tuple[int, ...]
    """The numbers of the inbox paragraphs that it takes in."""
    text: str
    """Their text."""
    reason: str
    """Why this note."""
    runners_up: tuple[str, ...]
    """The notes that came next."""


class LeftShown(Message):
    """A paragraph that stays in the inbox."""

    n: int
    """Its number."""
    text: str
    """Its text."""
    reason: str
    """Why it stays."""
    nearest: tuple[str, ...]
    """The notes that search finds nearest to it."""
    new_note: str
    """The name of a note of its own that could be made for it."""


class RunReviewAnswer(Message):
    """A plan to decide on: what stays first, then each edit."""

    run: str
    """The id of the run."""
    status: RunStatus
    """Only what is planned can be decided on."""
    is_expired: bool
    """Older than `integrate.plan_days`: it is applied only anew."""
    left: tuple[LeftShown, ...]
    """The paragraphs that stay in the inbox."""
    hunks: tuple[HunkShown, ...]
    """The edits."""


@operation(Group.INBOX, Effect.READS, errors=(RunNotFound,))
def run_review(vault: OpenVault, request: RunRequest) -> RunReviewAnswer:
    """See a plan edit by edit, with its place, the notes that came next, and what stays in the inbox."""
    run, hunks = vault.hunks(request.run)
    left = [paragraph for paragraph in run.paragraphs if paragraph.outcome == "left"]
    return RunReviewAnswer(
        run=run.id,
        status=run.status,
        is_expired=lazy.inbox.review.is_expired(run, vault.params.integrate.plan_days),
        left=tuple(
            LeftShown(
                n=p.n, text=p.text, reason=p.reason or "", nearest=_nearest(vault, p.text), new_note=_name(p.text)
            )
            for p in left
        ),
        hunks=tuple(HunkShown.of(hunk) for hunk in hunks),
    )


def _nearest(vault: OpenVault, text: str) -> tuple[str, ...]:
    try:
        found = vault.search(as_text(text[:_ASKED_CHARACTERS]), min_score=0.0, sync=False).results
    except IndexFault:
        return ()
    return tuple(dict.fromkeys(result.path for result in found))[:_NEAREST]


def _name(text: str) -> str:
    """A name for a note out of the first words of a text."""
    named = " ".join(words(text)[:_NAME_WORDS])
    return named[:1].upper() + named[1:]
