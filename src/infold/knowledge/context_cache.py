"""Packed answers, kept by what they were made from: the same question on the same text is packed, and paid for, once.

Derived: it can be deleted at any time. The key holds every text that was read, so what changed is never answered old.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from infold.durable.files import Disk
from infold.knowledge.filling import Candidate, ChosenForm
from infold.knowledge.packing import CompressionLevel
from infold.text import content_hash

VERSION: Final = "context/1"  # raised when the same candidates are packed otherwise
MOST_KEPT: Final = 256


class ContextCache:
    """The answers in one folder; the oldest go when there are too many."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._disk = folder, Disk()

    def get(self, key: str, make: Callable[[], str]) -> str:
        """The answer kept under `key`, else what `make` gives, which is kept."""
        file = self._folder / f"{key}.json"
        try:
            return file.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            answer = make()
        self._disk.make_folder(self._folder)
        self._disk.write_whole(file, answer.encode())
        self._drop_oldest()
        return answer

    def _drop_oldest(self) -> None:
        files = list(self._folder.glob("*.json"))
        if len(files) > MOST_KEPT:
            files.sort(key=lambda file: (file.stat().st_mtime_ns, file.name))
            for file in files[: len(files) - MOST_KEPT]:
                self._disk.remove(file)


def context_key(
    question: str,
    candidates: Sequence[Candidate],
    max_tokens: int,
    compression: CompressionLevel,
    source: str,
    chosen: Sequence[tuple[int, ChosenForm]] = (),
) -> str:
    """The key of an answer: all that it is made from."""
    said = [VERSION, question, str(max_tokens), compression, source, *(f"{number} {form}" for number, form in chosen)]
    said += [
        "\0".join((c.path, str(c.start_line), c.heading, c.date, c.origin, c.trust, c.summary, c.text))
        for c in candidates
    ]
    return content_hash("\1".join(said).encode("utf-8", "surrogatepass"))[:40]
