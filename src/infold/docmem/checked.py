"""Operations on rows as methods of `Docmem`: the transaction opened, each argument held to what it is declared as.

A slip of the caller (a node where its id belongs, a flag that is 2, a word that is no choice) is told as such and names
the argument; it never reaches the database.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from pydantic import ConfigDict, ValidationError, validate_call

from infold.docmem.lookup import Lookup
from infold.docmem.node import checked_text
from infold.docmem.rows import Rows
from infold.errors import ArgumentInvalid

if TYPE_CHECKING:
    from infold.docmem.store import Store

P = ParamSpec("P")
T = TypeVar("T")

_STRICT: Final = ConfigDict(strict=True, arbitrary_types_allowed=True)
_SHOWN: Final = 60  # characters of a wrong value


class StoreOwner(Protocol):
    """Whoever has the operations as methods."""

    @property
    def store(self) -> Store:
        """The file of the trees."""


def reads(operation: Callable[Concatenate[Lookup, P], T]) -> Callable[Concatenate[StoreOwner, P], T]:
    """An operation as a method that sees one state of the file."""
    call = _checked(operation)

    @wraps(operation)
    def method(memory: StoreOwner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with memory.store.reading() as rows:
            return call(rows, *args, **kwargs)

    return method


def writes(operation: Callable[Concatenate[Rows, P], T]) -> Callable[Concatenate[StoreOwner, P], T]:
    """An operation as a method that is one transaction, or a part of the caller's batch."""
    call = _checked(operation)

    @wraps(operation)
    def method(memory: StoreOwner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with memory.store.writing() as rows:
            return call(rows, *args, **kwargs)

    return method


def _checked(operation: Callable[P, T]) -> Callable[P, T]:
    """The operation, where its arguments are what it declares. Raises ArgumentInvalid, TextNotStorable."""

    @cache
    def validated() -> Callable[P, T]:  # at the first call: to make one takes longer than most operations
        return validate_call(config=_STRICT)(operation)

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return validated()(*args, **kwargs)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"].endswith(("argument", "argument_values")):  # missing, unknown, given twice
                return operation(*args, **kwargs)  # Python says it itself
            raise _fault(operation, first["loc"], first["msg"], first["input"]) from error
        except UnicodeEncodeError:
            for value in (*args, *kwargs.values()):
                checked_text(value if isinstance(value, str) else "")  # raises, naming the character
            raise

    return call


def _fault(operation: Callable[..., object], place: tuple[int | str, ...], why: str, value: Any) -> ArgumentInvalid:
    names = list(inspect.signature(operation).parameters)
    name = names[place[0]] if isinstance(place[0], int) else place[0]
    is_node = hasattr(value, "context_type")
    return ArgumentInvalid(
        f"{operation.__name__}: {name} is {repr(value)[:_SHOWN]}, {why[0].lower()}{why[1:]}.",
        hint="Give the node's id." if is_node else "",
    )
