"""What an agent is told first: how the notebook is organised, when to write, what to search (spec 3, section 9)."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infold.app import OpenVault


def instructions(vault: OpenVault, prefix: str = "") -> str:
    """The instructions for this vault; tools are named with their `prefix`."""
    text = Template(_text("instructions"))
    names = {name: f"{prefix}{name}" for name in text.get_identifiers()}  # known without the table
    return text.substitute(names | {"reference": vault.params.notebook.reference_folder})


def agent_instructions(vault: OpenVault) -> str:
    """The same for the vault's own agent, who talks with the person."""
    return f"{instructions(vault)}\n\n{_text('agent_instructions')}"


def _text(name: str) -> str:
    return (files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip()
