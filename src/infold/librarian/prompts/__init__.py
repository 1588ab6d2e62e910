"""The words said to a model: a folder a kind of decision, one Markdown file a message, with `$name` where a value goes.

The version of a kind follows from its files' content: a changed word makes the answers of that kind stale, and no
other's.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib.resources import files
from string import Template

from infold.text import content_hash


class DecisionKind(StrEnum):
    """The kinds of decision; each has its prompts in the folder of its name."""

    GROUP = "group"
    SUMMARY = "summary"
    CHUNK = "chunk"  # look and edit: one conversation
    HOME = "home"
    ARTICLE = "article"
    PERSPECTIVE = "perspective"
    THEMES = "themes"
    PLAN = "plan"
    ANSWER = "answer"
    COMPRESSION = "compression"


def prompt(name: str, /, **values: object) -> str:
    """The prompt `kind/message` with its values put in. What stands in a value is never read as a placeholder."""
    return _template(name).substitute({key: str(value) for key, value in values.items()})


@cache
def prompt_version(kind: DecisionKind) -> str:
    """Ten hex digits that change with any word of this kind's prompts."""
    folder = files(__package__) / kind
    found = sorted((f.name, f.read_text(encoding="utf-8")) for f in folder.iterdir() if f.name.endswith(".md"))
    return content_hash("\0".join(part for pair in found for part in pair))[:10]


@cache
def _template(name: str) -> Template:
    return Template((files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip())
