"""The librarian's requests and typed answers. The rules of the specification are the validators.

A request is a frozen record of what the librarian sees. An answer is a pydantic model; its validators find the request
in the validation context (`context={"request": request}`) and say, in words a model can act on, what is wrong: an
unknown file, a fifth view, a find text that matches twice, a 130-word summary. Whoever asked sends that back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from infold.settings import EditingParams
from infold.text import counted, word_count


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One numbered block of the inbox. `trail`: the inbox's own headings above it."""

    n: int
    text: str
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A group of paragraphs that belong together (spec 1, Phase 1). Ids count from 1."""

    id: int
    paragraphs: tuple[Paragraph, ...]

    @property
    def text(self) -> str:
        """The paragraphs, a blank line between them."""
        return "\n\n".join(p.text for p in self.paragraphs)


@dataclass(frozen=True, slots=True)
class NoteCard:
    """What exploration may show of a note beside its summary: never its full text (spec 1, State Model).

    `headings` are lines as written (`## Section`); `links` are the paths it links to, in order, each once.
    """

    path: str
    title: str
    headings: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenNote:
    """A checked-out note: its full text as it is now."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """The numbered paragraphs and the sampled names that show how fine the notes are."""

    paragraphs: tuple[Paragraph, ...]
    sample_names: tuple[str, ...]
    max_chunk_words: int


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One note to summarise: from its text, or for an index note from its linked notes' (name, summary) pairs."""

    path: str
    title: str
    text: str
    linked: tuple[tuple[str, str], ...] | None
    target_words: tuple[int, int]


@dataclass(frozen=True, slots=True)
class LookRequest:
    """The state of one exploration round (spec 1, Exploration Flow).

    `summaries` holds the summary of every note that is shown or linked; read where somebody looks at one.
    """

    chunk: Chunk
    viewed: tuple[NoteCard, ...]
    available: tuple[NoteCard, ...]
    summaries: Mapping[str, str]
    round: int
    rounds_left: int  # after this one; 0 with may_view 0 means: check out now
    may_view: int  # files that may still be viewed in this answer
    may_check_out: int


@dataclass(frozen=True, slots=True)
class EditRequest:
    """The chunk and the full text of what was checked out. `refused`: what a former edit ran into, else ''."""

    chunk: Chunk
    notes: tuple[OpenNote, ...]
    params: EditingParams
    refused: str = ""

    def note(self, path: str) -> OpenNote | None:
        """The checked-out note of that path."""
        return next((note for note in self.notes if note.path == path), None)


class Answer(BaseModel):
    """The base of all answers. Unknown keys are ignored: models like to add remarks."""

    model_config = ConfigDict(extra="ignore")


def request_of(info: ValidationInfo) -> Any:
    """What the answer under validation was asked for; None where nobody says."""
    return (info.context or {}).get("request")


class Grouping(Answer):
    """Groups of paragraph numbers: every paragraph in exactly one group, no group over the word limit."""

    groups: list[list[int]] = Field(description="Groups of paragraph numbers that belong together.")

    @model_validator(mode="after")
    def _each_paragraph_once(self, info: ValidationInfo) -> Self:
        request: GroupRequest | None = request_of(info)
        if request is None:
            return self
        known = {p.n: p for p in request.paragraphs}
        named = [n for group in self.groups for n in group]
        unknown = sorted({n for n in named if n not in known})
        twice = sorted({n for n in named if named.count(n) > 1})
        missing = sorted(set(known) - set(named))
        problems = [
            f"{what}: {', '.join(map(str, numbers))}"
            for what, numbers in (
                ("no such paragraph", unknown),
                ("paragraph in more than one group", twice),
                ("paragraph in no group", missing),
            )
            if numbers
        ]
        for group in self.groups:
            total = sum(word_count(known[n].text) for n in group if n in known)
            if len(group) > 1 and total > request.max_chunk_words:
                problems.append(f"group {group} has {total} words, the limit is {request.max_chunk_words}: split it")
        if problems:
            raise ValueError("; ".join(problems))
        self.groups = [group for group in self.groups if group]
        return self


class Summary(Answer):
    """A summary within the target word range."""

    summary: str = Field(description="The summary: plain prose, as many words as were asked for.")

    @model_validator(mode="after")
    def _within_range(self, info: ValidationInfo) -> Self:
        request: SummaryRequest | None = request_of(info)
        if request is not None:
            low, high = request.target_words
            count = word_count(self.summary)
            if not low <= count <= high:
                raise ValueError(f"the summary has {count} words; it must have {low} to {high}")
        return self


NO_NOTE: Final = "no note of the vault speaks of this text"


class Look(Answer):
    """The next step of an exploration: view available notes, or check out viewed ones."""

    action: Literal["view", "checkout"] = Field(
        description="'view' to see more of AVAILABLE files, 'checkout' when ready."
    )
    files: list[str] = Field(description="view: AVAILABLE files; checkout: VIEWED files. Paths exactly as shown.")
    reason: str = Field(default="", description="checkout of no file: why none of them fits.")

    @model_validator(mode="after")
    def _within_limits(self, info: ValidationInfo) -> Self:
        request: LookRequest | None = request_of(info)
        if request is None:
            return self
        self.files = list(dict.fromkeys(self.files))
        if self.action == "view":
            if request.may_view == 0:
                raise ValueError("no more files can be viewed: answer with action 'checkout'")
            _check_files(self.files, {c.path for c in request.available}, request.may_view, "view", "AVAILABLE")
        else:
            _check_files(self.files, {c.path for c in request.viewed}, request.may_check_out, "check out", "VIEWED")
        return self


def _check_files(files: list[str], allowed: set[str], most: int, verb: str, state: str) -> None:
    if len(files) > most:
        raise ValueError(f"you may {verb} {counted(most, 'file')} now, not {len(files)}")
    unknown = [path for path in files if path not in allowed]
    if unknown:
        raise ValueError(f"you can only {verb} {state} files; not {state}: {', '.join(unknown)}")


class Edit(Answer):
    """One find/replace block, or a duplicate marker."""

    file: str = Field(description="A CHECKED OUT file, path exactly as shown.")
    find: str = Field(description="Text that stands in the file exactly once.")
    replace: str | None = Field(default=None, description="What takes its place; omit for a duplicate marker.")
    is_duplicate: bool = Field(default=False, description="True where `find` already covers the text.")
    paragraphs: list[int] = Field(
        default_factory=list, description="Numbers of the chunk's paragraphs this edit takes care of; empty means all."
    )
    reason: str = Field(default="", description="Why this file and this place, in a dozen words at most.")


class LeftOut(Answer):
    """A paragraph that fits none of the checked-out notes."""

    paragraph: int
    reason: str


class ProposedEdits(Answer):
    """The edits of one chunk as they were said; `edit_answers.Edits` are those that keep the rules."""

    action: Literal["edit"] = "edit"
    edits: list[Edit]
    left: list[LeftOut] = Field(
        default_factory=list, description="Paragraphs that fit none of the files, each with the reason."
    )

    def paragraphs_of(self, edit: Edit, chunk: Chunk) -> list[int]:
        """The paragraphs an edit takes care of: those it names, else all that are not left out."""
        if edit.paragraphs:
            return edit.paragraphs
        left = {entry.paragraph for entry in self.left}
        return [p.n for p in chunk.paragraphs if p.n not in left]
