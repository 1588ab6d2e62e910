"""What every task that takes a decision has in common: its key, where its result is kept, what is worth another try."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from prefect import Task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.utilities.annotations import quote
from pydantic import TypeAdapter

from infold.errors import EndpointFault, EndpointUnreachable
from infold.text import content_hash

_T = TypeVar("_T")
LIBRARIAN_TAG: Final = "librarian"  # on every task that may ask a model: a limit on the tag is one on model calls
_TRANSIENT: Final = (EndpointFault, EndpointUnreachable, ConnectionError, TimeoutError)


def _key_given(context: TaskRunContext, parameters: dict[str, Any]) -> str | None:
    key = parameters.get("key")
    return key if isinstance(key, str) else None


# The caller gives the key, made of all that the decision depends on. Prefect's own policies leave out which task it is,
# or turn caching off in silence for what they cannot hash.
BY_CONTENT: Final = CacheKeyFnPolicy(cache_key_fn=_key_given)


async def is_transient(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Whether the same call may succeed a little later: the endpoint is busy or cannot be reached."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, _TRANSIENT)


def stored_in(folder: Path) -> dict[str, Any]:
    """The options by which a task's results are kept in `folder`. A plain path: a string would name a Prefect block."""
    return {"result_storage": folder, "persist_result": True, "result_serializer": "json"}


@cache
def shape_of(kind: Any) -> str:
    """A fingerprint of a result's fields, part of its key: what was kept in another shape is made again."""
    return content_hash(repr(TypeAdapter(kind).json_schema()))[:12]


def unseen(argument: _T) -> _T:
    """An argument that Prefect hands on without walking through it: texts, and objects that do the work."""
    return cast(_T, quote(argument))


async def carried_out(task: Any, *arguments: Any, wait_for: Sequence[State[Any]] = ()) -> tuple[Any, State[Any]]:
    """What a task gives, and its state, for what builds on it to wait for: the edges of the graph that the UI draws.

    Raises what the task raised.
    """
    state: State[Any] = await task(*arguments, return_state=True, wait_for=list(wait_for))
    return await state.aresult(), as_upstream(state)


def as_upstream(state: State[Any]) -> State[Any]:
    """A task's state to wait for, without its result: an equal word in it would be an edge to who gave it."""
    return state.model_copy(update={"data": []})
