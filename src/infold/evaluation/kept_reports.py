"""Reports of evaluations that are kept in the state folder: listed, read, compared figure by figure.

Each is a folder: of filing beside the others, of retrieval and summaries in a folder of their kind. One whose figures
cannot be read is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from infold.errors import UsageError
from infold.workspace import Workspace

ReportKind = Literal["filing", "retrieval", "summaries"]
KINDS: Final[tuple[ReportKind, ...]] = get_args(ReportKind)

_STAMP: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-(\d{2})(\d{2})(\d{2})")
_ANY: Final = "[0-9][0-9][0-9][0-9]-*"


@dataclass(frozen=True, slots=True)
class KeptReport:
    """An evaluation: its kind, the name of its folder, when it was made (ISO, UTC), what on, and its figures."""

    kind: ReportKind
    name: str
    at: str
    measured_on: Mapping[str, Any]
    figures: Mapping[str, float]
    page: Path

    @property
    def main(self) -> list[tuple[str, float]]:
        """The figures that say most: of what searches are made with, nDCG of both ways together; else the first."""
        chosen = [item for item in self.figures.items() if item[0].endswith("hybrid · ndcg 10")]
        return chosen or list(self.figures.items())


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure of two evaluations; None where one has none."""

    name: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """Of the second from the first."""
        return None if self.first is None or self.second is None else self.second - self.first


def kept_reports(workspace: Workspace) -> list[KeptReport]:
    """All of them, the newest first."""
    found = (_read(kind, file) for kind in KINDS for file in _folder(workspace, kind).glob(f"{_ANY}/metrics.json"))
    return sorted((report for report in found if report is not None), key=lambda each: each.at, reverse=True)


def kept_report(workspace: Workspace, kind: str, name: str) -> KeptReport:
    """One of them. Raises UsageError."""
    found = next((each for each in kept_reports(workspace) if (each.kind, each.name) == (kind, name)), None)
    if found is None:
        raise UsageError(f"There is no evaluation {kind}/{name}.", hint="The page of evaluations lists all.")
    return found


def compared(first: KeptReport, second: KeptReport) -> list[FigureChange]:
    """Each figure that one of the two has. Raises UsageError where they are of two kinds."""
    if first.kind != second.kind:
        raise UsageError("Only evaluations of one kind can be compared.", hint="Choose two of one kind.")
    names = dict.fromkeys((*first.figures, *second.figures))
    return [FigureChange(name, first.figures.get(name), second.figures.get(name)) for name in names]


def _folder(workspace: Workspace, kind: ReportKind) -> Path:
    folder = workspace.state / "kept" / "evaluations"
    return folder if kind == "filing" else folder / kind


def _read(kind: ReportKind, file: Path) -> KeptReport | None:
    stamp = _STAMP.match(file.parent.name)
    try:
        metrics = json.loads(file.read_bytes())
        measured_on, figures = dict(metrics["measured_on"]), dict(_flat(metrics["figures"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    at = f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}+00:00" if stamp else file.parent.name
    return KeptReport(kind, file.parent.name, at, measured_on, figures, file.with_name("report.html"))


def _flat(figures: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Figures within figures under one name each."""
    for name, value in figures.items():
        whole = f"{above} · {name}" if above else name
        if isinstance(value, Mapping):
            yield from _flat(value, whole)
        elif isinstance(value, int | float):
            yield whole.replace("_", " "), float(value)
