"""Which memories of a tree are due for a summary, and which summaries no longer say what is below them.

Only looking; the words come from the librarian, the writing from `condensing`. Due are the oldest memories of a parent
that has gathered more than `docmem.summarise_after` without a summary, in runs of `docmem.summarise_run` or as many as
say `COMPRESSION` times the words of a summary, the latest `docmem.keep_recent` left out: few words are no shorter for
being summarised. A group that sticks together is never divided. What nobody asked to have summarised is smaller
(`by_itself`): no readonly nodes, which are documents and transcripts, no notes beside nodes, and nothing that was taken
out of a summary before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from infold.docmem import marks, stale
from infold.docmem.budgeted_expansion import STICKY
from infold.docmem.notes import NOTE_OF
from infold.text import word_count

if TYPE_CHECKING:
    from infold.docmem.lookup import Lookup
    from infold.docmem.node import Node
    from infold.settings import Params

COMPRESSION: Final = 2  # a run has at least so many times the fewest words of a summary

_CROWDED: Final = """
WITH RECURSIVE tree (id, parent_id, context_type) AS (
    SELECT id, parent_id, context_type FROM nodes WHERE id = ?1
    UNION ALL
    SELECT n.id, n.parent_id, n.context_type FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
)
SELECT p.id FROM tree p JOIN nodes n ON n.parent_id = p.id
WHERE p.context_type != 'summary' AND n.context_type != 'summary'
    AND NOT EXISTS (SELECT 1 FROM nodes b WHERE b.parent_id = n.id)
GROUP BY p.id HAVING count(*) > ?2 ORDER BY p.id
"""

_LEFT_ALONE: Final = """
SELECT n.id FROM nodes n WHERE n.parent_id = ? AND (
    n.readonly OR n.context_type = 'note'
    OR EXISTS (SELECT 1 FROM history h WHERE h.node_id = n.id AND h.operation = 'unsummarise')
)
"""


@dataclass(frozen=True, slots=True)
class SummaryDue:
    """Memories to be summarised: new ones in a row, or those below the `summary` that is no longer theirs."""

    nodes: tuple[Node, ...]
    summary: Node | None = None

    @property
    def parent_id(self) -> str:
        """The node whose children they are."""
        return str(self.nodes[0].parent_id)

    @property
    def text(self) -> str:
        """What they say, in reading order."""
        return "\n\n".join(node.text for node in self.nodes if node.text.strip())

    @property
    def digest(self) -> str:
        """Changes with each text and their order."""
        return stale.digest_of(self.nodes)


def new_runs(rows: Lookup, root_id: str, params: Params, *, by_itself: bool = False) -> Iterator[SummaryDue]:
    """What is due from a node down, parent by parent, oldest first. Raises NodeNotFound."""
    rows.get(root_id)
    crowded = rows.connection.execute(_CROWDED, (root_id, params.docmem.summarise_after)).fetchall()
    for (parent_id,) in crowded:
        yield from runs_below(rows, parent_id, params, by_itself=by_itself)


def runs_below(rows: Lookup, parent_id: str, params: Params, *, by_itself: bool = False) -> Iterator[SummaryDue]:
    """What is due among the children of one node, oldest first."""
    apart = _parents(rows, parent_id)
    if by_itself:
        apart |= {row[0] for row in rows.connection.execute(_LEFT_ALONE, (parent_id,))}
    sticky = marks.marked(rows, STICKY)
    for note, about in marks.marked(rows, NOTE_OF).items():  # a note goes with its node
        sticky[note] = sticky.setdefault(about, f"notes of {about}")
    for run in runs_of(list(rows.children(parent_id)), apart, sticky, params):
        yield SummaryDue(tuple(run))


def to_be_renewed(rows: Lookup, root_id: str) -> Iterator[SummaryDue]:
    """Automatic summaries that are stale, with what stands below them now. Raises NodeNotFound."""
    for summary in stale.stale_summaries(rows, root_id):
        children = tuple(rows.children(summary.id))
        if children and not summary.readonly and stale.is_automatic(rows, summary):
            yield SummaryDue(children, summary)


def runs_of(
    children: Sequence[Node], apart: set[str], sticky: Mapping[str, str], params: Params
) -> Iterator[list[Node]]:
    """The runs among the children of one node without those `apart`; none where they have not gathered."""
    limits = params.docmem
    loose = [node for node in children if not node.is_summary and node.id not in apart]
    if len(loose) <= limits.summarise_after:
        return
    old = {node.id for node in (loose[: -limits.keep_recent] if limits.keep_recent else loose)}
    words = COMPRESSION * params.summary.summary_target_words[0]
    for is_old, row in groupby(children, key=lambda node: node.id in old):
        if is_old:
            yield from _divided(_whole_groups(list(row), children, sticky), limits.summarise_run, words)


def _whole_groups(row: list[Node], children: Sequence[Node], sticky: Mapping[str, str]) -> list[list[Node]]:
    """A row as units that are not divided; without a group of which a part stands elsewhere."""
    size: dict[str, int] = {}
    for node in children:
        if node.id in sticky:
            size[sticky[node.id]] = size.get(sticky[node.id], 0) + 1
    units: list[list[Node]] = []
    reach = -1  # the last place that a group which has begun comes to
    last = {sticky[node.id]: at for at, node in enumerate(row) if node.id in sticky}
    for at, node in enumerate(row):
        if at > reach:
            units.append([])
        units[-1].append(node)
        reach = max(reach, last.get(sticky.get(node.id, ""), at))
    held = {group: sum(sticky.get(node.id) == group for node in row) for group in size}
    return [
        unit if all(held[sticky[node.id]] == size[sticky[node.id]] for node in unit if node.id in sticky) else []
        for unit in units
    ]


def _divided(units: Sequence[list[Node]], count: int, words: int) -> Iterator[list[Node]]:
    """Runs of `count` nodes, of more where these say fewer than `words` or a group is longer. An empty unit parts.

    What is left over waits for more.
    """
    run: list[Node] = []
    for unit in units:
        if run and (not unit or len(run) + len(unit) > count) and len(run) > 1 and _words_of(run) >= words:
            yield run
            run = []
        run = [*run, *unit] if unit else []
        if len(run) >= count and _words_of(run) >= words:
            yield run
            run = []


def _words_of(nodes: Sequence[Node]) -> int:
    return sum(word_count(node.text) for node in nodes)


def _parents(rows: Lookup, parent_id: str) -> set[str]:
    """The children of a node that have children themselves."""
    query = "SELECT DISTINCT n.id FROM nodes n JOIN nodes b ON b.parent_id = n.id WHERE n.parent_id = ?"
    return {row[0] for row in rows.connection.execute(query, (parent_id,))}
