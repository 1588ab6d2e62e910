"""The three-state exploration and its limits (spec 1, Phase 3)."""

import pytest

from infold.errors import AnswerInvalid
from infold.inbox.exploration import explore
from infold.inbox.run import StopReason
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import Chunk, LookRequest, NoteCard, Paragraph
from infold.settings import ChunkingParams, ExplorationParams
from tests.fakes.scripted import ScriptedLibrarian

CHUNK = Chunk(1, (Paragraph(1, "Some text."),))


def snapshot_of(links: dict[str, list[str]], root: str | None = "index.md") -> VaultSnapshot:
    cards = {path: NoteCard(path, path, (), tuple(targets)) for path, targets in links.items()}
    return VaultSnapshot(cards, dict.fromkeys(links, 400), lambda _: "standard", root)


def no_edit(request):
    return {"edits": []}


async def run(snapshot: VaultSnapshot, look, candidates=(), params: ExplorationParams | None = None):
    librarian = ScriptedLibrarian(look=look, edit=no_edit)
    return await explore(CHUNK, snapshot, candidates, librarian, params or ExplorationParams()), librarian.asked


async def test_the_root_is_viewed_and_its_links_are_available():
    """Spec 1: the root file is automatically VIEWED, all files linked from it are AVAILABLE."""
    snapshot = snapshot_of({"index.md": ["a.md", "b.md"], "a.md": [], "b.md": []})
    _, asked = await run(snapshot, lambda r: {"action": "checkout", "files": ["index.md"]})
    assert [c.path for c in asked[0].viewed] == ["index.md"]
    assert [c.path for c in asked[0].available] == ["a.md", "b.md"]


async def test_links_of_a_viewed_note_become_available_unless_already_viewed():
    """Spec 1: files it links to become AVAILABLE, if not already viewed."""
    snapshot = snapshot_of({"index.md": ["a.md"], "a.md": ["index.md", "c.md"], "c.md": []})

    def look(request: LookRequest):
        if request.round == 1:
            return {"action": "view", "files": ["a.md"]}
        return {"action": "checkout", "files": ["a.md"]}

    exploration, asked = await run(snapshot, look)
    assert [c.path for c in asked[1].available] == ["c.md"]
    assert exploration.viewed == ("index.md", "a.md")
    assert exploration.checked_out == ("a.md",)
    assert exploration.rounds == 1


async def test_three_rounds_then_checkout_is_all_that_is_left():
    """Spec 1, Limits: at most three exploration rounds, at most four files a round."""
    names = [f"n{i}.md" for i in range(30)]
    snapshot = snapshot_of({"index.md": names, **{name: [] for name in names}})

    def look(request: LookRequest):
        if request.may_view:
            return {"action": "view", "files": [c.path for c in request.available[: request.may_view]]}
        return {"action": "checkout", "files": [c.path for c in request.viewed[: request.may_check_out]]}

    exploration, asked = await run(snapshot, look)
    assert [r.may_view for r in asked] == [4, 4, 4, 0]
    assert len(exploration.viewed) == 13
    assert len(exploration.checked_out) == 3


async def test_never_more_than_the_total_of_viewed_files():
    """Spec 1, Limits: max 15 files VIEWED in total, the root among them."""
    names = [f"n{i}.md" for i in range(40)]
    snapshot = snapshot_of({"index.md": names, **{name: [] for name in names}})

    def look(request: LookRequest):
        if request.may_view:
            return {"action": "view", "files": [c.path for c in request.available[: request.may_view]]}
        return {"action": "checkout", "files": [request.viewed[-1].path]}

    exploration, _ = await run(snapshot, look, params=ExplorationParams(max_exploration_rounds=9))
    assert len(exploration.viewed) == 15


