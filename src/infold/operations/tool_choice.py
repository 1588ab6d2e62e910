"""Which operations are offered as tools, and under which names: for MCP clients and for the vault's own agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Protocol, TypeVar

from infold.errors import UsageError
from infold.operations.contract import Face, Group
from infold.operations.table import Operation, operations

TOOL_SETS: Final = (*(str(group) for group in Group), "all")
# What specifications call an operation beside its own name: understood when it is called, and not listed twice.
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "knowledge_rename": "note_rename",
    "knowledge_delete": "note_delete",
    "knowledge_restore": "note_restore",
}


class Offer(Protocol):
    """What a choice looks at: an operation, or a tool that is listed for one."""

    @property
    def name(self) -> str:
        """The operation's own."""

    @property
    def group(self) -> str:
        """What it is about."""

    @property
    def only_reads(self) -> bool:
        """Whether notes stay as they are, and nothing is paid for unasked."""


OfferT = TypeVar("OfferT", bound=Offer)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools are offered: of these groups, only readers where asked for, with a prefix before each name."""

    groups: tuple[str, ...] = ("all",)
    prefix: str = ""
    is_read_only: bool = False

    def wanted(self) -> set[str]:
        """The sets that were chosen. Raises UsageError for one there is not."""
        wanted = {name.strip() for name in self.groups}
        for name in sorted(wanted - set(TOOL_SETS)):
            near = get_close_matches(name, TOOL_SETS, 1)
            raise UsageError(
                f"There is no set of tools {name!r}.", hint=f"The sets are {', '.join(near or TOOL_SETS)}."
            )
        return wanted

    def offered(self, face: Face = Face.MCP) -> dict[str, Operation[Any, Any]]:
        """The operations by the name of their tool. Raises UsageError for a set there is not."""
        return self.chosen(operations(face))

    def chosen(self, known: Mapping[str, OfferT]) -> dict[str, OfferT]:
        """Those of `known` that are chosen, by the name of their tool. Raises UsageError for a set there is not."""
        wanted = self.wanted()
        return {
            f"{self.prefix}{name}": each
            for name, each in known.items()
            if ("all" in wanted or each.group in wanted) and (each.only_reads or not self.is_read_only)
        }


def called(name: str, offered: Mapping[str, OfferT], *, kind: str = "tool") -> OfferT:
    """The tool that a call names, also by its other name. Raises UsageError with the names that come near.

    `kind` is what the error calls it.
    """
    other = (
        each
        for own, each in offered.items()
        if each.name in _OTHER_NAMES and name == own.removesuffix(each.name) + _OTHER_NAMES[each.name]
    )
    found = offered.get(name) or next(other, None)
    if found is None:
        near = get_close_matches(name, offered, 2)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"The {kind}s are {', '.join(offered)}."
        raise UsageError(f"There is no {kind} {name!r}.", hint=hint)
    return found
