"""`infold doctor`: what a newcomer needs to know about their vault, each line with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infold.cli.checkup_flows import flow_findings
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.operations.contract import Nothing
from infold.operations.vault import FindingReport, vault_doctor

if TYPE_CHECKING:
    from infold.cli.terminal import Terminal


@command
def doctor(call: Call) -> int:
    """Examine the vault, the settings and the state, and say what to do about what is found.

    Changes nothing in the vault. Exit code 1 where something keeps the job from working as asked.
    """
    with call.vault() as vault, Stages(call.terminal) as stages, vault.reporting(stages):
        found = vault_doctor(vault, Nothing())
        found = found.with_findings(flow_findings(vault.located))
    if call.terminal.is_json:
        call.terminal.emit(found.as_json())
    else:
        for finding in found.findings:
            _show(call.terminal, finding)
    return int(found.problems > 0)


def _show(terminal: Terminal, finding: FindingReport) -> None:
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
