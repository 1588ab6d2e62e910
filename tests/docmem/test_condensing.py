"""Automatic summaries by the librarian (spec 2, Future Requirements / Summarization)."""

from __future__ import annotations

import os
import signal

import pytest

from infold.docmem import outbox
from infold.docmem.condensing import condense, plan
from infold.docmem.maintenance import problems
from infold.docmem.memory import open_docmem
from infold.docmem.node import expected_hashes
from infold.docmem.place import child_of
from infold.environment import Environment
from infold.errors import LockConflict
from infold.librarian.decisions import DecisionStore
from infold.librarian.model import ModelLibrarian
from infold.settings import EditingParams, LibrarianParams, Params
from infold.text import word_count
from tests.docmem.child_process import killed
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY
from tests.fakes.openai_server import serving

FEW = {"summarise_after": 6, "summarise_run": 4, "keep_recent": 2}
PARAMS = Params.model_validate({"docmem": FEW, "summary": {"summary_target_words": [3, 4]}})
USUAL = Params.model_validate({"docmem": FEW})
LONG = (
    "On walk {} the gardener wrote down what the light did on the wall, when the snails came and how the barrel filled. "
    "The path was wet that day, the gate stood open and nobody had swept the leaves from the steps of the old house."
)


@pytest.fixture
def grow(memory):
    """Makes a tree of so many memories; gives their texts in order."""

    def grow(count, text="Memory {}.", root_id="log"):
        memory.create_root("A log", ROOT, root_id=root_id)
        with memory.batch():
            return [memory.append(root_id, text.format(number), MEMORY).text for number in range(count)]

    return grow


def outline(memory, root_id="log"):
    """The children of a root: the texts of memories, the lists of those below summaries."""
    return [
        [below.text for below in memory.children(node.id)] if node.is_summary else node.text
        for node in memory.children(root_id)
    ]


async def test_what_has_gathered_is_summarised_from_the_oldest_on(memory, grow, offline):
    """Summarization: contiguous runs of the oldest go under summaries, the latest stay; all words stay below."""
    said = grow(11)
    done = await condense(memory, offline, PARAMS)
    assert outline(memory) == [said[:4], said[4:8], *said[8:]]
    assert [summary.is_summary for summary in done.made] == [True, True]
    assert done.made[0].text == "Memory 0. Memory 1."
    assert [node.text for node, _ in memory.subtree("log") if node.context_type == "memory"] == said
    assert problems(memory.store) == []


async def test_not_before_enough_have_gathered_and_not_twice(memory, grow, offline):
    """Summarization: idempotent: nothing is done below the threshold, nor when nothing changed since."""
    grow(6)
    assert plan(memory, PARAMS).due == ()
    memory.append("log", "One more.", MEMORY)
    assert len((await condense(memory, offline, PARAMS)).made) == 1
    before = memory.subtree("log")
    assert (await condense(memory, offline, PARAMS)).made == []
    assert memory.subtree("log") == before


async def test_long_memories_get_a_summary_in_words(memory, grow, offline):
    """Tree Structure: a summary is a paragraph-length compression of its children: 75 to 100 words."""
    grow(8, LONG)
    done = await condense(memory, offline, USUAL)
    assert 75 <= word_count(done.made[0].text) <= 100
    assert str(done.made[0].context) == "summary:by:offline/1"


async def test_few_words_are_left_as_they_are(memory, grow, offline):
    """Tree Structure: a summary compresses: memories that say less than two summaries would are not said again."""
    said = grow(32, "Bed {} has clay on its left side.")  # 8 words each
    before = word_count(memory.serialise("log"))
    (summary,) = (await condense(memory, offline, USUAL)).made
    assert outline(memory) == [said[:19], *said[19:]]
    assert word_count(summary.text) <= 19 * 8 * 2 / 3
    assert word_count(memory.serialise("log")) == before + word_count(summary.text)
    memory.create_root("", ROOT, root_id="short")
    for number in range(40):
        memory.append("short", f"Item {number}", MEMORY)
    assert plan(memory, USUAL, "short").due == ()


