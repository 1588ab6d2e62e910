"""What the documents say about the command line is true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from infold.app import OpenVault
from infold.cli.commands import COMMANDS, CommandGroup
from infold.settings import Params

REPOSITORY = Path(__file__).resolve().parents[2]
GROUPS = {entry.name: entry.default for entry in COMMANDS if isinstance(entry, CommandGroup)}
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def test_the_command_line_page_is_the_help_of_every_command():
    """When it fails: `python -m scripts.cli_docs`."""
    code = "from scripts.cli_docs import render; import sys; sys.stdout.write(render())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout == (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_shown_exists_with_its_options(infold, page):
    """No page shows a command or an option that is not there."""
    text = page.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    shown = re.findall(r"\binfold ([a-z].*)$", blocks, re.MULTILINE) + re.findall(r"`infold ([a-z][^`]*)`", text)
    for line in shown:
        words = shlex.split(line.partition(" >>")[0], comments=True)
        command = words[:2] if words[0] in GROUPS else words[:1]
        if default := GROUPS.get(words[0]):
            command = [words[0], default] if words[1:2] == [] or words[1].startswith("-") else command
        done = infold(*command, "--help")
        assert done.exit_code == 0, line
        for option in (word for word in words if word.startswith("--")):
            assert option in done.stdout, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_named_exists(page):
    """`section.name` in a page, and each YAML example, is a setting."""
    text = page.read_text(encoding="utf-8")
    known = {f"{section}.{name}" for section, values in Params().model_dump().items() for name in values}
    known |= {f"vault.{name}" for name in dir(OpenVault)}  # docs/python.md calls an opened vault so
    sections = "|".join(Params.model_fields)
    named = re.findall(rf"(?<![.\w/])((?:{sections})\.[a-z_]+)\b(?![-(.])", text)
    assert {name for name in named if not name.endswith((".md", ".py", ".sqlite"))} <= known
    for example in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        Params.model_validate(yaml.safe_load(example))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    """Links between pages name files that are there."""
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
