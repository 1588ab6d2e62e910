"""What an earlier infold kept of the notebook's writes, taken up as changes, so that it can be listed and undone.

It kept one JSON record a write and all contents in one folder, `kept/notebook/writes`; and the name of a temporary file
while it wrote, in `kept/notebook/under-way.json`.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from infold.durable.blobs import Blobs
from infold.durable.change import APPLY, ChangeKind
from infold.durable.change_store import ChangeStore
from infold.durable.files import Disk
from infold.durable.records import FileChange
from infold.durable.unfinished import EARLIER_UNDER_WAY, EARLIER_WRITES
from infold.errors import RunStateWrong
from infold.workspace import Workspace


class _Write(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    path: str
    at: str
    before: str | None
    after: str


def adopt_legacy_writes(workspace: Workspace, store: ChangeStore) -> None:
    """Takes it up; killed anywhere and done again, each write is there once. Needs the vault's lock."""
    _sweep(workspace)
    folder = workspace.notebook / EARLIER_WRITES
    blobs = Blobs(folder / "blobs", Disk())
    for file in sorted(folder.glob("w-*.json")):
        with suppress(ValidationError, RunStateWrong):  # damaged: it could not be undone before either
            write = _Write.model_validate_json(file.read_bytes())
            before = None if write.before is None else blobs.get(write.before)
            shutil.rmtree(store.path(write.id), ignore_errors=True)
            facts = {"kind": str(ChangeKind.WRITE), "at": write.at, "summary": f"{write.path} was written."}
            change = FileChange(write.path, before, blobs.get(write.after))
            store.journal(write.id, workspace.vault).record([change], APPLY, facts)
        file.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(workspace: Workspace) -> None:
    file = workspace.notebook / EARLIER_UNDER_WAY
    with suppress(OSError, ValueError):
        temporary = Path(str(json.loads(file.read_text(encoding="utf-8"))))
        if temporary.name.startswith(".infold-") and temporary.is_relative_to(workspace.vault):
            temporary.unlink(missing_ok=True)
    file.unlink(missing_ok=True)