@pytest.mark.parametrize(
    "answer,complaint",
    [
        ({"action": "view", "files": ["n0.md", "n1.md", "n2.md", "n3.md", "n4.md"]}, "you may view 4 files"),
        ({"action": "view", "files": ["nowhere.md"]}, "not AVAILABLE: nowhere.md"),
        ({"action": "checkout", "files": ["n0.md"]}, "not VIEWED: n0.md"),
    ],
)
async def test_an_answer_outside_the_limits_is_refused_with_what_is_wrong(answer, complaint):
    """Unknown files, a fifth view, a checkout of a file that was only available: each says so."""
    names = [f"n{i}.md" for i in range(6)]
    snapshot = snapshot_of({"index.md": names, **{name: [] for name in names}})
    with pytest.raises(AnswerInvalid, match=complaint):
        await run(snapshot, lambda request: answer)


async def test_search_candidates_join_what_is_available():
    """A note that no link path reaches can be found all the same."""
    snapshot = snapshot_of({"index.md": ["a.md"], "a.md": [], "island.md": []})
    _, asked = await run(snapshot, lambda r: {"action": "checkout", "files": []}, candidates=["island.md", "a.md"])
    assert [c.path for c in asked[0].available] == ["a.md", "island.md"]


async def test_without_a_root_the_candidates_carry_on():
    """Root note missing: nothing is viewed at first, the search candidates are available."""
    snapshot = snapshot_of({"a.md": []}, root=None)

    def look(request: LookRequest):
        return (
            {"action": "view", "files": ["a.md"]} if request.round == 1 else {"action": "checkout", "files": ["a.md"]}
        )

    exploration, _ = await run(snapshot, look, candidates=["a.md"])
    assert exploration.checked_out == ("a.md",)


async def test_nothing_to_see_is_said():
    """No root and no candidate: the chunk stays in the inbox with a reason."""
    exploration, asked = await run(snapshot_of({}, root=None), lambda r: {"action": "checkout", "files": []})
    assert asked == []
    assert exploration.reason


async def test_why_nothing_was_checked_out_is_kept():
    """The librarian's own reason is what the person reads."""
    snapshot = snapshot_of({"index.md": []})
    exploration, _ = await run(snapshot, lambda r: {"action": "checkout", "files": [], "reason": "all about shipping"})
    assert exploration.reason == "all about shipping"


def test_names_are_sampled_from_long_notes_without_index_notes_and_by_seed():
    """Spec 1, Phase 1: 15 randomly sampled files, over 300 words each, excluding index notes."""
    cards = {f"n{i:02}.md": NoteCard(f"n{i:02}.md", "") for i in range(40)}
    words = {path: 301 if i % 2 else 300 for i, path in enumerate(sorted(cards))}
    kinds = {path: "index" if path == "n01.md" else "standard" for path in cards}
    snapshot = VaultSnapshot(cards, words, kinds.__getitem__, None)
    names = snapshot.sample_names(ChunkingParams(seed=3))
    assert len(names) == 15
    assert all(words[name] > 300 and kinds[name] != "index" for name in names)
    assert names == snapshot.sample_names(ChunkingParams(seed=3)) != snapshot.sample_names(ChunkingParams(seed=4))


async def test_which_rule_ended_the_walk_is_known():
    """The librarian's choice, the last round, the limit of views, or that nothing was left: each by its name."""
    links = {"index.md": ["a.md", "b.md", "c.md"], "a.md": [], "b.md": [], "c.md": []}

    def view_all(request: LookRequest):
        if request.may_view:
            return {"action": "view", "files": [c.path for c in request.available][: request.may_view]}
        return {"action": "checkout", "files": ["index.md"]}

    def at_once(request: LookRequest):
        return {"action": "checkout", "files": ["index.md"]}

    async def stopped(look, **limits: int):
        return (await run(snapshot_of(links), look, params=ExplorationParams(**limits)))[0].stopped

    assert await stopped(at_once) is StopReason.READY
    assert await stopped(view_all) is StopReason.NOTHING_LEFT
    assert await stopped(view_all, max_files_viewed_total=2) is StopReason.VIEWS
    assert await stopped(view_all, max_exploration_rounds=1, max_files_viewed_per_round=1) is StopReason.ROUNDS
