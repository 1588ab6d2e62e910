"""Fits the weights of the offline librarian on cases of left-out paragraphs, and says what they are worth elsewhere.

    python -m bench.offline_weights [--seeds 10-17] [--vaults foam-docs,...] [--keep-sections]

Three conditional logits: the right section of the right note, the right note among those compared, the right gap
between the pieces of the right section. Printed first is each vault's share of right choices by weights that were
fitted on other vaults, none of them made of it or a translation of it; then the weights fitted on all of them, to be
put into `infold/librarian/offline/weights.py`. Notes are weighed by their figures and by the same as standard scores;
with `--keep-sections` beside the section weights that stand there. Seeds 0 to 2 are kept for `bench.filing`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.filing import DATA, KEPT, OTHERS, VAULTS, vault_at
from infold.catalogue.store import catalogue_of
from infold.evaluation.cases import Case, CaseKind, LeftOutParagraph, Sizes, load_notes, make_case
from infold.evaluation.trial import write_case
from infold.inbox.steps import DirectSteps
from infold.librarian.offline import CandidateScorer, OfflineLibrarian, figures, placing, sections, weights
from infold.librarian.offline.reading import NoteFeatures
from infold.librarian.offline.vault_scorer import scorer_of
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import load_params, seeds_of
from infold.vault.note import parse
from infold.workspace import Workspace

Table = npt.NDArray[np.float64]

NOTE_PENALTY: Final = 60.0  # with 20 it is 0.003 less on vaults that were left out
SECTION_PENALTY: Final = 20.0
GAP_PENALTY: Final = 10.0
_CUT: Final[tuple[CaseKind, ...]] = ("cut", "short", "list")
_STEPS: Final = 40
_LEAST_GAIN: Final = 1e-3
_LEAST_PART: Final = 1e-6
_PLACE: Final = figures.FIGURES.index("place")


@dataclass
class Example:
    """One cut paragraph: the figures of its own note's sections, of the notes compared, and which are right."""

    vault: str
    is_prose: bool  # else a short jotting or a list: these count for the gaps alone
    own_sections: Table
    right_section: int | None
    trails_alike: tuple[bool, ...]
    notes: Table
    sections: list[Table]
    right_note: int | None
    gaps: Table  # of its own section
    right_gap: int | None


