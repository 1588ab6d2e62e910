"""Prompts for the common jobs: what a person picks in their client, in words that name the tools to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Final

import mcp_types as types

from infold.errors import UsageError


@dataclass(frozen=True, slots=True)
class Prompt:
    """A job, its arguments with what they mean, and the words for it."""

    name: str
    description: str
    arguments: Mapping[str, str]
    text: str

    @property
    def tools(self) -> frozenset[str]:
        """The operations that the words name."""
        return frozenset(Template(self.text).get_identifiers()) - self.arguments.keys()

    def listed(self) -> types.Prompt:
        """As a client lists it."""
        return types.Prompt(
            name=self.name,
            description=self.description,
            arguments=[
                types.PromptArgument(name=name, description=said, required=True)
                for name, said in self.arguments.items()
            ],
        )


PROMPTS: Final[Mapping[str, Prompt]] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "what_do_i_know",
            "What my notes say about something, with the places.",
            {"subject": "What it is about."},
            "What do my notes say about $subject? Search with $memory_search, read on with $memory_get where a snippet "
            "is not enough, and answer with the file and lines of everything you rely on. Say what was not found.",
        ),
        Prompt(
            "fold_inbox",
            "Plan how the inbox folds into my notes, and show me the plan.",
            {},
            "Plan the integration of my inbox with $inbox_integrate as a dry run. Tell me for each paragraph where it "
            "would go and why, and what would stay. Do not apply anything before I say so; then use $run_apply. "
            "$run_undo takes it back.",
        ),
        Prompt(
            "review_day",
            "Look back at today, and log what should be kept.",
            {},
            "Look at $memory_context and at what we did in this conversation. Add what happened to the daily log with "
            "$daily_log, and facts worth keeping to the notebook with $notebook_write, on pages that exist already. "
            "Tell me in three lines what you wrote.",
        ),
        Prompt(
            "remember",
            "Keep a fact where it belongs.",
            {"fact": "What to keep."},
            "Keep this where it belongs in my notebook: $fact\n\nSearch for the page that speaks of it first; write "
            "to it with $notebook_write, and make a new page only where none does. If a note says otherwise, tell me "
            "before you write.",
        ),
    )
}


def prompts(tools: Mapping[str, str]) -> dict[str, Prompt]:
    """The prompts that can be followed with these tools: the tool's name by the operation's."""
    return {name: prompt for name, prompt in PROMPTS.items() if prompt.tools <= tools.keys()}


def prompt_text(name: str, given: Mapping[str, str], tools: Mapping[str, str]) -> types.GetPromptResult:
    """A prompt filled in. Raises UsageError for a name or an argument there is not, and for one that is missing."""
    known = prompts(tools)
    prompt = known.get(name)
    if prompt is None:
        raise UsageError(f"There is no prompt {name!r}.", hint=f"The prompts are {', '.join(known)}.")
    wrong = sorted(set(given) ^ set(prompt.arguments))
    if wrong:
        raise UsageError(
            f"{name} takes {', '.join(prompt.arguments) or 'no arguments'}; not so: {', '.join(wrong)}.",
            hint="Give just these.",
        )
    text = Template(prompt.text).substitute({**tools, **given})
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(
        description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
    )
