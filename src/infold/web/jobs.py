"""Long work behind a request: one thread a job, its progress kept for whoever follows it, however late they come."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from infold.errors import InfoldError, UsageError
from infold.operations.audit import asked_by
from infold.operations.contract import Face
from infold.progress import hearing

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.operations.table import Operation

_log: Final = logging.getLogger(__name__)
_MOST_KEPT: Final = 50  # ended jobs; after that the oldest are forgotten
_MOST_RUNNING: Final = 4
_LOOK_SECONDS: Final = 0.1
_MOST_TOLD: Final = 500  # of what happens in a job; after that the oldest are forgotten


class Job:
    """One piece of work: running, then an answer or an error."""

    def __init__(self, name: str) -> None:
        self.id = secrets.token_hex(8)
        self.name = name
        self._lock = threading.Lock()
        self._stages: dict[str, tuple[int, int]] = {}
        self._told: deque[tuple[int, str]] = deque(maxlen=_MOST_TOLD)
        self._ended: tuple[str, Any] | None = None
        self._changes = 0

    @property
    def is_running(self) -> bool:
        """Whether there is no answer yet."""
        return self._ended is None

    def report(self, stage: str, done: int, total: int) -> None:
        """Notes how far a stage is."""
        with self._lock:
            self._stages[stage] = (done, total)
            self._changes += 1

    def tell(self, sentence: str) -> None:
        """Notes what has just happened."""
        with self._lock:
            self._changes += 1
            self._told.append((self._changes, sentence))

    def end(self, kind: str, data: Any) -> None:
        """Notes the answer, or the error."""
        with self._lock:
            self._ended = (kind, data)
            self._changes += 1

    def state(self) -> dict[str, Any]:
        """How far it is, and what came of it."""
        with self._lock:
            stages = [{"stage": name, "done": done, "total": total} for name, (done, total) in self._stages.items()]
            found: dict[str, Any] = {"job": self.id, "operation": self.name, "stages": stages}
            if self._ended is not None:
                found[self._ended[0]] = self._ended[1]
            return found

    async def follow(self) -> AsyncIterator[tuple[str, Any]]:
        """What has happened and happens: sentences, the stages as they stand, then the end."""
        seen = -1
        while True:
            with self._lock:
                changes, ended = self._changes, self._ended
                told = [sentence for number, sentence in self._told if number > seen]
            for sentence in told:
                yield "happened", sentence
            if changes != seen:
                seen = changes
                yield "progress", self.state()["stages"]
            if ended is not None:
                yield ended
                return
            await asyncio.sleep(_LOOK_SECONDS)


class Jobs:
    """The jobs of one server."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, operation: Operation[Any, Any], request: Any) -> Job:
        """Begins an operation behind. Raises UsageError where too many are running."""
        job = Job(operation.name)
        with self._lock:
            if sum(known.is_running for known in self._jobs.values()) >= _MOST_RUNNING:
                raise UsageError(f"{_MOST_RUNNING} jobs are running.", hint="Wait for one of them to end.")
            ended = [known.id for known in self._jobs.values() if not known.is_running]
            for old in ended[: max(0, len(ended) - _MOST_KEPT)]:
                del self._jobs[old]
            self._jobs[job.id] = job
        threading.Thread(target=self._run, args=(job, operation, request), name=f"job-{job.id}", daemon=True).start()
        return job

    def find(self, job_id: str) -> Job:
        """The job of that id. Raises UsageError."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise UsageError(f"There is no job {job_id!r} (any more).", hint="Ask for the work again.")
        return job

    def _run(self, job: Job, operation: Operation[Any, Any], request: Any) -> None:
        try:
            with self._vault.reporting(job.report), hearing(job.tell), asked_by(Face.HTTP):
                answer = operation(self._vault, request)
            job.end("answer", answer.as_json())
        except InfoldError as error:
            job.end("error", {"type": type(error).__name__, "message": str(error), "hint": error.hint})
        finally:
            if job.is_running:  # a fault of the program: the thread's own traceback goes to the log
                _log.error("The job %s (%s) ended without an answer.", job.id, job.name)
                job.end("error", {"type": "InfoldError", "message": "Something unexpected happened.", "hint": ""})
