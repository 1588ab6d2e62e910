"""A plan decided hunk by hunk becomes exactly what was decided."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import infold
from infold.app import OpenVault
from infold.diagnostics.examine import examine
from infold.errors import EditRefused, RunStateWrong, UsageError
from infold.inbox.review import Decision, HunkVerdict, is_expired
from infold.inbox.run import Run
from infold.operations.inbox import RunRequest
from infold.operations.review import run_review

NOTES = {
    "index.md": "# Index\n\n- [[Bread]]\n- [[Tyres]]\n",
    "Bread.md": "# Bread\n\nRye bread is done at ninety-eight degrees.\n\n## Flour\n\nRye flour takes much water.\n",
    "Tyres.md": "# Tyres\n\nThe tyres of the bicycle want sealant.\n",
}
INBOX = (
    "Rye bread needs a core of ninety-eight degrees.\n\nSealant in bicycle tyres dries out.\n\nDentist on thursday.\n"
)


@pytest.fixture
def vault(tmp_path: Path) -> OpenVault:
    folder = tmp_path / "vault"
    folder.mkdir()
    for path, text in NOTES.items():
        (folder / path).write_text(text)
    (folder / "inbox.md").write_text(INBOX)
    changes = ["integrate.quiet_seconds=0", "search.embedding=none"]
    return infold.open(folder, state=tmp_path / "state", changes=changes)


@pytest.fixture
def plan(vault: OpenVault) -> Run:
    return vault.integrate(dry_run=True)


def note(vault: OpenVault, path: str) -> str:
    return (vault.workspace.vault / path).read_text()


def test_a_plan_is_shown_with_what_stays_first(vault, plan):
    """Each hunk with its heading and the notes that came next; what stays with the nearest notes and a name."""
    shown = run_review(vault, RunRequest(run=plan.id))
    assert [(hunk.number, hunk.file, hunk.trail[:1]) for hunk in shown.hunks] == [
        (1, "Bread.md", ("Bread",)),
        (2, "Tyres.md", ("Tyres",)),
    ]
    assert "index.md" in shown.hunks[0].runners_up
    assert "sealant" in shown.hunks[1].reason.casefold()
    assert re.search(r"under Tyres; \d+% for this note; no other is near", shown.hunks[1].reason)
    report = (vault.runs.path(plan.id) / "report.html").read_text()
    assert all(hunk.reason in report for hunk in shown.hunks)
    (left,) = shown.left
    assert (left.n, left.new_note) == (3, "Dentist on thursday")
    assert not shown.is_expired


def test_skipped_hunks_stay_in_the_inbox(vault, plan):
    """Only what was accepted is written; the rest is in the inbox, and one undo takes it back."""
    done = vault.apply(plan.id, decisions={1: Decision(HunkVerdict.SKIP)})
    assert note(vault, "Bread.md") == NOTES["Bread.md"]
    assert "dries out" in note(vault, "Tyres.md")
    assert note(vault, "inbox.md") == "Rye bread needs a core of ninety-eight degrees.\n\nDentist on thursday.\n"
    assert [p.outcome for p in done.paragraphs] == ["left", "integrated", "left"]
    vault.undo(done.id)
    assert {path: note(vault, path) for path in NOTES} == NOTES
    assert note(vault, "inbox.md") == INBOX


@pytest.mark.parametrize(
    "only, leave_out", [(["2"], []), (["2, 2"], []), (["Tyres"], []), ([], ["Bread.md"]), ([], ["1"])]
)
def test_only_and_except_name_hunks_and_notes(vault, plan, only, leave_out):
    """By number, or by the note."""
    vault.apply(plan.id, only=only, leave_out=leave_out)
    assert note(vault, "Bread.md") == NOTES["Bread.md"]
    assert "dries out" in note(vault, "Tyres.md")


def test_what_names_no_hunk_is_refused(vault, plan):
    """Nothing is written for a slip of the pen."""
    with pytest.raises(UsageError, match="'9' names no hunk"):
        vault.apply(plan.id, only=["9"])
    assert note(vault, "Tyres.md") == NOTES["Tyres.md"]


def test_a_hunk_takes_another_text(vault, plan):
    """What the person wrote stands there, and the paragraph leaves the inbox."""
    (hunk,) = [h for h in vault.hunks(plan.id)[1] if h.file == "Tyres.md"]
    other = hunk.replace.replace("dries out", "dries out in summer heat")
    vault.apply(plan.id, decisions={hunk.number: Decision(HunkVerdict.EDIT, text=other)})
    assert "dries out in summer heat" in note(vault, "Tyres.md")
    assert "Sealant" not in note(vault, "inbox.md")


def test_a_hunk_goes_to_another_note_and_section(vault, plan):
    """At the end of the section that was named."""
    vault.apply(plan.id, decisions={2: Decision(HunkVerdict.SEND, file="Bread.md", section="## bread")})
    assert "degrees.\n\nSealant in bicycle tyres dries out.\n\n## Flour" in note(vault, "Bread.md").replace(
        "Rye bread needs a core of ninety-eight degrees.\n\n", ""
    )
    assert note(vault, "Tyres.md") == NOTES["Tyres.md"]


def test_what_stays_may_be_sent_too(vault, plan):
    """A paragraph that found no note is put into the one that the person names."""
    done = vault.apply(plan.id, decisions={-3: Decision(HunkVerdict.SEND, file="index.md")})
    assert note(vault, "index.md").endswith("Dentist on thursday.\n")
    assert note(vault, "inbox.md").strip() == ""
    assert {p.outcome for p in done.paragraphs} == {"integrated"}


@pytest.mark.parametrize(
    "decision, error",
    [
        (Decision(HunkVerdict.SEND, file="Nope.md"), UsageError),
        (Decision(HunkVerdict.SEND, file="Bread.md", section="Salt"), UsageError),
        (Decision(HunkVerdict.EDIT, text="```\nnever closed"), EditRefused),
    ],
)
def test_a_decision_that_cannot_be_is_refused_whole(vault, plan, decision, error):
    """Nothing is written, and the plan is as it was."""
    with pytest.raises(error):
        vault.apply(plan.id, decisions={2: decision})
    assert {path: note(vault, path) for path in NOTES} == NOTES
    assert vault.find_run(plan.id).chunks == plan.chunks


def test_a_plan_is_made_anew_for_notes_that_changed(vault, plan):
    """Of what a person decided, what still fits is applied; else the paragraph stays, with the note named."""
    (vault.workspace.vault / "Tyres.md").write_text("# Tyres\n\nAll else.\n")
    (vault.workspace.vault / "Bread.md").write_text(NOTES["Bread.md"] + "\nMore.\n")
    done = vault.apply(plan.id, anew=True, decisions={1: Decision(HunkVerdict.ACCEPT)})
    assert "core of ninety-eight" in note(vault, "Bread.md")
    assert note(vault, "Bread.md").endswith("\nMore.\n")
    assert note(vault, "Tyres.md") == "# Tyres\n\nAll else.\n"
    assert "Tyres.md changed" in (done.paragraphs[1].reason or "")
    assert "Sealant" in note(vault, "inbox.md")


def test_chunks_of_changed_notes_are_asked_for_again(vault, plan):
    """The text goes where it fits now; the chunk whose note is as it was keeps its edit, and nothing stays for it."""
    (vault.workspace.vault / "Tyres.md").write_text("# Tyres\n\nSealant keeps the bicycle tyres tight for months.\n")
    kept = [chunk for chunk in plan.chunks if any(edit.file == "Bread.md" for edit in chunk.edits)]
    done = vault.apply(plan.id, anew=True)
    assert done.id == plan.id
    assert [p.outcome for p in done.paragraphs] == ["integrated", "integrated", "left"]
    assert "Sealant in bicycle tyres dries out." in note(vault, "Tyres.md")
    assert [e.replace for c in done.chunks for e in c.edits if e.file == "Bread.md"] == [
        e.replace for c in kept for e in c.edits
    ]
    vault.undo(done.id)
    assert note(vault, "inbox.md") == INBOX


def test_plans_expire(vault, plan):
    """A plan older than integrate.plan_days is applied only anew."""
    assert not is_expired(plan, 14)
    assert is_expired(plan, 14, datetime.now(UTC) + timedelta(days=15))
    old = plan.model_copy(update={"created_at": "2020-01-01T00:00:00+00:00"})
    vault.runs.save(old)
    with pytest.raises(RunStateWrong, match="14 days") as refused:
        vault.apply(plan.id)
    assert "--anew" in refused.value.hint
    (said,) = [finding for finding in examine(vault) if finding.topic == "runs"]
    assert plan.id in said.text
    assert "expired" in said.text
    assert "--anew" in said.todo
    assert vault.apply(plan.id, anew=True).status == "partial"


def test_an_applied_run_is_nothing_to_decide(vault, plan):
    """Only a plan can be decided on."""
    vault.apply(plan.id)
    with pytest.raises(RunStateWrong):
        vault.apply(plan.id, only=["1"])
