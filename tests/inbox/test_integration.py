"""The main job, whole, with a librarian that answers by script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from infold.errors import KeyRejected
from infold.inbox.integration import integrate
from infold.inbox.run import Run, RunStatus
from infold.inbox.steps import DirectSteps
from infold.librarian.answers import EditRequest, LookRequest
from infold.librarian.rules import check_edits
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.scripted import ScriptedLibrarian

NOTES = {
    "index.md": "# Index\n\n- [[bread]]\n- [[tyres]]\n",
    "bread.md": "# Bread\n\nRye is done at ninety-eight degrees.\n",
    "tyres.md": "# Tyres\n\nSealant lasts three months.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    vault = tmp_path / "vault"
    vault.mkdir()
    for path, text in NOTES.items():
        (vault / path).write_bytes(text.encode())
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}, "search": {"embedding": "none"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


def inbox(workspace: Workspace, text: str) -> None:
    workspace.inbox.write_bytes(text.encode())


def note(workspace: Workspace, path: str) -> str:
    return (workspace.vault / path).read_bytes().decode()


def topic(request: LookRequest | EditRequest) -> str:
    return "tyres.md" if "tyre" in request.chunk.text.lower() else "bread.md"


def look(request: LookRequest) -> dict[str, object]:
    wanted = topic(request)
    if wanted in {c.path for c in request.viewed}:
        return {"action": "checkout", "files": [wanted]}
    return {"action": "view", "files": [wanted]}


def append(request: EditRequest) -> dict[str, object]:
    """Every paragraph after the last line of the one open note."""
    opened = request.notes[0]
    last = opened.text.rstrip().rsplit("\n", 1)[-1]
    return {"edits": [{"file": opened.path, "find": last, "replace": f"{last}\n\n{request.chunk.text}"}]}


async def run(workspace: Workspace, librarian: ScriptedLibrarian | None = None, **options) -> Run:
    librarian = librarian or ScriptedLibrarian(look=look, edit=append)
    return await integrate(workspace, DirectSteps(workspace, librarian), **options)


async def test_each_paragraph_lands_in_its_note_and_leaves_the_inbox(workspace):
    """The job: text goes where it belongs, the inbox is emptied, every other byte stays."""
    inbox(workspace, "# Inbox\n\nTyre sealant dries out in heat.\n\nRye cools for a day.\n")
    result = await run(workspace)
    assert result.status is RunStatus.APPLIED
    assert [p.outcome for p in result.paragraphs] == ["integrated", "integrated"]
    assert note(workspace, "tyres.md") == NOTES["tyres.md"] + "\nTyre sealant dries out in heat.\n"
    assert note(workspace, "bread.md") == NOTES["bread.md"] + "\nRye cools for a day.\n"
    assert note(workspace, "index.md") == NOTES["index.md"]
    assert note(workspace, "inbox.md").strip() == "# Inbox"


async def test_the_edits_of_a_chunk_are_checked_once(workspace, monkeypatch):
    """Whoever answers has the rules checked; nobody on the way to the notes does it again."""
    checked = []

    def counted(answer, request):
        checked.append(request.chunk.text)
        check_edits(answer, request)

    monkeypatch.setattr("infold.librarian.edit_answers.check_edits", counted)
    inbox(workspace, "Tyre sealant dries out in heat.\n\nRye cools for a day.\n")
    done = await run(workspace)
    assert sorted(checked) == sorted(
        "\n\n".join(p.text for p in done.paragraphs if p.n in c.paragraphs) for c in done.chunks
    )


async def test_a_dry_run_touches_nothing_and_can_be_read(workspace):
    """Everything can be looked at before: the plan holds outcomes and edits, the vault its old bytes."""
    inbox(workspace, "Rye cools for a day.\n")
    result = await run(workspace, dry_run=True)
    assert result.status is RunStatus.PLANNED
    assert result.chunks[0].edits[0].file == "bread.md"
    assert {path: note(workspace, path) for path in NOTES} == NOTES
    assert note(workspace, "inbox.md") == "Rye cools for a day.\n"


async def test_no_inbox_and_an_empty_inbox_touch_nothing(workspace):
    """An inbox that is missing or holds no paragraph: said so, no run, nothing changed."""
    assert (await run(workspace)).status is RunStatus.NOTHING_TO_DO
    inbox(workspace, "# Inbox\n")
    result = await run(workspace)
    assert result.status is RunStatus.NOTHING_TO_DO
    assert "no paragraph" in result.warnings[0]
    assert note(workspace, "inbox.md") == "# Inbox\n"


async def test_what_fits_nowhere_stays_with_the_reason(workspace):
    """A paragraph that was not placed stays in the inbox byte for byte, and the run says why."""
    inbox(workspace, "Tyre sealant dries.\n\nGeneral average is a rule of shipping.\n")

    def nowhere(request):
        if "shipping" in request.chunk.text:
            return {"action": "checkout", "files": [], "reason": "nothing here is about ships"}
        return look(request)

    result = await run(workspace, ScriptedLibrarian(look=nowhere, edit=append))
    assert result.status is RunStatus.PARTIAL
    assert [(p.outcome, p.reason) for p in result.paragraphs][1] == ("left", "nothing here is about ships")
    assert note(workspace, "inbox.md") == "General average is a rule of shipping.\n"


async def test_a_duplicate_leaves_the_inbox_with_the_text_that_covers_it(workspace):
    """Duplicate: no note changes, the record quotes the covering text."""
    inbox(workspace, "Rye is done at ninety-eight degrees.\n")

    def mark(request):
        quote = "Rye is done at ninety-eight degrees."
        return {"edits": [{"file": "bread.md", "find": quote, "is_duplicate": True}]}

    result = await run(workspace, ScriptedLibrarian(look=look, edit=mark))
    assert result.paragraphs[0].outcome == "duplicate"
    assert result.paragraphs[0].quote == "Rye is done at ninety-eight degrees."
    assert note(workspace, "bread.md") == NOTES["bread.md"]
    assert note(workspace, "inbox.md").strip() == ""


async def test_one_failed_chunk_leaves_the_others_applied(workspace):
    """A librarian that fails on one chunk costs only that chunk."""
    inbox(workspace, "Tyre sealant dries.\n\nRye cools for a day.\n")

    def failing(request):
        return {"edits": []} if "Rye" in request.chunk.text else append(request)

    result = await run(workspace, ScriptedLibrarian(look=look, edit=failing))
    assert [p.outcome for p in result.paragraphs] == ["integrated", "left"]
    assert "Rye cools" in note(workspace, "inbox.md")


async def test_a_wrong_key_ends_the_run_with_nothing_half_done(workspace):
    """What is no matter of one chunk (key, endpoint) stops everything before anything is written."""
    inbox(workspace, "Tyre sealant dries.\n\nRye cools for a day.\n")

    def refused(request):
        raise KeyRejected("The endpoint refused the key.")

    with pytest.raises(KeyRejected):
        await run(workspace, ScriptedLibrarian(look=refused, edit=append))
    assert {path: note(workspace, path) for path in NOTES} == NOTES


@pytest.mark.parametrize("concurrency", [1, 2, 8])
async def test_side_by_side_gives_what_one_after_another_gives(workspace, concurrency):
    """Chunks that want the same note are settled in their order, whichever exploration ends first."""
    inbox(workspace, "\n\n".join(f"Tyre thought number {i}." for i in range(8)) + "\n")
    slow_first = lambda request: 0.02 / request.chunk.id if hasattr(request, "chunk") else 0.0  # noqa: E731
    params = workspace.params.model_copy(
        update={"integrate": workspace.params.integrate.model_copy(update={"concurrency": concurrency})}
    )
    workspace = Workspace(workspace.vault, workspace.state, workspace.inbox, params)
    librarian = ScriptedLibrarian(look=look, edit=append, latency=slow_first)
    await run(workspace, librarian)
    expected = "".join(f"\nTyre thought number {i}.\n" for i in range(8))
    assert note(workspace, "tyres.md") == NOTES["tyres.md"] + expected
    assert sum(isinstance(request, EditRequest) for request in librarian.asked) == 8


async def test_a_later_chunk_sees_what_an_earlier_one_wrote(workspace):
    """The second chunk's librarian gets the note with the first chunk's edit in it."""
    inbox(workspace, "Tyre one.\n\nTyre two.\n")
    librarian = ScriptedLibrarian(look=look, edit=append)
    await run(workspace, librarian)
    edits = [request for request in librarian.asked if isinstance(request, EditRequest)]
    assert "Tyre one." in edits[1].notes[0].text


async def test_a_note_changed_while_the_run_was_thinking_is_checked_out_again(workspace):
    """Never overwritten: the chunk's edit is asked for again with the note as it is now; other chunks keep theirs."""
    inbox(workspace, "Tyre sealant dries.\n\nRye cools for a day.\n")
    edited: list[object] = []

    def edit(request):
        if "Rye" in request.chunk.text and not edited:
            edited.append(True)
            path = workspace.vault / "bread.md"
            path.write_text(NOTES["bread.md"] + "\nTyped meanwhile.\n")
        return append(request)

    librarian = ScriptedLibrarian(look=look, edit=edit)
    result = await run(workspace, librarian)
    assert result.status is RunStatus.APPLIED
    assert note(workspace, "bread.md") == NOTES["bread.md"] + "\nTyped meanwhile.\n\nRye cools for a day.\n"
    asked = [request.chunk.text for request in librarian.asked if isinstance(request, EditRequest)]
    assert sorted(asked) == ["Rye cools for a day.", "Rye cools for a day.", "Tyre sealant dries."]


