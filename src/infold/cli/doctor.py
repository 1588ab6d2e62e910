"""`infold doctor`: what a newcomer needs to know about their vault, each line with what to do."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from infold.cli.options import Call, command

if TYPE_CHECKING:
    from infold.cli.checkup import Finding
    from infold.cli.terminal import Terminal


@command
def doctor(call: Call) -> int:
    """Examine the vault, the settings and the state, and say what to do about what is found.

    Changes nothing in the vault. Exit code 1 where something keeps the job from working as asked.
    """
    from infold.cli.checkup import Level, examine
    from infold.cli.checkup_flows import flow_findings
    from infold.cli.checkup_memory import memory_findings
    from infold.cli.progress import Stages
    from infold.cli.survey import survey
    from infold.environment import Environment

    place = call.place()
    with Stages(call.terminal) as stages:
        seen = survey(place, stages)
    findings = [*examine(place, seen, Environment()), *memory_findings(place), *flow_findings(place)]
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    if call.terminal.is_json:
        call.terminal.emit({"problems": problems, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            _show(call.terminal, finding)
    return int(problems > 0)


def _show(terminal: Terminal, finding: Finding) -> None:
    from rich.table import Table
    from rich.text import Text

    sign, style = {"ok": ("✓", "green"), "note": ("•", "yellow"), "problem": ("✗", "bold red")}[finding.level]
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(width=9)
    grid.add_column(overflow="fold")
    text = Text(finding.text)
    if finding.todo:
        text.append(f"\n→ {finding.todo}", style="dim")
    grid.add_row(Text(sign, style=style), Text(finding.topic, style="bold"), text)
    terminal.show(grid)
