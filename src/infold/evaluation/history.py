"""Evaluations made before, in the state folder: where each has its report, and how the figures went.

A folder whose metrics cannot be read is passed over and named: an old report is worth no error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.evaluation.records import Evaluation
from infold.workspace import Workspace

TREND: Final = ("home", "section", "viewed", "copies", "reworded", "false_duplicates", "grouping_note")
_METRICS_FILE: Final = "metrics.json"


@dataclass(frozen=True, slots=True)
class History:
    """The metrics of earlier evaluations, the oldest first, and the folders that could not be read."""

    metrics: tuple[dict[str, Any], ...]
    unread: tuple[str, ...]


def report_folder(workspace: Workspace, evaluation: Evaluation) -> Path:
    """Where the report of an evaluation goes unless another folder is named."""
    stamp = evaluation.created_at[:19].replace(":", "").replace("T", "-")
    return workspace.state / "kept" / "evaluations" / stamp


def earlier(workspace: Workspace) -> History:
    """All evaluations whose reports are in the state folder."""
    found, unread = [], []
    for file in sorted((workspace.state / "kept" / "evaluations").glob(f"*/{_METRICS_FILE}")):
        try:
            metrics = json.loads(file.read_bytes())
            _ = metrics["created_at"], metrics["figures"], metrics["measured_on"]
        except (OSError, ValueError, KeyError, TypeError):
            unread.append(file.parent.name)
            continue
        found.append(metrics)
    return History(tuple(sorted(found, key=lambda each: str(each["created_at"]))), tuple(unread))


def trend(history: History) -> list[dict[str, Any]]:
    """One row an evaluation: when, on what, and the figures that say most."""
    return [
        {
            "when": each["created_at"][:16].replace("T", " "),
            "librarian": each["measured_on"].get("librarian", ""),
            "seeds": each["measured_on"].get("seeds", ""),
            "paragraphs": each["measured_on"].get("paragraphs", ""),
            **{name: each["figures"].get(name) for name in TREND},
        }
        for each in history.metrics
    ]
