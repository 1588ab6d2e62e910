"""A file of settings as a person keeps it: one setting changed, all else as it stands, comments included.

What the settings are belongs to `infold.settings`; which file is in force, to `infold.locate`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from infold.durable.files import Disk
from infold.errors import SettingInvalid, StateUnwritable
from infold.settings import Params, load_params

_COMMENT: Final = re.compile(r"\s+#.*$")


def names() -> list[str]:
    """Every setting as `section.name`, in the order of `params.yaml`."""
    return [f"{section}.{name}" for section, values in Params() for name in type(values).model_fields]


def said_in(file: Path | None) -> dict[str, Any]:
    """The settings that a file says, by `section.name`. Raises SettingInvalid as `load_params` does."""
    if file is None:
        return {}
    load_params(file)
    content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return {f"{section}.{name}": value for section, values in content.items() for name, value in (values or {}).items()}


def change_setting(file: Path, name: str, value: str | None) -> None:
    """Writes one setting into a file, which is made where there is none; None takes it out.

    `value` is YAML, as on the right of a colon. Raises SettingInvalid, the file untouched, for what is no setting, is
    out of range, or would stand in a file that is written in another way than one setting a line.
    """
    _check(name, value)
    was = file.read_text(encoding="utf-8") if file.exists() else ""
    wanted = said_in(file if was else None)
    wanted = {each: said for each, said in wanted.items() if each != name}
    if value is not None:
        wanted[name] = yaml.safe_load(value)
    section, _, key = name.partition(".")
    text = _with_line(was, section, key, value)
    if _said(text) != wanted:
        raise SettingInvalid(
            f"{file} is not written as one setting a line, so {name} cannot be changed in it safely.",
            hint="`infold config edit` opens it.",
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        Disk().write_whole(file, text.encode(), is_shared=True)
    except OSError as error:
        raise StateUnwritable(f"{file} cannot be written: {error.strerror or error}.") from error


def _check(name: str, value: str | None) -> None:
    if value is None and name in names():
        return
    try:
        load_params(None, [f"{name}={value}"])
    except SettingInvalid as error:
        raise SettingInvalid(str(error).replace(" (--set)", ""), hint=error.hint) from error


def _with_line(text: str, section: str, key: str, value: str | None) -> str:
    """The text with the line of that setting changed, added or taken out."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    start = next((n for n, line in enumerate(lines) if re.match(rf"{re.escape(section)}:\s*(#.*)?$", line)), None)
    if start is None and re.search(rf"^['\"]?{re.escape(section)}\b", text, re.MULTILINE):
        return text
    if start is None:
        return "".join(lines) + ("" if value is None else f"{section}:\n  {key}: {value}\n")
    end = next((n for n in range(start + 1, len(lines)) if re.match(r"[^\s#]", lines[n])), len(lines))
    at = next((n for n in range(start + 1, end) if re.match(rf"\s+{re.escape(key)}:", lines[n])), None)
    indent = next((m[0] for line in lines[start + 1 : end] if (m := re.match(r"\s+(?=[\w])", line))), "  ")
    if at is None:
        lines[start + 1 : start + 1] = [] if value is None else [f"{indent}{key}: {value}\n"]
    elif value is None:
        others = [line for line in lines[start + 1 : at] + lines[at + 1 : end] if re.match(r"\s+\w", line)]
        del lines[at]
        del lines[start : start + (not others)]
    else:
        comment = _COMMENT.search(lines[at].rstrip("\n"))
        lines[at] = f"{indent}{key}: {value}{comment[0] if comment else ''}\n"
    return "".join(lines)


def _said(text: str) -> dict[str, Any] | None:
    try:
        content = yaml.safe_load(text) or {}
    except yaml.YAMLError:
        return None
    if not all(isinstance(values, Mapping) or values is None for values in content.values()):
        return None
    return {f"{section}.{name}": value for section, values in content.items() for name, value in (values or {}).items()}
