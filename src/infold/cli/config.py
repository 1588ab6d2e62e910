"""`infold config`: the settings in force, where each comes from, and changing one."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
import yaml

from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.environment import VARIABLES, Environment
from infold.errors import SettingInvalid, UsageError
from infold.place import PARAMS_FILE
from infold.settings import Params, load_params
from infold.settings_file import change_setting, names, said_in

if TYPE_CHECKING:
    from infold.locate import LocatedWorkspace

_SECRET: Final = ("KEY", "TOKEN")
_FOUND: Final = "found in the vault"

NameArgument = Annotated[
    str, typer.Argument(metavar="SECTION.NAME", help="A setting.", autocompletion=suggestions.settings)
]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting or variable in force, and where its value comes from: default, a file, an option, the environment."""

    name: str
    value: Any
    origin: str

    @property
    def shown(self) -> str:
        """The value as a person writes it."""
        if self.value is None or isinstance(self.value, bool):
            return yaml.safe_dump(self.value).splitlines()[0]
        return str(self.value)


@command
def list_(
    call: Call,
    *,
    changed: Annotated[
        bool, typer.Option("--changed", metavar="", help="Only what is not the default, and variables that are set.")
    ] = False,
) -> int:
    """List every setting with its value and where that comes from: default, file, option or environment."""
    place = call.place()
    found = [*_settings(call, place), *_variables()]
    if changed:
        found = [each for each in found if each.origin not in ("default", "not set")]
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "file": str(_file(place)),
                "settings": [{"name": each.name, "value": each.value, "from": each.origin} for each in found],
            }
        )
        return 0
    width, values = max((len(each.name) for each in found), default=0), 24
    for each in found:
        call.terminal.say(f"{each.name:{width}}  {each.shown:{values}}  {each.origin}")
    return 0


@command
def get(
    call: Call,
    *,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A setting, or a variable of the environment.", autocompletion=suggestions.settings
        ),
    ],
) -> int:
    """Print the value of one setting, and on stderr where it comes from."""
    variables = {each.name: each for each in _variables()}
    found = variables.get(name.upper())
    if found is None:
        found = next((each for each in _settings(call, call.place()) if each.name == name), None)
    if found is None:
        load_params(None, [f"{name}=0"])  # raises, with the name that comes near
        raise UsageError(f"There is no setting {name}.")
    if call.terminal.is_json:
        call.terminal.emit({"name": found.name, "value": found.value, "from": found.origin})
        return 0
    call.terminal.say(found.shown)
    call.terminal.notice(f"from    {found.origin}", style="dim")
    return 0


@command
def set_(
    call: Call,
    *,
    name: NameArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in YAML: 3, true, null, offline.")],
) -> int:
    """Change one setting in the file that is in force; comments and all else in it stay."""
    return _change(call, name, value)


@command
def unset(call: Call, *, name: NameArgument) -> int:
    """Take one setting out of the file that is in force, so that its default counts again."""
    return _change(call, name, None)


def _change(call: Call, name: str, value: str | None) -> int:
    place = call.place()
    file = _file(place)
    before = next((each for each in _settings(call, place) if each.name == name), None)
    change_setting(file, name, value)
    after = next(each for each in _settings(call, call.place()) if each.name == name)
    if call.terminal.is_json:
        was = before.value if before else None
        call.terminal.emit({"name": name, "value": after.value, "before": was, "file": str(file)})
        return 0
    was = f", was {before.shown}" if before and before.value != after.value else ""
    call.terminal.say(f"{name} is {after.shown}{was}  ({file})")
    return 0


@command
def edit(call: Call) -> int:
    """Open the file of settings in your editor, and check it afterwards."""
    file = _file(call.place())
    editor = shlex.split(Environment().get("VISUAL") or Environment().get("EDITOR") or "")
    if not editor:
        raise SettingInvalid("No editor is set.", hint=f"Set EDITOR, or open {file} yourself.")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# Settings, such as:\n# integrate:\n#   concurrency: 4\n", encoding="utf-8")
    done = subprocess.run([*editor, str(file)], check=False)  # noqa: S603 - the person's own editor
    load_params(file)
    if call.terminal.is_json:
        call.terminal.emit({"file": str(file), "editorCode": done.returncode})
        return 0
    call.terminal.say(f"{file} is in order.")
    return 0


def _file(place: LocatedWorkspace) -> Path:
    return place.params_file or place.state / PARAMS_FILE


def _settings(call: Call, place: LocatedWorkspace) -> list[Setting]:
    in_file = said_in(place.params_file)
    in_options = {each.partition("=")[0] for each in call.wanted.changes}
    in_force, default = place.params.model_dump(mode="json"), Params().model_dump(mode="json")
    found = []
    for name in names():
        section, _, key = name.partition(".")
        value = in_force[section][key]
        if name in in_options:
            origin = "option --set"
        elif name in in_file:
            origin = str(place.params_file)
        else:
            origin = "default" if value == default[section][key] else _FOUND
        found.append(Setting(name, value, origin))
    return found


def _variables() -> list[Setting]:
    environment = Environment()
    return [
        Setting(name, ("set, not shown" if name.endswith(_SECRET) else value) if value else None, origin)
        for name in VARIABLES
        for value in (environment.get(name),)
        for origin in ("environment" if value else "not set",)
    ]