async def test_a_note_that_never_rests_costs_only_its_own_chunk(workspace):
    """Typed in all the time: its paragraph stays in the inbox with the reason, the others are applied."""
    inbox(workspace, "Tyre sealant dries.\n\nRye cools for a day.\n")
    typed: list[str] = []

    def edit(request):
        if "Rye" in request.chunk.text:
            typed.append(f"Typed meanwhile, line {len(typed)}.")
            (workspace.vault / "bread.md").write_text(NOTES["bread.md"] + "\n\n".join(["", *typed, ""]))
        return append(request)

    result = await run(workspace, ScriptedLibrarian(look=look, edit=edit))
    assert result.status is RunStatus.PARTIAL
    assert [p.outcome for p in result.paragraphs] == ["integrated", "left"]
    assert "kept changing" in result.paragraphs[1].reason
    assert len(typed) == 1 + workspace.params.integrate.max_recheckouts
    assert "Rye cools" not in note(workspace, "bread.md")
    assert "Rye cools" in note(workspace, "inbox.md")
    assert "Tyre sealant dries." in note(workspace, "tyres.md")


async def test_text_added_to_the_inbox_meanwhile_stays(workspace):
    """The person goes on writing in the inbox: only what was integrated is taken out."""
    inbox(workspace, "Rye cools for a day.\n")

    def edit(request):
        workspace.inbox.write_text("Rye cools for a day.\n\nAnother thought.\n")
        return append(request)

    await run(workspace, ScriptedLibrarian(look=look, edit=edit))
    assert note(workspace, "inbox.md") == "Another thought.\n"


