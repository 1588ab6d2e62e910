"""Summaries of many notes: what is asked for at the same time is made together, in worker processes when it is much."""

from __future__ import annotations

import asyncio
import threading

from infold.librarian.answers import SummaryRequest
from infold.librarian.offline.summaries import TextToSummarise, summary_of
from infold.workers import MANY, Crew, processors


class Extractor:
    """Makes summaries by extraction. Workers start with the first request after `many`, and end with `close`."""

    def __init__(self, *, many: int = MANY, workers: int | None = None) -> None:
        self._alone = many
        self._crew = Crew("infold.librarian.offline.summaries:summaries_of", workers or processors())
        self._turn = threading.Lock()
        self._together: list[TextToSummarise] = []
        self._making: asyncio.Task[list[str]] | None = None

    async def summary(self, request: SummaryRequest) -> str:
        """The summary that `request` asks for."""
        source: TextToSummarise = (request.text, request.linked, *request.target_words)
        if self._alone > 0:
            self._alone -= 1
            return summary_of(source)
        if self._making is None or self._making.done():
            self._together = []
            self._making = asyncio.create_task(self._make())  # begins when all who ask now have asked
        making, number = self._making, len(self._together)
        self._together.append(source)
        return (await asyncio.shield(making))[number]

    def close(self) -> None:
        """Ends the workers."""
        self._crew.close()

    async def _make(self) -> list[str]:
        together, self._making = self._together, None
        return await asyncio.to_thread(self._in_turn, together)

    def _in_turn(self, together: list[TextToSummarise]) -> list[str]:
        with self._turn:
            return self._crew.all(together)
