"""The files that hold what an evaluation found for git and DVC: all figures, the few of a first look, and the bars.

They lie beside each other, named after the first: `evaluation.json`, `evaluation_figures.json`, `evaluation_home.json`.
Equal code, settings and notes give equal bytes: no clock, no cost, no path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from infold.durable.files import SHARED, Disk
from infold.evaluation.committed import as_file, metrics
from infold.evaluation.findings import Findings
from infold.evaluation.retrieval.figures import MAIN, TITLES, WAYS
from infold.evaluation.retrieval.report import RetrievalFindings
from infold.evaluation.retrieval.report import metrics as retrieval_metrics

_RIGHT: Final = ("section", "viewed", "opened", "copies", "reworded", "grouping_section", "grouping_note")
PlotRows = list[dict[str, Any]]


def filing_files(findings: Findings) -> dict[str, bytes]:
    """How well text is filed; by what is added to the name of the first file."""
    values = metrics(findings.evaluation)
    found = [("infold", findings.figures["home"])]
    found += [(findings.figures[lead.name].title, findings.figures[lead.name]) for lead in findings.leads]
    return {
        "": as_file(values),
        "_figures": as_file(
            {
                "home": values["figures"]["home"],
                "section": values["figures"]["section"],
                "harm": sum(values["counts"].values()),
            }
        ),
        "_home": _bars([{"way": title, "home": _rounded(figure.value)} for title, figure in found]),
        "_right": _bars(
            [
                {"figure": findings.figures[name].title, "share": _rounded(findings.figures[name].value)}
                for name in _RIGHT
                if name in findings.figures
            ]
        ),
        "_misses": _bars([{"what": kind.title, "paragraphs": len(kind.misses)} for kind in findings.misses]),
    }


def retrieval_files(found: RetrievalFindings) -> dict[str, bytes]:
    """How well notes are found; by what is added to the name of the first file."""
    ndcg = [each.values["hybrid"][MAIN] for each in found.sets]
    leads = [each.lead for each in found.sets]
    bars = [
        {"what": f"{each.result.title}: {TITLES[way]}", "ndcg": _rounded(each.values[way][MAIN])}
        for each in found.sets
        for way in WAYS
    ]
    return {
        "": as_file(retrieval_metrics(found)),
        "_figures": as_file({"ndcg": _rounded(sum(ndcg) / len(ndcg)), "lead": _rounded(sum(leads) / len(leads))}),
        "_ndcg": _bars(bars),
    }


def write_files(first: Path, files: Mapping[str, bytes]) -> None:
    """Writes all of them, whole. Raises StateUnwritable."""
    disk = Disk()
    disk.make_folder(first.parent)
    for added, content in files.items():
        disk.write_whole(first.with_stem(f"{first.stem}{added}"), content, SHARED)


def _bars(rows: PlotRows) -> bytes:
    return (json.dumps(rows, indent=1) + "\n").encode()


def _rounded(value: float | None) -> float:
    return round(value or 0.0, 4)
