"""What a librarian promises, whoever it is: kinds of decision, typed, metered, reproducible by name."""

from __future__ import annotations

from typing import Any, Protocol

from infold.librarian.answers import (
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
from infold.librarian.edit_answers import Edits
from infold.librarian.perspectives import PerspectiveRequest
from infold.librarian.prompts import DecisionKind
from infold.librarian.questions import AnswerRequest, CitedAnswer, Plan, PlanRequest
from infold.librarian.spend import CostMeter, Usage
from infold.librarian.theme_names import NamingRequest, ThemeNames
from infold.librarian.trees import Home, HomeRequest

# Messages as a model endpoint takes them; JSON values only.
ConversationTranscript = tuple[dict[str, Any], ...]


class Conversation(Protocol):
    """One chunk, from first look to last correction: each call sees what was said before."""

    @property
    def transcript(self) -> ConversationTranscript:
        """What was said so far, to be carried to a later step; empty where nothing needs to be remembered."""

    @property
    def usage(self) -> Usage:
        """What this conversation object has cost since it was made."""

    async def look(self, request: LookRequest) -> Look:
        """Which notes to view next, or to check out."""

    async def edit(self, request: EditRequest) -> Edits:
        """Edits that `rules.check_edits` lets pass. Asked again after a re-checkout, it goes on with new texts."""


class Librarian(Protocol):
    """Takes the decisions. Every answer has passed its validators; a LibrarianFault says why one could not be had."""

    @property
    def name(self) -> str:
        """Who decides: the model and its temperature, or the version of the offline algorithm."""

    def signature(self, kind: DecisionKind) -> str:
        """The name, with the version of this kind's prompts: part of the key of every decision of the kind."""

    @property
    def spend(self) -> CostMeter:
        """The meter that all of this librarian's calls share."""

    async def group(self, request: GroupRequest) -> Grouping:
        """Which paragraphs belong together."""

    async def summarise(self, request: SummaryRequest) -> Summary:
        """A summary of one note."""

    async def summarise_together(self, request: PerspectiveRequest) -> Summary:
        """One summary of several passages, from a perspective."""

    async def summarise_article(self, request: ArticleRequest) -> ArticleSummaries:
        """The contextual summaries of an article's parts, each exactly once."""

    async def name_themes(self, request: NamingRequest) -> ThemeNames:
        """A name for each theme, and what its notes are about."""

    async def find_home(self, request: HomeRequest) -> Home:
        """Which memory tree a document belongs to, or none."""

    async def plan(self, request: PlanRequest) -> Plan:
        """Which calls find what answers a question."""

    async def answer_question(self, request: AnswerRequest) -> CitedAnswer:
        """What the evidence says about a question, each statement with its places."""

    def conversation(self, chunk: Chunk, transcript: ConversationTranscript = ()) -> Conversation:
        """A conversation about one chunk, new or taken up from `transcript`."""

    async def close(self) -> None:
        """Lets go of connections."""
