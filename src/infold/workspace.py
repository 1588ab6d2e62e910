"""Where one vault and what infold keeps about it lie. Paths only; no file is read or written here.

What is derived from the vault can be deleted and comes back; what is kept (decisions paid for, runs) cannot, so the two
lie apart (DESIGN, promise 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infold.environment import Environment

if TYPE_CHECKING:
    from infold.settings import Params


@dataclass(frozen=True, slots=True)
class Workspace:
    """A vault, its inbox, its state folder and the parameters in force. All paths are absolute."""

    vault: Path
    state: Path
    inbox: Path
    params: Params

    @property
    def inbox_path(self) -> str:
        """The inbox as records name it: vault-relative where it lies in the vault, else absolute."""
        if self.inbox.is_relative_to(self.vault):
            return self.inbox.relative_to(self.vault).as_posix()
        return str(self.inbox)

    @property
    def tables(self) -> Path:
        """Parquet of notes, links and passages, where it was exported."""
        return self.state / "derived" / "tables"

    @property
    def catalogue(self) -> Path:
        """What every note says of itself: one SQLite file. It lies beside the index, which is made from it."""
        return self.state / "derived" / "catalogue.sqlite"

    @property
    def summaries(self) -> Path:
        """Part files of summaries."""
        return self.state / "derived" / "summaries"

    @property
    def embeddings(self) -> Path:
        """Part files of embeddings."""
        return self.state / "derived" / "embeddings"

    @property
    def index(self) -> Path:
        """The search index."""
        return self.state / "derived" / "index"

    @property
    def decisions(self) -> Path:
        """Answers already paid for, by content."""
        return self.state / "kept" / "decisions"

    @property
    def spending(self) -> Path:
        """What was spent on each day, and estimates that wait to be agreed to."""
        return self.state / "kept" / "spending"

    @property
    def runs(self) -> Path:
        """One folder a run."""
        return self.state / "kept" / "runs"

    @property
    def docmem(self) -> Path:
        """The store of all memory trees."""
        return self.state / "kept" / "docmem.sqlite"

    @property
    def navigator_nodes(self) -> Path:
        """Imported articles as nodes."""
        return self.state / "derived" / "navigator.sqlite"

    @property
    def navigator(self) -> Path:
        """What was imported, summaries paid for, lenses and places."""
        return self.state / "kept" / "navigator.sqlite"

    @property
    def notebook(self) -> Path:
        """What the notebook remembers of its writes."""
        return self.state / "kept" / "notebook"

    @property
    def sessions(self) -> Path:
        """The folder of transcripts: INFOLD_SESSIONS, else `sessions` in the vault where one is there, else our own."""
        named = Environment().sessions
        if named:
            return named.absolute()
        beside = self.vault / "sessions"
        return beside if next(beside.glob("*.jsonl"), None) else self.state / "kept" / "sessions"

    @property
    def sources(self) -> Path:
        """What was brought in from outside: records, and texts by content."""
        return self.state / "kept" / "sources"

    @property
    def contexts(self) -> Path:
        """Answers packed for a budget, by what they were made from."""
        return self.state / "derived" / "contexts"

    @property
    def log(self) -> Path:
        """What commands did, for a bug report: no text of a note, no key."""
        return self.state / "infold.log"

    @property
    def lock_file(self) -> Path:
        """The lock that one writing process holds."""
        return self.state / "lock"