def main() -> None:
    """Fits, checks across vaults, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--seeds", default="10-17")
    parser.add_argument("--keep-sections", action="store_true", help="sections are weighed as they are now")
    options = parser.parse_args()
    kept = weights.vector(weights.SECTION, sections.FIGURES) if options.keep_sections else None
    vaults = options.vaults.split(",")
    examples: list[Example] = []
    for vault in vaults:
        root = vault_at(options.data, vault)
        place = Workspace(root, KEPT / vault, root / "inbox.md", load_params(None))
        examples += _examples(vault, place, seeds_of(options.seeds))
    for vault in vaults:
        others = [e for e in examples if _source(e.vault) != _source(vault)]
        _check(vault, others, [e for e in examples if e.vault == vault], kept)
    section, note = _fit(examples, kept)
    fitted = (
        ("NOTE", figures.FIGURES, note[: len(figures.FIGURES)]),
        ("NOTE_STANDARD", figures.FIGURES, note[len(figures.FIGURES) :]),
        ("SECTION", sections.FIGURES, section),
        ("GAP", placing.GAP_FIGURES, _fit_gaps(examples)),
    )
    for title, names, worth in fitted:
        print(f"\n{title}: Final[Mapping[str, float]] = {{")
        print("\n".join(f'    "{name}": {value:.2f},' for name, value in zip(names, worth, strict=True)) + "\n}")


def _source(vault: str) -> str:
    """What a vault was made of: one with collections, or a translation, is no other vault."""
    plain = vault.partition("+")[0]
    return "translations" if plain in OTHERS else plain


def _examples(vault: str, place: Workspace, seeds: Sequence[int]) -> Iterator[Example]:
    """The examples of some draws. Candidates come out of one index of the whole vault, figures from what is left."""
    notes = load_notes(place.vault, place.params.vault)
    cases = [make_case(vault, notes, seed, Sizes(24, 8, 0, 6)) for seed in seeds]
    texts = {path: note.text for path, note in notes.items()}
    whole = Case(vault, 0, texts, frozenset(), ())
    with tempfile.TemporaryDirectory() as folder:
        workspace = write_case(whole, place, Path(folder))
        embedder = StaticEmbedder()
        steps = DirectSteps(workspace, OfflineLibrarian(), embedder=embedder)
        steps.sync_tables()
        steps.sync_index()
        links = scorer_of(catalogue_of(workspace), steps.searcher, embedder).links
        for case in cases:
            left = notes | {path: parse(path, case.notes[path]) for path in case.changed}
            known = CandidateScorer(left.get, steps.searcher, embedder, links)
            yield from (_example(vault, known, item) for item in case.inbox if item.kind in _CUT)
        steps.close()


def _example(vault: str, known: CandidateScorer, item: LeftOutParagraph) -> Example:
    query = known.query(item.text)
    compared, table = known.compare(query, known.around(query))
    own = known.reading(item.path)
    assert own is not None
    alike = tuple(section.trail == item.trail for section in own.sections)
    paths = [reading.path for reading in compared]
    position, gap = _stood(own, item.gap)
    gaps, rows = placing.open_gaps(query, own, position, known.likings(query, own))
    return Example(
        vault,
        item.kind == "cut",
        known.section_figures(query, own),
        alike.index(True) if any(alike) else None,
        alike,
        table,
        [known.section_figures(query, reading) for reading in compared],
        paths.index(item.path) if item.path in paths else None,
        rows,
        gaps.index(gap) if gap in gaps else None,
    )


def _stood(own: NoteFeatures, above: int | None) -> tuple[int, int | None]:
    """The section below which so many blocks of the note stand above, and how many of its pieces; None: not known."""
    if above is None:
        return 0, None
    blocks = own.note.blocks
    end = blocks[above].start if above < len(blocks) else len(own.note.text) + 1
    position = max(
        n for n, section in enumerate(own.sections) if section.heading is None or section.heading.start < end
    )
    return position, sum(piece.block.start < end for piece in own.sections[position].pieces)


def _fit(every: Sequence[Example], kept: Table | None) -> tuple[Table, Table]:
    """The weights of sections, which are `kept` where that is given, and of notes."""
    examples = [e for e in every if e.is_prose]
    asked = [e for e in examples if e.right_section is not None and len(e.own_sections) > 1]
    section = kept
    if section is None:
        section = _logit([e.own_sections for e in asked], [e.right_section or 0 for e in asked], SECTION_PENALTY)
    _set_place(examples, section)
    known = [e for e in examples if e.right_note is not None]
    return section, _logit([_both(e.notes) for e in known], [e.right_note or 0 for e in known], NOTE_PENALTY)


def _both(notes: Table) -> Table:
    return np.hstack([notes, figures.standard_scores(notes)])


def _fit_gaps(examples: Sequence[Example]) -> Table:
    asked = [e for e in examples if e.right_gap is not None and len(e.gaps) > 1]
    return _logit([e.gaps for e in asked], [e.right_gap or 0 for e in asked], GAP_PENALTY)


def _check(vault: str, others: Sequence[Example], own: Sequence[Example], kept: Table | None) -> None:
    section, note = _fit(others, kept)
    gap = _fit_gaps(others)
    _set_place(own, section)
    prose = [e for e in own if e.is_prose]
    placed = [len(e.gaps) > 0 and int(np.argmax(e.gaps @ gap)) == e.right_gap for e in prose if e.right_gap is not None]
    at_home = [e for e in prose if e.right_note is not None and int(np.argmax(_both(e.notes) @ note)) == e.right_note]
    right = [e.trails_alike[int(np.argmax(e.own_sections @ section))] for e in at_home]
    by_words = np.mean([e.right_note is not None and int(np.argmax(e.notes[:, 0])) == e.right_note for e in prose])
    shares = f"home {len(at_home) / len(prose):.3f}  section {np.mean(right):.3f}  gap {np.mean(placed):.3f}"
    print(f"{vault:20} by words {by_words:.3f}  {shares}")


def _set_place(examples: Sequence[Example], section: Table) -> None:
    for example in examples:
        example.notes[:, _PLACE] = [figures.place_figure(table @ section) for table in example.sections]


def _logit(tables: Sequence[Table], right: Sequence[int], penalty: float) -> Table:
    """Weights by which the right rows are most likely, by Newton's method; figures are scaled to equal spread first."""
    rows = np.concatenate(tables)
    spread = rows.std(axis=0) + 1e-9
    asked = _Asked(rows / spread, [len(table) for table in tables], right, penalty)
    worth = np.zeros(rows.shape[1])
    cost = asked.cost(worth)
    for _ in range(_STEPS):
        slope, step = asked.step(worth)
        part = 1.0
        while asked.cost(worth - part * step) > cost - _LEAST_GAIN * part * float(slope @ step) and part > _LEAST_PART:
            part /= 2
        worth = worth - part * step
        before, cost = cost, asked.cost(worth)
        if before - cost < _LEAST_GAIN**2 * before:
            break
    result: Table = worth / spread
    return result


class _Asked:
    """Tables of figures, of each of which one row is right."""

    def __init__(self, rows: Table, lengths: Sequence[int], right: Sequence[int], penalty: float) -> None:
        self._rows = rows
        self._starts = np.cumsum([0, *lengths])[:-1]
        self._table = np.repeat(np.arange(len(lengths)), lengths)
        self._right = self._starts + np.array(right)
        self._penalty = penalty

    def cost(self, worth: Table) -> float:
        """How unlikely the right rows are by these weights, large weights punished."""
        scores = self._rows @ worth
        most = np.maximum.reduceat(scores, self._starts)
        sums = np.log(np.add.reduceat(np.exp(scores - most[self._table]), self._starts)) + most
        return float((sums - scores[self._right]).sum() + self._penalty / 2 * worth @ worth)

    def step(self, worth: Table) -> tuple[Table, Table]:
        """The slope of the cost, and Newton's step."""
        rows, starts = self._rows, self._starts
        scores = rows @ worth
        scores = np.exp(scores - np.maximum.reduceat(scores, starts)[self._table])
        likely = scores / np.add.reduceat(scores, starts)[self._table]
        means = np.add.reduceat(rows * likely[:, None], starts, axis=0)
        slope = means.sum(axis=0) - rows[self._right].sum(axis=0) + self._penalty * worth
        curve = (rows * likely[:, None]).T @ rows - means.T @ means + self._penalty * np.eye(len(worth))
        step: Table = np.linalg.solve(curve, slope)
        return slope, step


if __name__ == "__main__":
    main()
