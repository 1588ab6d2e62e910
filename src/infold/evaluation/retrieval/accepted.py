"""Whether a retrieval evaluation has fallen below the figures that were accepted on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from infold.errors import UsageError
from infold.evaluation.committed import Fall, comparable
from infold.evaluation.retrieval.figures import MAIN

JUDGED: Final = ("bm25", "dense", "hybrid")
_DIGIT: Final = 1e-4


def read_accepted(path: Path) -> dict[str, Any]:
    """The accepted figures in a file. Raises UsageError where it cannot be read or holds none."""
    try:
        values = json.loads(path.read_bytes())
        if {"measured_on", "figures", "hybrid_over_better_half"} <= set(values):
            return dict(values)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="Write it with --accept.") from error
    raise UsageError(f"{path} holds no accepted figures of search.", hint="Write it with --accept.")


def falls(now: Mapping[str, Any], accepted: Mapping[str, Any], tolerance: float) -> Iterator[Fall]:
    """Each nDCG@10 of a set and way that fell by more than `tolerance`. Raises UsageError where the two do not compare.

    A change of the notes, the draw or the embeddings says nothing about search.
    """
    if comparable(now["measured_on"]) != comparable(accepted["measured_on"]):
        raise UsageError(
            f"The accepted figures were measured on {accepted['measured_on']}, these on {now['measured_on']}.",
            hint="Evaluate the same again, or accept this one with --accept.",
        )
    for name, ways in accepted["figures"].items():
        for way in JUDGED:
            was, value = ways[way][MAIN], now["figures"][name][way][MAIN]
            if value < was - tolerance - _DIGIT:
                yield Fall(f"{name}, {way}", was, value)
