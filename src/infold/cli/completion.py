"""`infold completion`: what a shell needs to complete commands, options, runs, notes and names of vaults.

The script of each shell asks this same command for the words that may stand where the last one begins, so that a new
command or option is completed at once. Notes and runs are told as they are at that moment.
"""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
import typer.completion
import typer.main

from infold.cli import app
from infold.cli.options import Call, placeless_command

if TYPE_CHECKING:
    from collections.abc import Sequence


class Shell(StrEnum):
    """A shell that completes words."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS: Final = {
    Shell.BASH: r"""_infold_completion() {
    local found
    COMPREPLY=()
    while IFS= read -r found; do
        COMPREPLY+=("$found")
    done < <("$1" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _infold_completion infold""",
    Shell.ZSH: r"""_infold_completion() {
    local -a values shown
    local found
    while IFS= read -r found; do
        values+=("${found%%$'\t'*}")
        shown+=("${found/$'\t'/  -- }")
    done < <("${words[1]}" completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    if (( $#values )); then
        compadd -l -d shown -a values
    else
        _files
    fi
}
compdef _infold_completion infold""",
    Shell.FISH: r"""function __infold_completion
    set -l before (commandline -opc)
    set -l found (command $before[1] completion fish -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command infold --no-files --arguments '(__infold_completion)'""",
}
_HOW: Final = {
    Shell.BASH: 'eval "$(infold completion bash)"      # in ~/.bashrc',
    Shell.ZSH: 'eval "$(infold completion zsh)"       # in ~/.zshrc, after compinit',
    Shell.FISH: "infold completion fish | source       # in ~/.config/fish/config.fish",
}
_UNSAFE: Final = re.compile(r"[^\w@%+=:,./-]")  # in bash


_Asked: Any = getattr(typer.completion, "shell_completion").ShellComplete  # noqa: B009 - wherever this typer keeps it


class _Words(_Asked):  # type: ignore[misc] # untyped there
    """Finds what may stand next."""

    name = "words"

    source_vars = get_completion_args = format_completion = None  # a shell's: the scripts are here


@placeless_command
def completion(
    call: Call,
    *,
    shell: Annotated[Shell, typer.Argument(help="The shell that completes.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- WORD...]", help="What is typed so far, `infold` aside: asked by the script."),
    ] = None,
) -> int:
    """Print what makes a shell complete commands, options, notes, runs and vaults: bash, zsh or fish.

    Put the line that the examples show into the shell's own start-up file.
    """
    if words is None and call.terminal.is_json:
        call.terminal.emit({"shell": str(shell), "script": _SCRIPTS[shell], "how": _HOW[shell]})
    elif words is None:
        sys.stdout.write(f"{_SCRIPTS[shell]}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(shell, words)))
    return 0


def _lines(shell: Shell, words: Sequence[str]) -> list[str]:
    typed = [_unquoted(word) for word in words] if shell is Shell.BASH else list(words)
    asked = _Words(typer.main.get_command(app.app), {}, "infold", "")
    items = asked.get_completions(typed[:-1], typed[-1])
    if shell is Shell.BASH:
        return [_UNSAFE.sub(r"\\\g<0>", _after_colon(item.value, typed[-1])) for item in items]
    return [f"{item.value}\t{_one_line(item.help or '')}".rstrip("\t") for item in items]


def _unquoted(word: str) -> str:
    """A word of bash, which hands it over as it was typed, quotes and all."""
    return re.sub(r"\\(.)|[\"']", r"\1", word)


def _after_colon(value: str, typed: str) -> str:
    """Bash breaks words at colons, and completes only what is behind the last one."""
    return value[typed.rindex(":") + 1 :] if ":" in typed and value.startswith(typed) else value


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).split())