async def test_an_inbox_outside_the_vault_is_emptied_too(workspace, tmp_path):
    """--inbox may name any file; it is the one thing outside the vault that a run changes."""
    outside = tmp_path / "drop.md"
    outside.write_text("Rye cools for a day.\n")
    elsewhere = Workspace(workspace.vault, workspace.state, outside, workspace.params)
    result = await run(elsewhere)
    assert result.status is RunStatus.APPLIED
    assert outside.read_text().strip() == ""


async def test_no_more_chunks_than_the_setting_are_worked_on_at_once(workspace):
    """`integrate.concurrency` bounds the conversations under way."""
    inbox(workspace, "\n\n".join(f"Rye {i}." for i in range(6)) + "\n")
    under_way, most = set(), 0

    def watched(request):
        nonlocal most
        under_way.add(request.chunk.id)
        most = max(most, len(under_way))
        if isinstance(request, EditRequest):
            under_way.discard(request.chunk.id)
            return append(request)
        return look(request)

    params = workspace.params.model_copy(
        update={"integrate": workspace.params.integrate.model_copy(update={"concurrency": 2})}
    )
    workspace = Workspace(workspace.vault, workspace.state, workspace.inbox, params)
    await run(workspace, ScriptedLibrarian(look=watched, edit=watched, latency=lambda r: 0.001))
    assert most == 2
    await asyncio.sleep(0)


async def test_a_run_takes_so_many_paragraphs_and_the_others_come_next(workspace):
    """The work of a run has a bound: what is over it waits, is counted, and comes before what found no place."""
    limited = {"integrate": {"quiet_seconds": 0, "max_paragraphs": 2}, "search": {"embedding": "none"}}
    place = Workspace(workspace.vault, workspace.state, workspace.inbox, Params.model_validate(limited))
    inbox(place, "Nowhere one.\n\nNowhere two.\n\nTyre sealant dries out.\n\nRye cools for a day.\n\nTyre levers.\n")
    grouped: list[list[str]] = []

    def nowhere(request):
        return look(request) if "nowhere" not in request.chunk.text.lower() else {"action": "checkout", "files": []}

    def group(request):
        grouped.append([p.text for p in request.paragraphs])
        return {"groups": [[p.n] for p in request.paragraphs]}

    results = [await run(place, ScriptedLibrarian(look=nowhere, edit=append, group_by=group)) for _ in range(3)]
    assert grouped[:2] == [["Nowhere one.", "Nowhere two."], ["Tyre sealant dries out.", "Rye cools for a day."]]
    assert "Tyre levers." in grouped[2]
    assert [each.waiting for each in results] == [3, 3, 1]
    assert any("3 paragraphs wait" in warning for warning in results[0].warnings)
    assert {each.status for each in results} == {RunStatus.PARTIAL}
    assert note(place, "inbox.md").split("\n\n") == ["Nowhere one.", "Nowhere two.\n"]
    assert (await run(place, ScriptedLibrarian(look=nowhere, edit=append, group_by=group))).waiting == 0
