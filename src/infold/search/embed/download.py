"""Getting a model of the catalogue: from a model hub, bit by bit where the line is bad, and whole or not at all.

Plain requests do, because every file is pinned by its hash; the hub's own client throws away what it has when it is
stopped. HF_ENDPOINT names another hub or a mirror, HF_HUB_OFFLINE forbids asking, the usual variables name a proxy.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from infold import __version__
from infold.durable.files import Disk, unwritable
from infold.environment import Environment
from infold.errors import DownloadFailed, EndpointUnreachable, ModelNotFound, StateUnwritable
from infold.search.embed.model_catalog import KnownModel, ModelFile
from infold.search.embed.model_folder import OWN_FILE

DownloadProgress = Callable[[int, int], None]  # bytes that are here, bytes in all

HUB: Final = "https://huggingface.co"
TRIES: Final = 5  # without a new byte
FIRST_PAUSE_SECONDS: Final = 0.5
_TIMEOUT_SECONDS: Final = 30
_BLOCK_BYTES: Final = 1 << 18
_SPARE_BYTES: Final = 50_000_000
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_OFF: Final = frozenset({"", "0", "false", "no", "off"})


def pull(model: KnownModel, home: Path, progress: DownloadProgress) -> bool:
    """Puts the model into its folder below `home`; False where it is there already, byte for byte.

    Stopped at any moment, the next call goes on where this one was; a folder that is there is a whole model. Raises
    ModelNotFound, EndpointUnreachable, DownloadFailed or StateUnwritable, each with what to do.
    """
    from filelock import FileLock, Timeout

    target, partial = home / model.name, home / ".partial" / model.name
    with unwritable(partial):
        partial.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(partial.with_name(f"{model.name}.lock"), timeout=0):
            if is_whole(model, target):
                shutil.rmtree(partial, ignore_errors=True)
                return False
            _fetch_all(model, partial, progress)
            _publish(partial, target)
    except Timeout as error:
        raise DownloadFailed(
            f"Another process is pulling {model.name}.", hint="Wait for it, then see `infold models list`."
        ) from error
    return True


def is_whole(model: KnownModel, folder: Path) -> bool:
    """Whether the folder holds the very bytes of the model."""
    return (folder / OWN_FILE).is_file() and all(
        (folder / file.path).is_file() and _sha256(folder / file.path) == file.sha256 for file in model.files
    )


def _fetch_all(model: KnownModel, partial: Path, progress: DownloadProgress) -> None:
    environment = Environment()
    endpoint = (environment.get("HF_ENDPOINT") or HUB).rstrip("/")
    if urlsplit(endpoint).scheme not in {"http", "https"}:
        raise DownloadFailed(f"HF_ENDPOINT {endpoint!r} is no web address.", hint=f"The usual one is {HUB}.")
    if (environment.get("HF_HUB_OFFLINE") or "").lower() not in _OFF:
        raise EndpointUnreachable(
            "HF_HUB_OFFLINE is set, so nothing is pulled.", hint="Unset it, or use a folder: `infold models use DIR`."
        )
    _room_for(model, partial)
    done = 0

    def advance(here: int) -> None:
        progress(done + here, model.size_bytes)

    for file in model.files:
        url = f"{endpoint}/{model.repository}/resolve/{model.revision}/{quote(file.path)}"
        _fetch(url, file, partial / file.path, advance)
        done += file.size_bytes
    Disk().write_whole(partial / OWN_FILE, (json.dumps(model.reading, indent=2) + "\n").encode())


def _room_for(model: KnownModel, partial: Path) -> None:
    free = shutil.disk_usage(partial).free
    needed = model.size_bytes + _SPARE_BYTES
    if free < needed:
        raise StateUnwritable(
            f"{model.name} needs {needed / 1e6:,.0f} MB and {partial.parent.parent} has {free / 1e6:,.0f} MB left.",
            hint="Free some, or set INFOLD_STATE_HOME to a folder on another disk.",
        )


def _fetch(url: str, file: ModelFile, target: Path, progress: Callable[[int], None]) -> None:
    """One file, checked; what came of it before is kept beside the target and gone on with."""
    if target.is_file() and _sha256(target) == file.sha256:
        progress(file.size_bytes)
        return
    part = target.with_name(f"{target.name}.part")
    with unwritable(part):
        part.parent.mkdir(parents=True, exist_ok=True)
    tries = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        reason = _fetch_some(url, part, progress)
        if reason is None:
            break
        tries = 0 if part.exists() and part.stat().st_size > before else tries + 1
        if tries >= TRIES:
            raise EndpointUnreachable(
                f"{url} did not come: {reason}.",
                hint="Check the network, HTTPS_PROXY or HF_ENDPOINT; what has come is kept, so call it again.",
            )
        time.sleep(FIRST_PAUSE_SECONDS * 2**tries)
    if _sha256(part) != file.sha256:
        part.unlink()
        raise DownloadFailed(
            f"{url} is not the file that was asked for: its SHA-256 differs.",
            hint="Try again; where HF_ENDPOINT names a mirror, the mirror may be stale or broken.",
        )
    Disk().replace(part, target)


def _fetch_some(url: str, part: Path, progress: Callable[[int], None]) -> str | None:
    """What comes of the file in one answer; None where that was all, else the reason. Raises what will not pass."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"infold/{__version__}", "Accept-Encoding": "identity"}
    request = Request(url, headers=headers | ({"Range": f"bytes={have}-"} if have else {}))  # noqa: S310 - http(s) only
    try:
        with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
            have = have if answer.status == http.HTTPStatus.PARTIAL_CONTENT else 0
            total = have + int(answer.headers.get("Content-Length") or 0)
            with unwritable(part), part.open("r+b" if have else "wb") as out:
                out.seek(have)
                for block in _blocks(answer):
                    out.write(block)
                    have += len(block)
                    progress(have)
                os.fsync(out.fileno())
            return None if have >= total else f"it ends after {have:,} of {total:,} bytes"
    except HTTPError as error:
        with contextlib.closing(error):
            return _refusal(url, error, part)
    except (URLError, _Broken, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", None) or error) or type(error).__name__


class _Broken(Exception):
    """The line broke while an answer was read: told apart from a disk that could not be written."""


def _blocks(answer: IO[bytes]) -> Iterator[bytes]:
    while True:
        try:
            block = answer.read(_BLOCK_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise _Broken(str(error)) from error
        if not block:
            return
        yield block


def _refusal(url: str, error: Any, part: Path) -> str:
    """Why it may come yet; raises where it will not."""
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.unlink(missing_ok=True)  # longer than the file is: it was of something else
        return "its beginning was of another file"
    if error.code in _PASSING:
        return f"{error.code} {error.reason}"
    if error.code == http.HTTPStatus.NOT_FOUND:
        raise ModelNotFound(f"{url} is not there.", hint="Where HF_ENDPOINT names a mirror, it lacks this model.")
    raise DownloadFailed(
        f"{url} was refused: {error.code} {error.reason}.", hint="Check HF_ENDPOINT and the proxy, or try later."
    )


def _publish(partial: Path, target: Path) -> None:
    """Puts the whole folder in its place at once; a broken one that was there goes first."""
    aside = partial.with_name(f"{partial.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    if target.exists():
        Disk().replace(target, aside)
    Disk().replace(partial, target)
    shutil.rmtree(aside, ignore_errors=True)


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
