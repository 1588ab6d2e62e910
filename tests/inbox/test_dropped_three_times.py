"""An inbox of odd Markdown, dropped three times into a vault: the whole job, offline."""

from __future__ import annotations

import asyncio
from pathlib import Path

from infold.app import open_steps
from infold.inbox.integration import integrate
from infold.inbox.run import Run
from infold.settings import Params
from infold.workspace import Workspace

NOTES = {
    "index.md": "# Index\n\n- [[Sourdough]]\n- [[Tyres]]\n- [[Shell]]\n",
    "Sourdough.md": "---\ntags: [bread]\n---\nSourdough starter wants flour and water every day.\n\n## Feeding the starter\n\n"
    "1. Weigh the starter.\n2. Add flour and water.\n3. Wait until it has doubled.\n\n## Flour for the dough\n\n- rye flour\n- wheat flour\n",
    "Tyres.md": "# Tyres\n\nThe tyres of the bicycle are tubeless. What the valve needs:\n- sealant\n- a core tool\n\n"
    "## Pressure\n\nThe front tyre holds three bar.\n\n> [!tip] Pump\n> Pump the tyre before the ride.\n",
    "Shell.md": "# Shell\n\nThe shell runs a loop over files so:\n\n```sh\nfor file in *; do echo $file; done\n```\n",
}
INBOX = """# Inbox

- sourdough starter doubled in four hours with warm water
- [ ] buy rye flour for the sourdough
* tyre sealant dried out in the valve
  - the rear tyre first
  - the front tyre after

Feeding the sourdough starter in summer:
1. Half the starter.
2. Cold water.
3. Twice a day.

The bicycle tyre lost pressure overnight
- pump it before the ride
- look at the valve
- listen for air
- water shows the hole
- sealant
- a new tube
- the old tube

A loop of the shell that renames files:

```sh
for file in *.txt; do

  mv $file $file.old
done
```

> [!note] Sourdough
> Rye flour ferments faster than wheat flour.

| tyre | bar |
|------|-----|
| rear | 3.2 |

![[tyre valve.png]]

- dentist on thursday
"""


def drop(workspace: Workspace) -> Run:
    workspace.inbox.write_text(INBOX)

    async def go() -> Run:
        async with open_steps(workspace) as steps:
            return await integrate(workspace, steps)

    return asyncio.run(go())


def notes(workspace: Workspace) -> dict[str, str]:
    return {path: (workspace.vault / path).read_text() for path in NOTES}


def test_there_is_one_copy_however_often_an_inbox_is_dropped(tmp_path: Path):
    """The second and the third time every paragraph that went in is known, and no note changes."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for path, text in NOTES.items():
        (vault / path).write_text(text)
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}, "search": {"embedding": "none"}})
    workspace = Workspace(vault, tmp_path / "state", vault / "inbox.md", params)
    first = drop(workspace)
    outcomes = {p.text: p.outcome for p in first.paragraphs}
    assert len(outcomes) == 10
    assert [text for text, outcome in outcomes.items() if outcome != "integrated"] == ["- dentist on thursday"]
    after = notes(workspace)
    for _ in range(2):
        again = drop(workspace)
        assert {p.text for p in again.paragraphs if p.outcome == "duplicate"} == {
            text for text, outcome in outcomes.items() if outcome == "integrated"
        }
        assert notes(workspace) == after
    assert "1. Weigh the starter.\n2. Add flour and water.\n3. Wait" in after["Sourdough.md"]
    assert "What the valve needs:\n- sealant\n" in after["Tyres.md"]
    assert "over files so:\n\n```sh" in after["Shell.md"]
