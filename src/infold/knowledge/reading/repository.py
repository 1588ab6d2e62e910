"""A Git repository or a folder packed as one source: a tree of its files with token counts, then the files.

A repository is cloned shallowly, to the address that was checked, with every helper and hook of Git switched off. Files
that hold no text, are too large, or that Git is told to ignore are in the tree and not in the text.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from infold.environment import Environment
from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.client import checked_url
from infold.knowledge.reading.records import SourceText
from infold.text import token_count

_MOST_FILES: Final = 20_000
_MOST_FILE_BYTES: Final = 500_000
_SKIPPED: Final = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "dist", "build"))
_SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "http.followRedirects=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "credential.helper=",
    "submodule.recurse=false",
)
_LICENCES: Final = ("license", "licence", "copying")


@dataclass(frozen=True, slots=True)
class _PackedFile:
    path: str
    size: int
    text: str | None  # None where it is in the tree only
    tokens: int = 0


def is_repository(url: str) -> bool:
    """Whether an address names a Git repository by its form: `….git`."""
    return urlsplit(url).path.rstrip("/").endswith(".git")


def read_repository(url: str, addresses: Addresses, *, timeout_seconds: float, most_bytes: int) -> SourceText:
    """The repository at `url`, its newest state. Raises FetchRefused and FetchFailed."""
    url = checked_url(url)
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    ip = addresses.of(host, port)
    git = shutil.which("git")
    if git is None:
        raise FetchRefused(f"{url}: Git is not installed, so no repository can be fetched.")
    bound = f"[{ip}]" if ":" in ip else ip
    settings = (*_SETTINGS, f"http.curloptResolve={host}:{port}:{bound}")
    with tempfile.TemporaryDirectory(prefix="infold-clone-") as folder:
        told = _cloned([git, *_options(settings)], url, Path(folder), timeout_seconds)
        if told:
            raise FetchFailed(f"{url}: Git cannot clone it: {' '.join(told.split())[-300:]}")
        title = urlsplit(url).path.strip("/").removesuffix(".git")
        return read_folder(Path(folder) / "clone", title, most_bytes=most_bytes)


def clone_folder(folder: Path, into: Path, timeout_seconds: float) -> str:
    """Clones the repository in a folder of this machine to `clone` in `into`; what Git says where it cannot."""
    git = shutil.which("git")
    if git is None:
        raise FetchRefused(f"{folder}: Git is not installed, so no repository can be read.")
    return _cloned([git, *_options((*_SETTINGS, "protocol.file.allow=always"))], folder.as_uri(), into, timeout_seconds)


def _options(settings: Iterable[str]) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]


def _cloned(git: Sequence[str], url: str, folder: Path, timeout_seconds: float) -> str:
    """Clones into `clone` below `folder`; what Git says where it cannot."""
    environment = {
        "PATH": Environment().get("PATH") or "",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "LC_ALL": "C",
    }
    told = ""
    for depth in (["--depth=1"], []):  # servers that only hand out files know no depth
        command = [*git, "clone", "--quiet", *depth, "--single-branch", "--no-tags", "--", url, str(folder / "clone")]
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and `--` before the address
                command, capture_output=True, text=True, timeout=timeout_seconds, check=False, env=environment
            )
        except subprocess.TimeoutExpired as error:
            raise FetchFailed(f"{url}: Cloning takes longer than {timeout_seconds:g} s.") from error
        told = done.stderr if done.returncode else ""
        if "shallow" not in told:
            break
    return told


def read_folder(folder: Path, title: str, *, most_bytes: int, with_hidden: bool = True) -> SourceText:
    """A folder as one text. Links of the file system are not followed. Raises FetchRefused where there is no file."""
    files: list[_PackedFile] = []
    room = most_bytes
    for path in _files(folder, with_hidden=with_hidden):
        name = path.relative_to(folder).as_posix()
        packed = _packed(path, name, room)
        room -= len((packed.text or "").encode())
        files.append(packed)
    if not files:
        raise FetchRefused(f"{title}: There are no files.")
    total = sum(file.tokens for file in files)
    tree = "\n".join(_tree_line(file) for file in files)
    texts = [f"## {file.path}\n\n{_fenced(file)}" for file in files if file.text is not None]
    head = f"# {title}\n\n{len(files)} files, {total:,} tokens in {len(texts)} of them.\n\n```text\n{tree}\n```"
    licence = next((_licence(file.text) for file in files if _is_licence(file) and file.text), "")
    return SourceText(title, "\n\n".join([head, *texts]) + "\n", "repository", licence=licence)


def _files(folder: Path, *, with_hidden: bool) -> Iterable[Path]:
    count = 0
    for here, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and (with_hidden or name[0] != "."))
        for name in sorted(name for name in names if with_hidden or name[0] != "."):
            path = Path(here) / name
            if not path.is_symlink() and path.is_file():
                count += 1
                if count > _MOST_FILES:
                    raise FetchRefused(f"{folder.name}: There are more than {_MOST_FILES:,} files.")
                yield path


def _packed(path: Path, name: str, room: int) -> _PackedFile:
    try:
        size = path.stat().st_size
        if size > min(_MOST_FILE_BYTES, room):
            return _PackedFile(name, size, None)
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return _PackedFile(name, 0, None)
    if "\x00" in text:
        return _PackedFile(name, size, None)
    return _PackedFile(name, size, text, token_count(text))


def _tree_line(file: _PackedFile) -> str:
    depth = file.path.count("/")
    told = f"{file.tokens} tokens" if file.text is not None else f"{file.size} bytes, left out"
    return f"{'  ' * depth}{file.path}  {told}"


def _fenced(file: _PackedFile) -> str:
    """A Markdown file as it is, with its headings lower; another file in a fence that it cannot close."""
    text = (file.text or "").rstrip("\n")
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{Path(file.path).suffix.removeprefix('.')}\n{text}\n{fence}"


def _is_licence(file: _PackedFile) -> bool:
    return "/" not in file.path and Path(file.path).stem.lower() in _LICENCES


def _licence(text: str) -> str:
    return next((" ".join(line.split())[:100] for line in text.splitlines() if line.strip()), "")
