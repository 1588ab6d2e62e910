"""Completion, asked as the scripts ask, and in the shells that are installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def vault(tmp_path):
    """A vault that has a name, with a note whose name needs care in a shell, and a log entry."""
    folder = tmp_path / "my vault"
    folder.mkdir()
    (folder / "Garden $(touch pwned).md").write_text("# Garden\n")
    (folder / "Gate.md").write_text("# Gate\n")
    return folder


def offered(infold, *words, shell="fish") -> list[str]:
    """The values that may stand where the last word begins."""
    done = infold("completion", shell, "--", *words)
    assert done.exit_code == 0
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


def test_commands_groups_and_options_are_offered(infold):
    """By their beginning; of a group both its commands and the options of the one that is meant without a name."""
    assert offered(infold, "int") == ["integrate"]
    assert set(offered(infold, "runs", "")) == {"list", "prune"}
    assert "--limit" in offered(infold, "runs", "--l")
    assert offered(infold, "integrate", "--dry") == ["--dry-run"]
    assert offered(infold, "apply", "last", "--exc") == ["--except"]
    assert offered(infold, "evaluate", "--librarian", "") == ["offline", "model"]
    assert offered(infold, "nonsense", "x") == []


def test_values_are_those_that_there_are(infold, vault):
    """Names of vaults, notes of the vault that is named, settings, runs."""
    assert infold("vaults", "add", "my", vault).exit_code == 0
    assert offered(infold, "status", "--vault", "m") == ["my"]
    assert offered(infold, "get", "--vault", "my", "Ga") == ["Garden $(touch pwned).md", "Gate.md"]
    assert offered(infold, "config", "get", "watch.poll") == ["watch.polling"]
    assert infold("log", "x", "--vault", "my").exit_code == 0
    runs = offered(infold, "undo", "--vault", "my", "")
    assert runs[:2] == ["last", "w-last"]
    assert runs[2].startswith("w-2")


def test_where_there_is_no_vault_nothing_is_offered_and_nothing_is_told(infold):
    """A person who presses Tab sees no error."""
    done = infold("completion", "bash", "--", "get", "--vault", "gone", "N")
    assert (done.exit_code, done.output) == (0, "")


def test_the_script_says_itself_as_json(infold):
    """One object, as everywhere."""
    assert '"shell": "zsh"' in infold("completion", "zsh", "--json").stdout
    assert infold("completion", "tcsh").exit_code == 2


@pytest.fixture
def here(tmp_path) -> dict[str, str]:
    """An environment in which `infold` is this one."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "infold"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m infold "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


def ask(shell: str, script: str, environment: dict[str, str]) -> str:
    """What a shell says, which must be installed."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    options = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}[shell]
    done = subprocess.run(
        [shell, *options, script], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


BASH = """
eval "$(infold completion bash)"
tried() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _infold_completion infold; printf '%s\\n' "${COMPREPLY[@]}"; }
tried infold integ
tried infold get --vault my Gar
tried infold get --vault my 'Garden\\ \\$'
complete -p infold
"""


def test_bash_completes(infold, vault, here, tmp_path):
    """In a real bash: a command; a note, quoted so that nothing in its name is run, whether begun quoted or not."""
    infold("vaults", "add", "my", vault)
    quoted = r"Garden\ \$\(touch\ pwned\).md"
    assert ask("bash", BASH, here).splitlines() == [
        "integrate",
        quoted,
        quoted,
        "complete -o bashdefault -o default -F _infold_completion infold",
    ]
    assert ask("bash", f"printf %s {quoted}", here) == "Garden $(touch pwned).md"
    assert not (tmp_path / "pwned").exists()


ZSH = """
compdef() { print -r -- "compdef $*" }
eval "$(infold completion zsh)"
compadd() { print -rl -- "${(@P)@[-1]}" }
tried() { words=("$@"); CURRENT=$#; _infold_completion }
tried infold integ
tried infold get --vault my Ga
tried infold get --vault my "Garden\\ \\$"
"""


def test_zsh_completes(infold, vault, here):
    """In a real zsh, whose own `compadd` quotes what it is given."""
    infold("vaults", "add", "my", vault)
    note = "Garden $(touch pwned).md"
    assert ask("zsh", ZSH, here).splitlines() == [
        "compdef _infold_completion infold",
        "integrate",
        note,
        "Gate.md",
        note,
    ]


def test_fish_completes(infold, vault, here):
    """In a real fish."""
    infold("vaults", "add", "my", vault)
    found = ask("fish", "infold completion fish | source; complete -C 'infold get --vault my Ga'", here)
    assert found.splitlines() == ["Garden $(touch pwned).md", "Gate.md"]
