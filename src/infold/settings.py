"""The parameters of each step (`params.yaml`).

Parameters change results, so they are versioned with the work and are part of decision keys where they matter. Hosts,
keys and paths never are: they belong to `infold.environment`. A misspelt name is an error, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
)

from infold.cron import Cron
from infold.errors import SettingInvalid

EMBEDDING_PROVIDERS: Final = Path(__file__).parent / "search" / "embed" / "providers"


class Section(BaseModel):
    """One section of `params.yaml`: frozen, and strict about names."""

    # What checks a section is built when one is checked: for all of them that takes longer than a search does.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _word_range(value: object) -> object:
    if isinstance(value, str):
        low, dash, high = value.partition("-")
        if dash and low.strip().isdigit() and high.strip().isdigit():
            return (int(low), int(high))
    return value


WordRange = Annotated[
    tuple[int, int], BeforeValidator(_word_range), PlainSerializer(lambda r: f"{r[0]}-{r[1]}", return_type=str)
]


class VaultParams(Section):
    """Where the notes are and which files count as notes (spec 1, Configuration: Paths)."""

    path: str = "data/vault"
    notes_directory: str = "."
    root_file: str = "index.md"
    inbox_file: str = "inbox.md"
    max_note_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)


class SummaryParams(Section):
    """How notes are summarised (spec 1, Phase 2)."""

    summary_target_words: WordRange = (75, 100)
    index_filename_pattern: str = "index"
    batch_size: int = Field(default=256, ge=1)


class ChunkingParams(Section):
    """How paragraphs become chunks (spec 1, Phase 1)."""

    max_chunk_words: int = Field(default=600, ge=1)
    granularity_sample_size: int = Field(default=15, ge=0)
    granularity_sample_min_words: int = Field(default=300, ge=0)
    max_words_per_request: int = Field(default=8000, ge=100)
    max_paragraph_characters: int = Field(default=20_000, ge=1000)
    seed: int = 0


class ExplorationParams(Section):
    """How far a chunk's librarian may look (spec 1, Limits). `search_candidates: 0` is the bare link walk."""

    max_exploration_rounds: int = Field(default=3, ge=0)
    max_files_viewed_per_round: int = Field(default=4, ge=1)
    max_files_viewed_total: int = Field(default=15, ge=1)
    max_files_checked_out: int = Field(default=3, ge=1)
    search_candidates: int = Field(default=8, ge=0)


class EditingParams(Section):
    """What an edit may do (spec 1, Phase 4, and the guard of DESIGN)."""

    max_corrections: int = Field(default=3, ge=0)
    max_removed_words: int = Field(default=3, ge=0)
    min_kept_share: float = Field(default=0.4, ge=0, le=1)
    min_duplicate_share: float = Field(default=0.25, ge=0, le=1)
    min_confidence: float = Field(default=0.2, ge=0, le=1)


class IntegrateParams(Section):
    """How a run is carried out."""

    concurrency: int = Field(default=8, ge=1)
    quiet_seconds: float = Field(default=2.0, ge=0)
    plan_days: int = Field(default=14, ge=1)
    max_recheckouts: int = Field(default=3, ge=0)
    max_paragraphs: int = Field(default=300, ge=1)
    approval: bool = False
    approval_hours: float = Field(default=24, gt=0)


class LibrarianParams(Section):
    """Who takes the decisions, and what it may cost. None means no cap."""

    kind: Literal["offline", "model"] = "offline"
    model: str = "gpt-5-mini"
    mode: Literal["json_schema", "tools", "md_json"] = "json_schema"
    temperature: float | None = None
    max_answer_tokens: int = Field(default=8000, ge=1)
    timeout_seconds: float = Field(default=120, gt=0)
    give_up_seconds: float = Field(default=240, gt=0)
    max_retries: int = Field(default=4, ge=0)
    max_usd: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)
    max_usd_per_day: float | None = Field(default=None, ge=0)
    max_tokens_per_day: int | None = Field(default=None, ge=0)


Fusion = Literal["strength", "ranks"]


def _embedding_provider(name: str) -> str:
    """A value of `search.embedding`: each module of `search.embed.providers` is one, and none is loaded for it."""
    from pkgutil import iter_modules  # here, because the default needs no check

    known = sorted(module.name for module in iter_modules([str(EMBEDDING_PROVIDERS)]))
    if name not in known:
        raise ValueError(f"{name!r} is none of {', '.join(known)}")
    return name