async def test_what_is_deleted_is_not_said_by_a_summary_either(memory, grow, offline):
    """Delete; Summarization: an automatic summary loses its words with any of its memories, until it is made again."""
    grow(8, LONG)
    (summary,) = (await condense(memory, offline, USUAL)).made
    first, *others = memory.children(summary.id)
    memory.delete(first.id)
    assert memory.get(summary.id).text == ""
    assert "walk 0" not in memory.serialise("log")
    assert "walk 1" in memory.serialise("log", "instead")  # what says nothing stands for nothing
    assert memory.stale_summaries() == [memory.get(summary.id)]
    (again,) = (await condense(memory, offline, USUAL)).renewed
    assert again.text.startswith("On walk 1")
    assert memory.stale_summaries() == []
    memory.move(others[0].id, child_of("log"), others[0].hash)  # said by the summary still
    memory.delete(others[0].id)
    assert "walk 1" not in memory.get(summary.id).text
    for other in others[1:]:
        memory.delete(other.id)
    assert memory.find(summary.id) is None
    memory.restore_deleted(others[-1].id)
    assert memory.get(summary.id).text == ""


async def test_what_is_left_gets_a_shorter_summary(memory, grow, offline):
    """Tree Structure: a summary that is renewed over few words compresses these too: half of them at most."""
    grow(8, LONG)
    (summary,) = (await condense(memory, offline, USUAL)).made
    for child in memory.children(summary.id)[1:]:
        memory.delete(child.id)
    (again,) = (await condense(memory, offline, USUAL)).renewed
    assert 0 < word_count(again.text) <= word_count(LONG.format(0)) / 2


async def test_what_goes_for_good_is_in_no_summary_that_was(memory, grow, offline):
    """Delete: `for_good` forgets what automatic summaries said too, those that were taken back among them."""
    grow(8, LONG)
    (summary,) = (await condense(memory, offline, USUAL)).made
    first = memory.children(summary.id)[0]
    memory.unsummarise(summary.id, summary.hash)
    memory.delete(first.id, for_good=True)
    with memory.store.reading() as rows:
        kept = " ".join(
            row[0] for row in rows.connection.execute("SELECT text FROM history UNION SELECT text FROM nodes")
        )
    assert "walk 0" not in kept
    assert "walk 1" in kept


async def test_what_no_longer_fits_is_told(memory, grow, offline):
    """Summarization: a summary is stale, a person's too, once its memories change; new words for them make it fresh."""
    grow(8)
    own = memory.summarise(expected_hashes(memory.children("log")[:3]), "By hand.", SUMMARY)
    assert memory.stale_summaries("log") == []
    late = memory.append(own.id, "Late.", MEMORY)
    assert memory.stale_summaries("log") == [own]
    again = memory.update_content(own.id, "By hand, and late.", own.hash)
    assert memory.stale_summaries(own.id) == []
    memory.update_content(late.id, "Later.", late.hash)
    assert memory.stale_summaries() == [again]
    for child in memory.children(own.id):
        memory.delete(child.id)
    assert memory.stale_summaries() == [again]  # nothing is left that it could be of; its words are a person's


async def test_a_hash_that_folding_changed_is_told_as_such(memory, grow, offline):
    """Optimistic Locking: who holds the hash of a memory that was folded learns that its words are what was read."""
    grow(8)
    first = memory.children("log")[0]
    (summary,) = (await condense(memory, offline, PARAMS)).made
    with pytest.raises(LockConflict, match="summarise") as conflict:
        memory.update_content(first.id, "x", first.hash)
    assert summary.id in conflict.value.hint
    assert conflict.value.current[:12] in conflict.value.hint
    memory.update_content(first.id, "x", conflict.value.current)


async def test_taken_back(memory, grow, offline):
    """Visible Compression: automatic summaries are reversible as any other."""
    said = grow(11)
    before = memory.children("log")
    for summary in (await condense(memory, offline, PARAMS)).made:
        memory.unsummarise(summary.id, summary.hash)
    assert outline(memory) == said
    assert [node.hash for node in memory.children("log")] == [node.hash for node in before]


async def test_groups_are_not_divided(memory, grow, offline):
    """Open Questions / Sticky Nodes: nodes that stick together are summarised together or not at all."""
    said = grow(12)
    nodes = memory.children("log")
    for at in (3, 4, 5):
        memory.mark(nodes[at].id, "sticky", "trio")
    for at in (8, 11):  # the second is among the latest, which stay
        memory.mark(nodes[at].id, "sticky", "pair")
    await condense(memory, offline, PARAMS)
    assert outline(memory) == [said[:3], [*said[3:7]], *said[7:]]


