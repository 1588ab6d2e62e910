"""A model librarian against a real local server that speaks the OpenAI protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infold.environment import Environment
from infold.librarian.answers import (
    Chunk,
    EditRequest,
    GroupRequest,
    LookRequest,
    NoteCard,
    OpenNote,
    Paragraph,
    SummaryRequest,
)
from infold.librarian.decisions import DecisionStore
from infold.librarian.model import ModelLibrarian
from infold.librarian.spend import CostMeter
from infold.settings import EditingParams, LibrarianParams
from tests.fakes.openai_server import FakeOpenAI, serving

TEA = "# Tea\n\nGreen tea is steeped at eighty degrees.\n\nBlack tea takes boiling water.\n"
WHITE = "White tea wants seventy degrees and five minutes."
KEY = "sk-very-secret-key-0123456789"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A fresh server for each test."""
    with serving() as fake:
        yield fake


@pytest.fixture
def store(tmp_path: Path) -> DecisionStore:
    """An empty store of decisions."""
    return DecisionStore(tmp_path / "decisions")


@pytest.fixture
async def librarian(server: FakeOpenAI, store: DecisionStore) -> AsyncIterator[Callable[..., ModelLibrarian]]:
    """Makes model librarians for `server`, with parameters by keyword; closes them at the end."""
    made: list[ModelLibrarian] = []

    def make(
        *,
        url: str | None = None,
        key: str | None = KEY,
        concurrency: int = 8,
        max_corrections: int = 3,
        spend: CostMeter | None = None,
        into: DecisionStore = store,
        **params: Any,
    ) -> ModelLibrarian:
        values = {"kind": "model", "model": "test-model", "timeout_seconds": 60, "max_retries": 2, **params}
        environment = Environment(OPENAI_BASE_URL=server.url if url is None else url, OPENAI_API_KEY=key)
        editing = EditingParams(max_corrections=max_corrections)
        made.append(ModelLibrarian(LibrarianParams(**values), editing, environment, into, concurrency, spend=spend))
        return made[-1]

    yield make
    for each in made:
        await each.close()


def group_request(*texts: str) -> GroupRequest:
    """Paragraphs to group, numbered from 1."""
    return GroupRequest(
        tuple(Paragraph(n, text) for n, text in enumerate(texts or ("one", "two"), 1)), ("tea.md",), 600
    )


def summary_request(text: str = "Tea is a drink. " * 40) -> SummaryRequest:
    """A note to summarise."""
    return SummaryRequest("tea.md", "Tea", text, None, (75, 100))


def chunk(text: str = WHITE) -> Chunk:
    """A chunk of one paragraph."""
    return Chunk(1, (Paragraph(1, text),))


def card(path: str, *links: str) -> NoteCard:
    """A note as exploration shows it."""
    return NoteCard(path, path.removesuffix(".md"), (f"# {path}",), links)


def look_request(text: str = WHITE, *, viewed: tuple[NoteCard, ...] | None = None, left: int = 2) -> LookRequest:
    """A round of exploration: the root is viewed, tea and coffee are available."""
    shown = viewed or (card("index.md", "tea.md", "coffee.md"),)
    rest = tuple(card(path) for path in ("tea.md", "coffee.md") if path not in {c.path for c in shown})
    summaries = {path: f"About {path}." for path in ("index.md", "tea.md", "coffee.md")}
    return LookRequest(chunk(text), shown, rest, summaries, 3 - left, left, 4 if left else 0, 3)


def edit_request(text: str = WHITE, note: str = TEA, refused: str = "") -> EditRequest:
    """The chunk beside one checked-out note."""
    return EditRequest(chunk(text), (OpenNote("tea.md", note),), EditingParams(), refused)
