"""Stage `snapshot`: the vault's notes as they are now, copied, so that what follows is made from one state.

Only what changed is copied (the folder persists between runs). What is there already is never thrown away for a vault
that is missing, suddenly empty, or in part with a cloud provider.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infold.errors import NoteUnreadable, StateUnwritable, VaultFault
from infold.settings import VaultParams
from infold.stages.repository import Repository, replace_file, run_stage
from infold.vault.files import read_bytes
from infold.vault.scanning import scan


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was done, by vault-relative path."""

    copied: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[str, ...]

    def __str__(self) -> str:
        counts = f"{len(self.copied)} copied, {len(self.removed)} removed, {self.unchanged} unchanged"
        return f"snapshot: {counts}, {len(self.skipped)} skipped"


def take_snapshot(vault: Path, folder: Path, params: VaultParams) -> Snapshot:
    """Brings `folder` in line with the notes of `vault`. Raises VaultNotFound, VaultFault for an emptied vault."""
    found = scan(vault, params)
    there = {path.relative_to(folder).as_posix(): path for path in _notes(folder)}
    if there and not found.files:
        raise VaultFault(
            f"The vault {vault} holds no note, but its last snapshot has {len(there)}.",
            hint=f"If the vault is meant to be empty, delete {folder}.",
        )
    skipped = {item.path for item in found.skipped}
    copied = []
    for file in found.files:
        kept = there.get(file.path)
        if kept and (status := kept.stat()) and (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns):
            continue
        try:
            data = read_bytes(vault, file.path, params.max_note_bytes)
        except NoteUnreadable:
            skipped.add(file.path)
            continue
        replace_file(folder / file.path, data, file.mtime_ns)
        copied.append(file.path)
    still_there = {file.path for file in found.files} | {item.path for item in found.skipped if item.is_kept}
    removed = sorted(set(there) - still_there)
    for path in removed:
        _remove(there[path], folder)
    folder.mkdir(parents=True, exist_ok=True)
    unchanged = len(found.files) - len(copied) - len(skipped & {file.path for file in found.files})
    return Snapshot(tuple(copied), tuple(removed), unchanged, tuple(sorted(skipped)))


def _notes(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _remove(file: Path, folder: Path) -> None:
    try:
        file.unlink()
        for parent in file.relative_to(folder).parents:
            if parent != Path() and not any((folder / parent).iterdir()):
                (folder / parent).rmdir()
    except OSError as error:
        raise StateUnwritable(f"{file} cannot be removed: {error.strerror or error}.") from error


def main(repository: Repository) -> str:
    """The stage."""
    return str(take_snapshot(repository.vault, repository.snapshot.vault, repository.snapshot.params.vault))


if __name__ == "__main__":
    run_stage(main)
