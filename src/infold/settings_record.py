"""The settings in force as plain values, kept for processes that have no time to check them.

Checking takes pydantic and YAML, which load longer than a search takes. So whoever has checked a settings file keeps
what came of it, with the file's whole text and what tells this program from another: only where all of it is still the
same do the values count. What is read here has the fields of `infold.settings.Params`, and none of its checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import infold
from infold.durable.files import Disk
from infold.errors import InfoldError

if TYPE_CHECKING:
    from infold.settings import Params

_GIVEN: Final = "model_fields_set"  # beside the values of a plain section
_PLACE: Final = Path("derived", "index", "settings.json")  # in the state folder


class UnknownSettings(ValueError):
    """Nothing is kept of these settings, or not as this program has them."""


class PlainSection:
    """Values by name, as a section of `infold.settings` has them."""

    def __init__(self, values: Mapping[str, Any], given: Iterable[str]) -> None:
        self.__dict__.update(values)
        self.model_fields_set = set(given)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same, with other values for some names."""
        return type(self)(_values_of(self) | dict(update), self.model_fields_set | set(update))


def plain_settings(params: Params) -> Params:
    """The same settings as plain values, which another process reads without what checks them."""
    sections = {
        name: PlainSection(_values_of(section), section.model_fields_set)
        for name, section in vars(params).items()
        if name != _GIVEN
    }
    return cast("Params", PlainSection(sections, params.model_fields_set))


def _values_of(section: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(section).items() if name != _GIVEN}


def keep_settings(state: Path, file: Path | None) -> None:
    """Keeps what `file` says for a state folder, where it is not kept yet. Where it cannot be, nothing is kept."""
    with suppress(UnknownSettings):
        kept_settings(state, file)
        return
    from infold.settings import load_params

    with suppress(OSError, ValueError, TypeError, InfoldError):
        told = _told_by(file)
        sections = {
            name: {"values": dict(section), "given": sorted(section.model_fields_set)}
            for name, section in load_params(file)
        }
        if _told_by(file) == told:  # else it was written while it was read
            Disk().write(state / _PLACE, json.dumps({"of": told, "sections": sections}).encode())


def kept_settings(state: Path, file: Path | None) -> Params:
    """The settings that `file` says, by the record of a state folder. Raises UnknownSettings."""
    try:
        record = json.loads((state / _PLACE).read_bytes())
        if record["of"] != _told_by(file):
            raise UnknownSettings
        sections = {
            name: PlainSection(_frozen(section["values"]), section["given"])
            for name, section in record["sections"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnknownSettings from error
    return cast("Params", PlainSection(sections, sections))


def _told_by(file: Path | None) -> list[str]:
    """The program by its version, place and the time of what declares settings; the file by all it says."""
    declared = Path(infold.__file__).absolute().with_name("settings.py")
    text = "" if file is None else file.read_text(encoding="utf-8")
    name = "" if file is None else str(file)
    return [infold.__version__, str(declared), str(declared.stat().st_mtime_ns), name, text]


def _frozen(values: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON has as a list is a tuple in settings."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
