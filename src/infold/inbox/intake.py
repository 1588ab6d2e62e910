"""Which paragraphs of the inbox a run takes in: all, or where they are more than one run may take, the next ones.

What no run has looked at comes first, then what was left longest ago: paragraphs that find no place never keep the
others waiting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile

from infold.inbox.paragraphs import InboxParagraph
from infold.inbox.run_store import RunStore
from infold.workspace import Workspace


def taken_in(workspace: Workspace, paragraphs: Sequence[InboxParagraph]) -> tuple[tuple[InboxParagraph, ...], int]:
    """At most `integrate.max_paragraphs` of them, in their order, and how many wait for the next run."""
    most = workspace.params.integrate.max_paragraphs
    if len(paragraphs) <= most:
        return tuple(paragraphs), 0
    left = _runs_since_left(workspace)
    by_turn = sorted(paragraphs, key=lambda each: -left.get(each.paragraph.text, math.inf))
    taken = sorted(by_turn[:most], key=lambda each: each.paragraph.n)
    return tuple(taken), len(paragraphs) - most


def _runs_since_left(workspace: Workspace) -> dict[str, int]:
    """How many applied runs ago each paragraph was left, as far back as runs had more than they took."""
    applied = (run for run in RunStore(workspace.runs).list() if run.applied_at and run.inbox == workspace.inbox_path)
    ages: dict[str, int] = {}
    for age, run in enumerate(takewhile(lambda run: run.waiting, applied)):
        for paragraph in run.paragraphs:
            if paragraph.outcome == "left":
                ages.setdefault(paragraph.text, age)
    return ages
