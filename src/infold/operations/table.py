"""The table of operations, from which faces are made.

An operation is a function of an opened vault and a request, in a module of this package, marked by `operation`. The
module is found by itself: a new file is a new group of operations, and a new function in it is in every face. Importing
this module loads none of them; `operations()` loads all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_type_hints

from infold.errors import InfoldError, UsageError
from infold.operations.audit import audited
from infold.operations.contract import Effect, Face, Group, Message

if TYPE_CHECKING:
    from infold.app import OpenVault

RequestT = TypeVar("RequestT", bound=Message)
AnswerT = TypeVar("AnswerT", bound=Message)

_READS_UNASKED: Final = frozenset({"knowledge_query"})  # answers without a model unless the caller agrees to its price
_ALL_FACES: Final = frozenset(Face)
_known: Final[dict[str, Operation[Any, Any]]] = {}


@dataclass(frozen=True, slots=True)
class Operation(Generic[RequestT, AnswerT]):
    """One thing that a caller can ask for. Call it with an opened vault and a request.

    `not_in` names the faces that lack it, each with the reason; `errors` are those of its own, beside what every
    operation may raise.
    """

    name: str
    group: Group
    effect: Effect
    function: Callable[[OpenVault, RequestT], AnswerT]
    takes_long: bool = False
    is_idempotent: bool = True
    errors: tuple[type[InfoldError], ...] = ()
    not_in: Mapping[Face, str] = field(default_factory=dict)

    def __call__(self, vault: OpenVault, request: RequestT) -> AnswerT:
        """The answer. It may block: a coroutine awaits `vault.run(operation, request)`."""
        return audited(self.name, self.effect, lambda: self.function(vault, request))

    @property
    def faces(self) -> frozenset[Face]:
        """Where it can be asked for."""
        return _ALL_FACES - self.not_in.keys()

    @property
    def only_reads(self) -> bool:
        """Whether it leaves every note as it is, and pays for nothing that the same call did not agree to."""
        return self.effect is Effect.READS or self.name in _READS_UNASKED

    @property
    def summary(self) -> str:
        """Its first sentence."""
        return self.description.partition("\n")[0]

    @property
    def description(self) -> str:
        """What it does, for whoever chooses between operations: the docstring of its function."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def request(self) -> type[RequestT]:
        """What it is asked with."""
        kind: type[RequestT] = _types_of(self.function)[0]
        return kind

    @property
    def answer(self) -> type[AnswerT]:
        """What it gives."""
        kind: type[AnswerT] = _types_of(self.function)[1]
        return kind


def operation(
    group: Group,
    effect: Effect,
    *,
    name: str | None = None,
    takes_long: bool = False,
    is_idempotent: bool = True,
    errors: tuple[type[InfoldError], ...] = (),
    not_in: Mapping[Face, str] | None = None,
) -> Callable[[Callable[[OpenVault, RequestT], AnswerT]], Operation[RequestT, AnswerT]]:
    """Marks a function as an operation, under its own name unless another is given."""

    def entered(function: Callable[[OpenVault, RequestT], AnswerT]) -> Operation[RequestT, AnswerT]:
        made = Operation(
            name or function.__name__, group, effect, function, takes_long, is_idempotent, errors, dict(not_in or {})
        )
        _known[made.name] = made
        return made

    return entered


def operations(face: Face | None = None) -> Mapping[str, Operation[Any, Any]]:
    """Every operation by its name, group after group; only those of a face, where one is given."""
    _load()
    order = list(Group)
    known = sorted(_known.values(), key=lambda each: order.index(each.group))
    return {each.name: each for each in known if face is None or face in each.faces}


def find_operation(name: str) -> Operation[Any, Any]:
    """The operation of that name. Raises UsageError."""
    found = operations().get(name)
    if found is None:
        raise UsageError(f"There is no operation {name!r}.", hint=f"There are {', '.join(operations())}.")
    return found


def operation_in(module: str, name: str) -> Operation[Any, Any]:
    """The operation of that name in a module of this package, which alone is loaded."""
    import_module(module)
    return _known[name]


@cache
def _load() -> None:
    import infold.operations as package

    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")


@cache
def _types_of(function: Callable[..., Any]) -> tuple[type[Any], type[Any]]:
    """The request and the answer, as the function's signature has them."""
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    return hints[names[1]], hints["return"]
