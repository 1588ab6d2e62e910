"""Summaries that nobody asked for (spec 2, Future Requirements / Summarization; Visible Compression)."""

from __future__ import annotations

import pytest

from infold.docmem.automatic import condense_all, condense_at_once
from infold.docmem.condensing import condense, plan
from infold.docmem.exporting import export_text
from infold.docmem.importing import import_file
from infold.settings import Params
from tests.docmem.conftest import MEMORY, ROOT

FEW = {"summarise_after": 4, "summarise_run": 2, "keep_recent": 2}
WORDS = {"summary_target_words": [1, 2]}
PARAMS = Params.model_validate({"docmem": FEW, "summary": WORDS})


@pytest.fixture
def grow(memory):
    """Makes a tree of so many memories; gives the last one."""

    def grow(count, **how):
        memory.create_root("A log", ROOT, root_id="log")
        return [memory.append("log", f"Memory {number}.", MEMORY, **how) for number in range(count)][-1]

    return grow


def test_at_once_when_the_limit_is_passed(memory, grow):
    """Summarization: nothing at the limit; one more memory, and the oldest go under a summary, as they are."""
    grow(4)
    before = memory.children("log")
    assert condense_at_once(memory, PARAMS, before[-1].id) is None
    done = condense_at_once(memory, PARAMS, memory.append("log", "One more.", MEMORY).id)
    (summary,) = done.made
    assert memory.children("log")[0] == summary
    assert [node.hash for node in memory.versions(before[0].id)] == [before[0].hash]
    assert [node.text for node in memory.children(summary.id)] == [node.text for node in before[:2]]


def test_what_was_taken_back_is_not_done_again_by_itself(memory, grow):
    """Visible Compression: reversible for good: only who asks gets such memories summarised again."""
    grow(4)
    (summary,) = condense_at_once(memory, PARAMS, memory.append("log", "Number five.", MEMORY).id).made
    memory.unsummarise(summary.id, summary.hash)
    assert condense_at_once(memory, PARAMS, memory.append("log", "Number six.", MEMORY).id) is None
    assert plan(memory, PARAMS, by_itself=True).due == ()
    assert len(plan(memory, PARAMS).due) == 2
    (later,) = condense_at_once(memory, PARAMS, memory.append("log", "Number seven.", MEMORY).id).made
    assert [node.text for node in memory.children(later.id)] == ["Memory 2.", "Memory 3."]


async def test_documents_and_notes_are_left_alone(memory, grow, offline):
    """Readonly Metadata: what was imported and the notes beside it are summarised when asked for, not by themselves."""
    last = grow(9, readonly=True)
    for number in range(9):
        memory.note_beside(last.id, f"Note {number}.")
    assert condense_at_once(memory, PARAMS, last.id) is None
    assert (await condense_all(memory, offline, PARAMS)).made == []
    assert len((await condense(memory, offline, PARAMS)).made) == 4  # the last one's latest notes stay, and so it does


@pytest.mark.parametrize(
    "setting, made_by_the_flow", [({"librarian": {"kind": "model"}}, 1), ({"docmem": {"summarise": "manual"}}, 0)]
)
async def test_not_at_once_with_a_model_nor_by_hand(memory, grow, offline, setting, made_by_the_flow):
    """Summarization: nobody pays for a summary at the prompt; `manual` is manual everywhere."""
    params = Params.model_validate({**setting, "summary": WORDS, "docmem": {**FEW, **setting.get("docmem", {})}})
    assert condense_at_once(memory, params, grow(5).id) is None
    assert len((await condense_all(memory, offline, params)).made) == made_by_the_flow


def test_a_tree_that_comes_back_is_condensed_below_its_root(memory, grow, tmp_path):
    """Summarization: an imported TOML tree is not readonly; what has gathered in it is summarised at once."""
    grow(9)
    file = tmp_path / "log.toml"
    file.write_text(export_text(memory, "log", "toml"))
    memory.delete("log")
    done = condense_at_once(memory, PARAMS, import_file(memory, file).node.id)
    assert len(done.made) == 3
    assert len(memory.children("log")) == 6


def test_a_change_below_a_summary_renews_it_at_once(memory, grow):
    """Summarization: offline, a summary whose memory was edited or deleted is made again with that change."""
    grow(4)
    (summary,) = condense_at_once(memory, PARAMS, memory.append("log", "Number five.", MEMORY).id).made
    child = memory.children(summary.id)[0]
    changed = memory.update_content(child.id, "Snow fell.", child.hash)
    (again,) = condense_at_once(memory, PARAMS, changed.id).renewed
    assert again.text == "Snow fell."
    assert memory.stale_summaries() == []
