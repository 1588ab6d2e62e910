"""A vault with a plan for it, made without any librarian: each paragraph goes right after an anchor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infold.inbox.inbox_text import locate_paragraphs, remove_paragraphs
from infold.inbox.run import ChunkRecord, EditRecord, ParagraphRecord, Run, RunStatus
from infold.inbox.runs import save_planned
from infold.settings import Params
from infold.vault.edits import apply_edits
from infold.workspace import Workspace

NOTES = {
    "index.md": "# Index\n\n- [[bread]]\n- [[tyres]]\n",
    "food/bread.md": "---\ntags: [food]\n---\n# Bread\n\nRye is done at 98 degrees.\n\n## Cooling\n\n"
    "Wheat cools fast.\n",
    "tyres.md": "\ufeff# Tyres\r\n\r\nSealant lasts three months.  \r\n\tTubes do not.",
}
PLACES = [
    ("Tyre sealant dries out in heat.", "tyres.md", "Tubes do not."),
    ("Rye cools for a whole day.", "food/bread.md", "Wheat cools fast."),
    ("A stone gives back its heat slowly.", "food/bread.md", "Rye is done at 98 degrees."),
    ("Rye is finished at 98 degrees.", "food/bread.md", None),
    ("General average is a rule of shipping.", None, None),
]


@dataclass(frozen=True)
class Planned:
    """A vault on disk, the saved run, and every file's bytes before and after it."""

    workspace: Workspace
    run: Run
    before: dict[str, bytes]
    after: dict[str, bytes]

    def bytes(self) -> dict[str, bytes]:
        """What stands in the vault now, hidden files too."""
        vault = self.workspace.vault
        return {str(p.relative_to(vault)): p.read_bytes() for p in sorted(vault.rglob("*")) if p.is_file()}

    def write(self, path: str, text: str) -> None:
        """A person saves a note."""
        (self.workspace.vault / path).write_bytes(text.encode())

    def read(self, path: str) -> str:
        """A note as it is now."""
        return (self.workspace.vault / path).read_bytes().decode()


def planned_vault(
    folder: Path,
    notes: dict[str, str] = NOTES,
    places: Sequence[tuple[str, str | None, str | None]] = PLACES,
    *,
    is_saved: bool = True,
) -> Planned:
    """Writes `notes` and an inbox of all paragraphs, and saves the plan.

    `places` are (paragraph, note, anchor): without an anchor the note has it already, without a note it stays.
    """
    vault = folder / "vault"
    inbox = "# Inbox\n\n" + "\n\n".join(paragraph for paragraph, _, _ in places) + "\n"
    for path, text in {**notes, "inbox.md": inbox}.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(text.encode())
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}})
    workspace = Workspace(vault, folder / "state", vault / "inbox.md", params)
    after = {path: text.encode() for path, text in notes.items()}
    for path, before_text in notes.items():
        edits = [(anchor, f"{anchor}\n\n{text}") for text, note, anchor in places if note == path and anchor]
        after[path] = apply_edits(before_text, edits).encode()
    spans = [span for span in locate_paragraphs(inbox, [text for text, note, _ in places if note]) if span]
    after["inbox.md"] = remove_paragraphs(inbox, spans).encode()
    before = {path: text.encode() for path, text in {**notes, "inbox.md": inbox}.items()}
    run = _run(workspace, places)
    if is_saved:
        run = save_planned(workspace, run, {path: (before[path], after[path]) for path in before})
    return Planned(workspace, run, before, after)


def _run(workspace: Workspace, places: Sequence[tuple[str, str | None, str | None]]) -> Run:
    paragraphs, chunks = [], []
    for n, (text, note, anchor) in enumerate(places, start=1):
        outcome = "left" if note is None else "duplicate" if anchor is None else "integrated"
        quote = text if outcome == "duplicate" else None
        reason = "no note was found for it" if note is None else None
        paragraphs.append(
            ParagraphRecord(n=n, text=text, outcome=outcome, chunk=n, file=note, quote=quote, reason=reason)
        )
        kind = "edit" if anchor else "duplicate"
        replace = f"{anchor}\n\n{text}" if anchor else None
        edit = EditRecord(file=note or "", kind=kind, find=anchor or text, replace=replace, paragraphs=(n,))
        edits = (edit,) if note else ()
        chunks.append(ChunkRecord(id=n, paragraphs=(n,), viewed=("index.md",), edits=edits, reason=reason))
    return Run(
        id="",
        status=RunStatus.PLANNED,
        vault=str(workspace.vault),
        inbox=workspace.inbox_path,
        created_at="2026-11-21T22:45:01+00:00",
        librarian="scripted/1",
        paragraphs=tuple(paragraphs),
        chunks=tuple(chunks),
    )
