"""A trail saved as a note: every step a link that leads back, one undo, nothing written where nothing is to be."""

from __future__ import annotations

import pytest

from infold.errors import NodeUnknown
from infold.knowledge.vault_links import aliases_of, resolver_of
from infold.operations.navigator import CallerRequest, ExploreRequest, FollowLinkRequest, back, explore, follow_link
from infold.operations.navigator_trail import TrailSaveRequest, trail_save
from infold.vault.note import parse


@pytest.fixture
def walked(vault):
    """From the pests of tomatoes along a link to the heat of compost, and on to work."""
    vault.import_notes(["."])
    for query in ("aphids below the leaves", "a hot heap kills the seeds of weeds", "roll the deployment back"):
        explore(vault, ExploreRequest(query=query, types=("paragraph",)))
    return vault


def test_the_trail_is_a_note_whose_links_lead_back(walked, folder):
    """In the order gone, each link resolves to the note of its step, and names the heading that holds it."""
    done = trail_save(walked, TrailSaveRequest(title="What kills pests"))
    assert [step.path for step in done.steps] == ["garden/tomatoes.md", "garden/compost.md", "work/release.md"]
    text = (folder / done.path).read_text()
    assert [step.link for step in done.steps] == ["[[tomatoes#Pests]]", "[[compost#Heat]]", "[[release#Rollback]]"]
    with walked.catalogued() as catalogue:
        resolver = resolver_of(aliases_of(catalogue))
    links = parse(done.path, text).links
    assert [resolver.resolve(link.target, done.path) for link in links] == [step.path for step in done.steps]


def test_one_undo_takes_it_back(walked, folder):
    """The vault has the bytes it had before."""
    before = {file: file.read_bytes() for file in folder.rglob("*.md")}
    done = trail_save(walked, TrailSaveRequest())
    assert (folder / done.path).is_file()
    walked.undo(done.change)
    assert {file: file.read_bytes() for file in folder.rglob("*.md")} == before


def test_a_trail_within_one_note_is_saved_too(vault, folder):
    """It says what the note says, for that is what a trail does: no twin of it."""
    vault.import_notes(["."])
    explore(vault, ExploreRequest(query="a hot heap of compost kills the seeds of weeds", types=("paragraph",)))
    explore(vault, ExploreRequest(query="compost feeds the garden soil", types=("paragraph",)))
    vault.sync_index()
    done = trail_save(vault, TrailSaveRequest())
    assert {step.path for step in done.steps} == {"garden/compost.md"}
    assert (folder / done.path).is_file()


def test_a_dry_run_writes_nothing(walked, folder):
    """It shows the text."""
    before = sorted(folder.rglob("*.md"))
    done = trail_save(walked, TrailSaveRequest(dry_run=True))
    assert done.change is None
    assert "[[compost#Heat]]" in "".join(done.diffs.values())
    assert sorted(folder.rglob("*.md")) == before


def test_a_step_that_is_gone_is_counted(walked, folder):
    """What was deleted meanwhile has no link; the rest is saved."""
    (folder / "garden" / "compost.md").unlink()
    walked.refresh_nodes(at_once=True)
    done = trail_save(walked, TrailSaveRequest())
    assert (done.gone, [step.path for step in done.steps]) == (1, ["garden/tomatoes.md", "work/release.md"])


def test_without_a_trail_nothing_is_written(walked):
    """The error names what to do."""
    with pytest.raises(NodeUnknown):
        trail_save(walked, TrailSaveRequest(caller="newcomer"))


def test_a_trail_follows_where_one_is_now(walked):
    """After a step back it ends there; after a link it goes on."""
    back(walked, CallerRequest())
    follow_link(walked, FollowLinkRequest())
    assert [step.path for step in trail_save(walked, TrailSaveRequest(dry_run=True)).steps] == [
        "garden/tomatoes.md",
        "garden/compost.md",
    ]