async def test_a_summary_follows_its_children(memory, grow, offline):
    """Summarization: summaries are regenerated when their children change, and the index hears of it."""
    grow(8)
    (summary,) = (await condense(memory, offline, PARAMS)).made
    child = memory.children(summary.id)[1]
    memory.update_content(child.id, "Snow.", child.hash)
    with memory.store.writing() as rows:
        outbox.done(rows, outbox.waiting(rows, 100))
    done = await condense(memory, offline, PARAMS)
    assert [node.text for node in done.renewed] == ["Memory 0. Snow."]
    assert memory.get(summary.id).text == done.renewed[0].text
    assert memory.versions(summary.id)[0].text == summary.text
    with memory.store.reading() as rows:
        assert [entry.node_id for entry in outbox.waiting(rows, 9)] == [summary.id]
    assert (await condense(memory, offline, PARAMS)).renewed == []


async def test_a_persons_words_stay(memory, grow, offline):
    """Visible Compression: a summary made or changed by hand is nobody's to regenerate."""
    grow(8)
    (summary,) = (await condense(memory, offline, PARAMS)).made
    memory.update_content(summary.id, "My own words.", summary.hash)
    own = memory.summarise(expected_hashes(memory.children("log")[1:3]), "By hand.", SUMMARY)
    for node in (summary, own):
        memory.append(node.id, "More.", MEMORY)
    assert (await condense(memory, offline, PARAMS)).renewed == []
    assert memory.get(summary.id).text == "My own words."


async def test_changed_while_the_librarian_thinks(memory, grow, offline, monkeypatch):
    """Optimistic Locking: what changed between question and answer is left for the next time, and named."""
    grow(8, LONG)
    summarise = offline.summarise

    async def slow(request):
        child = memory.children("log")[0]
        memory.update_content(child.id, "Changed.", child.hash)
        return await summarise(request)

    monkeypatch.setattr(offline, "summarise", slow)
    done = await condense(memory, offline, USUAL)
    assert done.made == []
    assert list(done.left.values()) == ["changed meanwhile; the next time looks at it again"]


async def test_by_a_model_paid_once_and_capped(memory, grow, tmp_path):
    """Summarization: summary text is generated by a model; answers are paid once; at the cap what is done is kept."""
    grow(16, LONG)
    store = DecisionStore(tmp_path / "decisions")
    with serving() as server:
        environment = Environment(openai_api_key="sk-x", openai_base_url=server.url)

        def model(**params):
            return ModelLibrarian(
                LibrarianParams(kind="model", model="fake", max_answer_tokens=300, **params),
                EditingParams(),
                environment,
                store,
                4,
            )

        poor = model(max_tokens=1000)
        done = await condense(memory, poor, USUAL)
        await poor.close()
        kept = len(done.made)
        assert (len(done.left), kept < 3) == (3 - kept, True)
        for summary in done.made:
            memory.unsummarise(summary.id, summary.hash)
        rich = model()
        done = await condense(memory, rich, USUAL)
        assert len(done.made) == 3
        assert rich.spend.usage.calls == 3 - kept
        for summary in done.made:
            assert 75 <= word_count(summary.text) <= 100
            memory.unsummarise(summary.id, summary.hash)
        await condense(memory, rich, USUAL)
        await rich.close()
        assert (rich.spend.usage.calls, rich.spend.usage.reused) == (3 - kept, 3 + kept)
        assert server.counts["Summary"] == 3


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads, as 3.12 has it
def test_killed_at_any_statement(tmp_path):
    """Summarization: killed in the middle, each run is as it was before or under its summary, with its marks."""
    statement, outcomes = 0, set()
    while True:
        file = tmp_path / f"{statement}.sqlite"
        memory = open_docmem(file)
        memory.create_root("", ROOT, root_id="garden")
        said = [memory.append("garden", "subject" if not n else f"Memory {n}.", MEMORY).text for n in range(8)]
        memory.close()
        code = killed(file, "condense", statement)
        memory = open_docmem(file)
        state = outline(memory, "garden")
        outcomes.add(str(state))
        assert state in (said, [said[:4], *said[4:]])
        marked = set(memory.marked("summarises")) & set(memory.marked("summary_sha256"))
        assert marked == {node.id for node, _ in memory.subtree("garden") if node.is_summary}
        assert problems(memory.store) == []
        memory.close()
        if code == 0:
            break
        assert code == -signal.SIGKILL
        statement += 6
    assert len(outcomes) == 2
