"""The offline librarian: every decision from evidence, with no model, no network and no cost.

The same questions and the same answers as a model's, and the same rules hold for both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from infold.librarian.answers import (
    NO_NOTE,
    Chunk,
    EditRequest,
    Grouping,
    GroupRequest,
    Look,
    LookRequest,
    Summary,
    SummaryRequest,
)
from infold.librarian.articles import ArticleRequest, ArticleSummaries
from infold.librarian.base import ConversationTranscript
from infold.librarian.edit_answers import Edits
from infold.librarian.offline import grouping, tree_matching, view_policy, weights
from infold.librarian.offline.answering import extracted_answer
from infold.librarian.offline.articles import article_summaries
from infold.librarian.offline.candidate_scorer import CandidateScorer
from infold.librarian.offline.editing import Editing
from infold.librarian.offline.extracting import Extractor
from infold.librarian.offline.question_rules import planned
from infold.librarian.offline.reasons import why_none
from infold.librarian.offline.summaries import prose
from infold.librarian.offline.version import NAME
from infold.librarian.perspectives import PerspectiveRequest, extracted
from infold.librarian.prompts import DecisionKind
from infold.librarian.questions import AnswerRequest, CitedAnswer, Plan, PlanRequest
from infold.librarian.spend import CostMeter, Usage
from infold.librarian.theme_names import NamingRequest, ThemeNames, names_by_terms
from infold.librarian.trees import Home, HomeRequest
from infold.text import collapse_spaces

_HOMES: Final = 5  # notes that a paragraph may go to
_WEIGHED: Final = (DecisionKind.GROUP, DecisionKind.CHUNK)


class OfflineLibrarian:
    """Decides by evidence. Without evidence it can only summarise, group by order, and leave things where they are."""

    def __init__(self, evidence: CandidateScorer | None = None) -> None:
        self._evidence = evidence or CandidateScorer.of_nothing()
        self._spend = CostMeter()
        self._extractor = Extractor()

    @property
    def name(self) -> str:
        """Who decides, with the version of the algorithm."""
        return NAME

    def signature(self, kind: DecisionKind) -> str:
        """The name; of decisions that weigh notes, with the weights that they are taken by."""
        return f"{NAME} {weights.digest()}" if kind in _WEIGHED else NAME

    @property
    def spend(self) -> CostMeter:
        """A meter that stays at zero."""
        return self._spend

    def look_into(self, evidence: CandidateScorer) -> None:
        """Takes up the evidence of a vault that was made ready, in place of what it had."""
        self._evidence = evidence

    async def group(self, request: GroupRequest) -> Grouping:
        """Which paragraphs belong together."""
        vectors = self._evidence.vectors([paragraph.text for paragraph in request.paragraphs])
        groups = grouping.group(request.paragraphs, request.max_chunk_words, self._chances, vectors)
        return Grouping.model_validate({"groups": groups}, context={"request": request})

    def _chances(self, text: str) -> dict[str, float]:
        """The notes that paragraphs are grouped by: the one that says `text` already, else all that may take it."""
        cover = self._evidence.covering(text)
        if cover is not None:
            return {cover: 1.0}
        return {match.path: match.chance for match in self._evidence.rank(text)}

    async def summarise(self, request: SummaryRequest) -> Summary:
        """A summary out of the note's own sentences, or of its linked notes'."""
        return Summary(summary=await self._extractor.summary(request))

    async def summarise_together(self, request: PerspectiveRequest) -> Summary:
        """The sentences of the passages that say most of what is asked for."""
        passages = tuple((place, "\n\n".join(prose(text))) for place, text in request.passages)
        said = extracted(replace(request, passages=passages)) or collapse_spaces(passages[0][1])[:200]
        return Summary(summary=said)

    async def summarise_article(self, request: ArticleRequest) -> ArticleSummaries:
        """The summaries of an article's parts out of its own sentences."""
        return article_summaries(request)

    async def name_themes(self, request: NamingRequest) -> ThemeNames:
        """Names out of the themes' own terms."""
        return names_by_terms(request)

    async def find_home(self, request: HomeRequest) -> Home:
        """Which memory tree a document belongs to: where search found it, and whose words it has."""
        return tree_matching.home_of(request)

    async def plan(self, request: PlanRequest) -> Plan:
        """The calls that the question's own words ask for."""
        return planned(request)

    async def answer_question(self, request: AnswerRequest) -> CitedAnswer:
        """The sentences of the evidence that answer, as they are written."""
        return extracted_answer(request)

    def conversation(self, chunk: Chunk, transcript: ConversationTranscript = ()) -> OfflineConversation:  # noqa: ARG002
        """A conversation about one chunk. `transcript` is not needed: the same state always gives the same answer."""
        return OfflineConversation(chunk, self._evidence)

    async def close(self) -> None:
        """Ends the processes that made summaries."""
        self._extractor.close()


class OfflineConversation:
    """One chunk, from first look to edits."""

    def __init__(self, chunk: Chunk, evidence: CandidateScorer) -> None:
        self._chunk = chunk
        self._evidence = evidence

    @property
    def transcript(self) -> ConversationTranscript:
        """Nothing needs to be remembered."""
        return ()

    @property
    def usage(self) -> Usage:
        """Nothing is paid."""
        return Usage()

    async def look(self, request: LookRequest) -> Look:
        """Which notes to view next, or to check out."""
        homes = {paragraph.n: homes_of(paragraph.text, self._evidence) for paragraph in request.chunk.paragraphs}
        ranked = [self._evidence.rank(paragraph.text) for paragraph in request.chunk.paragraphs]
        nowhere = why_none(ranked, self._evidence.least_chance) or NO_NOTE
        return view_policy.look(request, homes, self._evidence.backlinks, nowhere)

    async def edit(self, request: EditRequest) -> Edits:
        """Each paragraph to the open note, and the place in it, where it reads on; or a duplicate; or left out."""
        return Editing(request, self._evidence).answer()


def homes_of(text: str, evidence: CandidateScorer) -> dict[str, float]:
    """The notes a paragraph may go to, with their chances; the note that covers it already, where there is one."""
    cover = evidence.covering(text)
    if cover is not None:
        return {cover: 1.0}
    return {match.path: match.chance for match in evidence.rank(text)[:_HOMES] if match.is_fit}
