"""What `infold doctor` examines: one finding a line, each with what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from infold.app import OpenVault
from infold.diagnostics.finding import Finding, Level
from infold.diagnostics.memory import memory_findings
from infold.diagnostics.vault_stats import VaultStats, vault_stats
from infold.discovery import find_root
from infold.environment import Environment
from infold.errors import InfoldError
from infold.inbox.paragraphs import read_paragraphs
from infold.inbox.review import is_expired
from infold.inbox.run import RunStatus
from infold.inbox.run_store import RunStore
from infold.librarian.prices import price_of
from infold.locate import LocatedWorkspace
from infold.search.embed.models import name_in_use, upgrade_hint
from infold.search.index.generations import Generations
from infold.search.index.manifest import Manifest
from infold.search.index_status import served_by
from infold.search.server.engine import ServerEngine
from infold.search.shared.rendezvous import RESIDENT_CARD
from infold.text import counted
from infold.workspace import Workspace

_MOST_NAMED: Final = 5
_SCARCE_DISK_BYTES: Final = 500 * 1024 * 1024


def examine(vault: OpenVault) -> Iterator[Finding]:
    """Every finding, the vault first, then the settings, then the state. Raises VaultNotFound and StateUnwritable."""
    place, environment = vault.located, vault.environment
    seen = vault_stats(vault.workspace, vault.progress)
    yield from _vault(place, seen)
    yield from _files(seen)
    yield from _librarian(place, environment)
    yield _embedding(vault)
    yield from _state(place, seen, environment)
    yield from memory_findings(vault)


def _vault(place: LocatedWorkspace, seen: VaultStats) -> Iterator[Finding]:
    count = len(seen.notes)
    if seen.found.emptied:
        yield Finding(
            Level.PROBLEM,
            "vault",
            f"{place.vault} holds no note any more; what was known of {count} notes is kept",
            "Is a disk or a cloud folder not mounted? If the notes are meant to be gone, remove the state folder.",
        )
        return
    if not count:
        yield Finding(Level.PROBLEM, "vault", f"no note in {place.vault}", "Name the folder that holds your notes.")
        return
    words = sum(seen.words[path] for path in seen.notes)
    yield Finding(Level.OK, "vault", f"{counted(count, 'note')}, {words:,} words in {place.vault} ({place.vault_from})")
    yield from _root(place, seen, count)
    yield _inbox(place)
    root = _root_of(place, seen)
    inbox = place.workspace.inbox_path
    if orphans := [path for path in seen.graph.orphans(root) if path in seen.kinds and path != inbox]:
        yield Finding(
            Level.NOTE,
            "orphans",
            f"no other note links to {_some(orphans)}",
            "Nothing has to be done: search finds them for a chunk they fit.",
        )
    if seen.dangling:
        top = ", ".join(f"{raw} ×{times}" for raw, times in seen.dangling.most_common(_MOST_NAMED))
        yield Finding(
            Level.NOTE,
            "dangling",
            f"{counted(seen.dangling.total(), 'link')} to notes that are not there: {top}",
            "Write the notes or correct the links; infold leaves them as they are.",
        )


def _root_of(place: LocatedWorkspace, seen: VaultStats) -> str:
    """The root in use: the one that is set, else the one that a run would find."""
    named = place.params.vault.root_file
    if named in seen.words:
        return named
    found = find_root(seen.notes, place.vault.name, seen.best_linked())
    return found.path if found else named


def _root(place: LocatedWorkspace, seen: VaultStats, count: int) -> Iterator[Finding]:
    root = _root_of(place, seen)
    hops = seen.reach_by_hops(root)
    if not hops:
        yield Finding(
            Level.NOTE,
            "root",
            f"there is no root note {root}: exploration starts from search hits alone",
            "Name it with `infold init --root NOTE --force`, or vault.root_file.",
        )
        return
    rounds = place.params.exploration.max_exploration_rounds
    reached = sum(hops)
    near, far = hops[1 : rounds + 2], sum(hops[rounds + 2 :])
    steps = ", ".join(f"{number} at {distance}" for distance, number in enumerate(near, start=1))
    farther = f", {far} farther" if far else ""
    unreached = count - reached
    yield Finding(
        Level.NOTE if unreached else Level.OK,
        "root",
        f"{root} reaches {reached - 1} of the other {count - 1} notes by links"
        + (f" ({steps} hops away{farther})" if steps else ""),
        f"{unreached} are found by search alone; a link from a note that is reached would show them to a reader too."
        if unreached
        else "",
    )


def _inbox(place: LocatedWorkspace) -> Finding:
    path = place.workspace.inbox_path
    try:
        waiting = read_paragraphs(place.workspace)
    except InfoldError as error:
        return Finding(Level.PROBLEM, "inbox", str(error), error.hint)
    if waiting is None:
        return Finding(
            Level.NOTE, "inbox", f"there is no {path}", "Create it, or name another: --inbox FILE or vault.inbox_file."
        )
    return Finding(Level.OK, "inbox", f"{counted(len(waiting), 'paragraph')} waiting in {path}")


def _files(seen: VaultStats) -> Iterator[Finding]:
    for skipped in seen.found.skipped:
        yield Finding(Level.NOTE, "skipped", f"{skipped.path}: {skipped.reason}", "It is left alone, never rewritten.")
    for warning in seen.found.warnings:
        yield Finding(
            Level.NOTE, "metadata", f"{warning.path}: {warning.reason}", "The note counts as text without it."
        )


def _librarian(place: LocatedWorkspace, environment: Environment) -> Iterator[Finding]:
    params = place.params.librarian
    if params.kind == "offline":
        yield Finding(Level.OK, "librarian", "offline: no key, no network, no cost")
    else:
        endpoint = environment.base_url or "api.openai.com"
        yield Finding(Level.OK, "librarian", f"model {params.model} at {endpoint}")
        yield _price(params.model, environment)
    has_key = environment.api_key is not None and bool(environment.api_key.get_secret_value())
    is_needed = params.kind == "model" and environment.base_url is None
    yield Finding(
        Level.PROBLEM if is_needed and not has_key else Level.OK,
        "key",
        "OPENAI_API_KEY is set" if has_key else "OPENAI_API_KEY is not set" + ("" if is_needed else ", and not needed"),
        "Set it, or take the offline librarian: --librarian offline." if is_needed and not has_key else "",
    )


def _price(model: str, environment: Environment) -> Finding:
    if price_of(model, environment.base_url) is not None:
        return Finding(Level.OK, "price", f"the price of {model} is known: estimates and caps can be in dollars")
    return Finding(
        Level.NOTE,
        "price",
        f"the price of {model} at this endpoint is unknown",
        "Cap by tokens: --max-tokens N; a cap in dollars is refused.",
    )


def _embedding(vault: OpenVault) -> Finding:
    """Which embeddings are in force, and what a better rung of the ladder would give."""
    search = vault.params.search
    try:
        embedder = vault.embedder
    except InfoldError as error:
        return Finding(Level.PROBLEM, "meaning", str(error), error.hint)
    if embedder.traits.is_empty:
        return Finding(
            Level.NOTE,
            "meaning",
            "search is by keyword alone",
            "search.embedding=auto finds what is said otherwise too.",
        )
    worth = embedder.traits.weight if search.dense_weight is None else search.dense_weight
    found = f"{embedder.name}, which weighs {worth:g} beside keywords"
    chosen = name_in_use()
    if search.embedding == "auto" and chosen and embedder.traits.is_bundled:
        return Finding(
            Level.NOTE,
            "meaning",
            f"{found}; the model in use, {chosen}, cannot run here",
            "`infold models list` shows what is wrong with it; pip install 'infold[onnx]' brings what runs it.",
        )
    better = upgrade_hint() if embedder.traits.is_bundled else ""
    return Finding(Level.NOTE if better else Level.OK, "meaning", found, better)


def _state(place: LocatedWorkspace, seen: VaultStats, environment: Environment) -> Iterator[Finding]:
    workspace = place.workspace
    yield Finding(Level.OK, "settings", str(place.params_file or "the defaults"))
    yield _index(workspace.index, seen)
    yield _resident(workspace)
    yield from _server(workspace.index, environment)
    yield from _unfinished(place)
    size = _size_bytes(workspace.state)
    yield Finding(Level.OK, "state", f"{workspace.state}, {_size(size)}")
    yield Finding(Level.OK, "log", f"{workspace.log} says what commands did, for a bug report; no text, no key")
    nearest = next(folder for folder in (workspace.state, *workspace.state.parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        yield Finding(Level.PROBLEM, "state", f"{nearest} cannot be written", "Name another folder with --state DIR.")
    free = shutil.disk_usage(nearest).free
    is_scarce = free < _SCARCE_DISK_BYTES
    yield Finding(
        Level.PROBLEM if is_scarce else Level.OK,
        "disk",
        f"{_size(free)} free where the state lies",
        "Free some; a full disk stops a run, and harms no note." if is_scarce else "",
    )


def _resident(workspace: Workspace) -> Finding:
    process = served_by(workspace.index)
    minutes = workspace.params.watch.resident_minutes
    if process is not None:
        said = f"process {process} answers searches; deleting {workspace.index / RESIDENT_CARD} ends it"
    elif minutes:
        said = f"none; a second search within {minutes:g} minutes starts one"
    else:
        said = "none; watch.resident_minutes is 0"
    return Finding(Level.OK, "resident", said)


def _index(folder: Path, seen: VaultStats) -> Finding:
    build = "`infold index` builds it; `infold integrate` does too."
    index = Generations(folder)
    current = index.current()
    if current is None or not (file := index.manifest_of(current)).is_file():
        return Finding(Level.NOTE, "index", "not built yet", build)
    try:
        with closing(Manifest(file, read_only=True)) as manifest:
            indexed = manifest.notes()
            pending = manifest.pending_count()
    except InfoldError as error:
        return Finding(Level.PROBLEM, "index", str(error), f"Remove {folder}: {build}")
    held = f"{counted(len(indexed), 'note')}, {counted(sum(note.passages for note in indexed.values()), 'passage')}"
    missing = len(set(seen.notes) - indexed.keys())
    if missing or pending:
        behind = f"{counted(missing, 'note')} and {counted(pending, 'vector')} are missing"
        return Finding(Level.NOTE, "index", f"{held}; {behind}", "`infold index` brings it up to date.")
    return Finding(Level.OK, "index", f"{held}, {_size(_size_bytes(folder))}")


def _server(folder: Path, environment: Environment) -> Iterator[Finding]:
    """Whether the Qdrant server answers, where one is to hold the index."""
    if not environment.qdrant_url:
        return
    key = environment.qdrant_api_key.get_secret_value() if environment.qdrant_api_key else None
    try:
        shown = ServerEngine(environment.qdrant_url, key, folder).check()
    except InfoldError as error:
        yield Finding(Level.PROBLEM, "server", str(error), error.hint)
    else:
        yield Finding(Level.OK, "server", f"the Qdrant server at {shown} holds the index")


def _unfinished(place: LocatedWorkspace) -> Iterator[Finding]:
    for run in RunStore(place.workspace.runs).list():
        if run.status is RunStatus.APPLYING:
            yield Finding(
                Level.PROBLEM, "runs", f"{run.id} was interrupted while it wrote", "The next run finishes it first."
            )
        elif is_expired(run, days := place.params.integrate.plan_days):
            todo = f"`infold apply {run.id} --anew` plans it on the notes as they are now; `infold prune` forgets it."
            yield Finding(Level.NOTE, "runs", f"{run.id} was planned more than {days} days ago and has expired", todo)
        elif run.status is RunStatus.PLANNED:
            yield Finding(
                Level.NOTE, "runs", f"{run.id} is planned and not applied", f"`infold apply {run.id}` applies it."
            )


def _some(paths: list[str]) -> str:
    rest = len(paths) - _MOST_NAMED
    return f"{len(paths)}: " + ", ".join(paths[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _size_bytes(folder: Path) -> int:
    """What the files take on the disk: an index is sparse."""
    total = 0
    for file in folder.rglob("*") if folder.is_dir() else ():
        try:
            status = file.lstat()
        except OSError:  # gone meanwhile
            continue
        total += getattr(status, "st_blocks", status.st_size // 512 + 1) * 512
    return total


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.1f} MB"