class SearchParams(Section):
    """How passages are cut, embedded and searched (spec 3, sections 5, 6 and 12)."""

    passage_tokens: int = Field(default=400, ge=16)
    overlap_tokens: int = Field(default=80, ge=0)
    max_passages: int = Field(default=1500, ge=1)
    language: str = "auto"
    embedding: Annotated[str, AfterValidator(_embedding_provider)] = "auto"
    embedding_model: str | None = None
    fusion: Fusion = "strength"
    fusion_k: int = Field(default=60, ge=1)
    dense_weight: float | None = Field(default=None, ge=0)
    max_results: int = Field(default=15, ge=1)
    min_score: float = Field(default=0.25, ge=0, le=1)
    sync_on_search: bool = True


class WatchParams(Section):
    """How a watched vault is followed (spec 3, Sync)."""

    debounce_seconds: float = Field(default=1.5, ge=0)
    reconcile_seconds: float = Field(default=300, ge=1)
    polling: bool = False
    integrate: Literal["plan", "apply"] = "plan"
    inbox_rest_seconds: float = Field(default=120, ge=0)
    resident_minutes: float = Field(default=15, ge=0)


class NotebookParams(Section):
    """The notebook of an agent: its folders, its daily log, what is always loaded (spec 3, sections 3, 6 and 12)."""

    reference_folder: str = "reference"
    daily_folder: str | None = None
    daily_format: str | None = None
    repeat_seconds: int = Field(default=60, ge=0)
    context_days: int = Field(default=2, ge=0)
    context_file_characters: int = Field(default=8000, ge=1)
    context_total_characters: int = Field(default=32000, ge=1)


class DocmemParams(Section):
    """When memories are summarised by the librarian (spec 2, Future Requirements / Summarization)."""

    summarise: Literal["auto", "manual"] = "auto"
    summarise_after: int = Field(default=30, ge=2)
    summarise_run: int = Field(default=10, ge=2)
    keep_recent: int = Field(default=10, ge=0)


class KnowledgeParams(Section):
    """Where new notes go, by category (spec 4, Vault Structure)."""

    inbox_folder: str = "inbox"
    projects_folder: str = "projects"
    reference_folder: str = "library"
    archive_folder: str = "archive"
    sync_to: Literal["note", "inbox"] = "note"


class ResearchParams(Section):
    """What is brought in from outside, how much of it and how politely (spec 4, External Knowledge)."""

    max_page_bytes: int = Field(default=10_000_000, ge=1000)
    timeout_seconds: float = Field(default=20, gt=0)
    max_redirects: int = Field(default=5, ge=0)
    max_retries: int = Field(default=2, ge=0)
    max_pages: int = Field(default=50, ge=1)
    concurrency: int = Field(default=4, ge=1)
    delay_seconds: float = Field(default=1.0, ge=0)
    robots: bool = True
    keep: Literal["whole", "compressed"] = "whole"
    watch_days: float = Field(default=7, gt=0)
    browser_for: str = ""


class AgentParams(Section):
    """The vault's own agent (`infold chat`): its tools, and how far one turn of it goes (spec 3, section 7)."""

    tools: str = "memory,navigator,inbox"
    max_steps: int = Field(default=12, ge=1, le=100)
    context_tokens: int = Field(default=32000, ge=1000)
    compact_at: float = Field(default=0.8, gt=0, le=1)
    sync_on_start: bool = True


