"""docs/formats.md: every format on disk with its version of today."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from infold.durable.sqlite import Schema
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
ROOT = REPOSITORY / "src" / "infold"
NAMED = re.compile(r"_?(?:\w+_)?(?:VERSION|FORMAT|PROTOCOL|SCHEMA)")
VERSIONED = re.compile(r"(?:[a-z]+/)?\d+")


def rows() -> set[tuple[str, str]]:
    """(constant, version) of every row that names one."""
    cells = (line.split("|") for line in PAGE.splitlines() if line.startswith("|"))
    found = set()
    for row in cells:
        constant = next((i for i, cell in enumerate(row) if re.fullmatch(r" `infold\.[\w.:]+` ", cell)), None)
        if constant is not None:
            found.add((row[constant].strip(" `"), row[constant + 1].strip()))
    return found


def constants() -> dict[str, str]:
    """Every constant of the package that is the version of a format: by its name, or by its form `name/number`."""
    found: dict[str, str] = {}
    for file in ROOT.rglob("*.py"):
        module = ".".join(("infold", *file.relative_to(ROOT).with_suffix("").parts))
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
            for target in targets:
                name, value = ast.unparse(target), getattr(node, "value", None)
                if isinstance(value, ast.Call) and ast.unparse(value.func) == "Schema":
                    found[f"{module}:{name}"] = str(getattr(importlib.import_module(module), name).version)
                elif isinstance(value, ast.Constant) and _is_version(name, value.value):
                    found[f"{module}:{name}"] = str(value.value)
                elif value is not None and not isinstance(value, ast.Constant):
                    texts = [
                        n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                    ]
                    found |= {f"{module}#{text}": text for text in texts if re.fullmatch(r"[a-z]+/\d+", text)}
    return found


def _is_version(name, value):
    is_named = NAMED.fullmatch(name) and isinstance(value, int | str) and VERSIONED.fullmatch(str(value))
    return bool(is_named) or (isinstance(value, str) and re.fullmatch(r"[a-z]+/\d+", value) is not None)


def test_every_format_is_on_the_page_with_its_version():
    """A version that is raised, or a format that is new, is told with what an upgrade does."""
    wanted = {(place.partition("#")[0], version) for place, version in constants().items()}
    assert wanted == rows()


def test_every_table_has_its_head():
    """A blank line in a table would make text of the rows below it: each run of rows begins with a head and a rule."""
    lines = PAGE.splitlines()
    first = [i for i, line in enumerate(lines) if line.startswith("|") and not lines[i - 1].startswith("|")]
    assert first
    assert all(re.fullmatch(r"(\|-+)+\|", lines[i + 1]) for i in first)


def test_enough_is_found():
    """The search for constants finds the databases, the tables and the journal."""
    found = constants()
    assert len(found) >= 15
    assert "infold.durable.journal:FORMAT" in found


@pytest.mark.parametrize("module", ["infold.catalogue.schema", "infold.catalogue.embeddings", "infold.docmem.schema"])
def test_a_database_has_its_version(module):
    """The number of its migrations, which its file says."""
    assert isinstance(importlib.import_module(module).SCHEMA, Schema)
