"""What `infold doctor` finds of the served flows: whether they are up, and whether what is scheduled comes."""

from __future__ import annotations

from collections.abc import Iterator

from infold.diagnostics.finding import Finding, Level
from infold.locate import LocatedWorkspace

_TOPIC = "flows"


def flow_findings(place: LocatedWorkspace) -> Iterator[Finding]:
    """One finding where all is well or nothing is served, else one a schedule that does not come."""
    from flows.schedule_check import is_served, problems, scheduled_flows
    from flows.server_folder import ServerFolder
    from infold.cli.flows import next_runs

    folder = ServerFolder.of(place.workspace)
    if not is_served(folder):
        yield Finding(Level.OK, _TOPIC, "nothing runs on a schedule; `infold flows up` serves the flows")
        return
    found = list(problems(folder))
    for sentence in found:
        yield Finding(Level.PROBLEM, _TOPIC, sentence, "End `infold flows up` and start it again.")
    if not found:
        planned = next_runs(list(scheduled_flows(folder.serving())))
        yield Finding(Level.OK, _TOPIC, f"served; next: {planned or 'nothing is scheduled'}")