class EvaluateParams(Section):
    """How well text is filed and found, measured on the vault's own notes."""

    seeds: str = "0-2"
    paragraphs: int = Field(default=24, ge=1)
    questions: int = Field(default=150, ge=1)
    resamples: int = Field(default=2000, ge=100)
    tolerance: float = Field(default=0.05, ge=0, le=1)

    @field_validator("seeds", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("seeds")
    @classmethod
    def _names_numbers(cls, value: str) -> str:
        seeds_of(value)
        return value


class SchedulesParams(Section):
    """When `infold flows up` runs each flow: five cron fields in local time; None is never. A field a served flow."""

    integrate: Cron = None
    preprocess: Cron = "15 * * * *"
    sessions: Cron = "0 * * * *"
    memory: Cron = "30 * * * *"
    daily_summary: Cron = "59 23 * * *"
    research: Cron = "45 5 * * *"
    evaluate: Cron = None


def seeds_of(said: str) -> tuple[int, ...]:
    """`0,1,2` or `10-19` as numbers, each once. Raises ValueError."""
    found: dict[int, None] = {}
    for part in said.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise ValueError(f"{said!r} is not of the form 0,1,2 or 0-2")
        found |= dict.fromkeys(range(int(first), int(last or first) + 1))
    return tuple(found)


class Params(Section):
    """All of `params.yaml`, one section a step."""

    vault: VaultParams = VaultParams.model_construct()
    summary: SummaryParams = SummaryParams.model_construct()
    chunking: ChunkingParams = ChunkingParams.model_construct()
    exploration: ExplorationParams = ExplorationParams.model_construct()
    editing: EditingParams = EditingParams.model_construct()
    integrate: IntegrateParams = IntegrateParams.model_construct()
    librarian: LibrarianParams = LibrarianParams.model_construct()
    search: SearchParams = SearchParams.model_construct()
    watch: WatchParams = WatchParams.model_construct()
    notebook: NotebookParams = NotebookParams.model_construct()
    docmem: DocmemParams = DocmemParams.model_construct()
    knowledge: KnowledgeParams = KnowledgeParams.model_construct()
    research: ResearchParams = ResearchParams.model_construct()
    agent: AgentParams = AgentParams.model_construct()
    evaluate: EvaluateParams = EvaluateParams.model_construct()
    schedules: SchedulesParams = SchedulesParams.model_construct()


def _value_of(raw: str) -> object:
    """What stands behind the sign: YAML, else the text itself, such as the fields of a schedule that begin with `*`."""
    try:
        return yaml.safe_load(raw)
    except yaml.YAMLError:
        return raw


def load_params(path: Path | None, overrides: list[str] | None = None) -> Params:
    """The parameters in the YAML file at `path` (defaults where it is None), then `section.name=value` overrides.

    Raises SettingInvalid, naming file and setting, for what cannot be read, is misspelt or out of range.
    """
    values: dict[str, Any] = {}
    where = "defaults"
    if path is not None:
        where = str(path)
        try:
            loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise SettingInvalid(f"There is no file of settings {path}.", hint="Name one that is there.") from error
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise SettingInvalid(
                f"{path} cannot be read as YAML: {error}", hint="Correct or remove the file."
            ) from error
        if loaded is not None and not isinstance(loaded, dict):
            raise SettingInvalid(f"{path} must be a mapping of sections.", hint="See params.yaml for its form.")
        values = loaded or {}
    for override in overrides or []:
        name, equals, raw = override.partition("=")
        section, dot, key = name.partition(".")
        if not (equals and dot and key):
            raise SettingInvalid(f"--set {override!r} is not of the form section.name=value.")
        section_values = values.setdefault(section, {})
        if not isinstance(section_values, dict):
            raise SettingInvalid(f"Section {section!r} in {where} must be a mapping.")
        section_values[key] = _value_of(raw)
    try:
        return _checked(values)
    except ValidationError as error:
        first = error.errors()[0]
        setting = ".".join(str(part) for part in first["loc"])
        if any(f"{override.partition('=')[0]}.".startswith(f"{setting}.") for override in overrides or []):
            where = "--set"
        if first["type"] != "extra_forbidden":
            raise SettingInvalid(
                f"Setting {setting} ({where}): {first['msg'].removeprefix('Value error, ')}.",
                hint="`infold status --settings` shows every name.",
            ) from error
        near = _nearest(setting)
        raise SettingInvalid(
            f"There is no setting {setting} ({where}).",
            hint=f"Did you mean {near}?" if near else "`infold status --settings` shows every name.",
        ) from error


def _nearest(setting: str) -> str:
    """The setting of its section, or the section, whose name comes near; '' where none does."""
    from difflib import get_close_matches

    section, dot, name = setting.partition(".")
    known = list(_SECTIONS[section].model_fields) if dot and section in _SECTIONS else list(_SECTIONS)
    near = next(iter(get_close_matches(name or section, known, 1)), "")
    return f"{section}.{near}" if near and dot else near


def _checked(values: Mapping[str, Any]) -> Params:
    """The parameters with these sections checked. The others are the defaults, which need no check."""
    try:
        given: dict[str, Any] = {name: _SECTIONS[name].model_validate(section) for name, section in values.items()}
    except (KeyError, ValidationError):
        return Params.model_validate(values)  # which names the section in what it raises
    return Params.model_construct(**given)


_SECTIONS: Final[Mapping[str, type[Section]]] = {
    name: type(field.get_default()) for name, field in Params.model_fields.items()
}
