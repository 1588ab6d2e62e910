"""The model librarian's conversations: what is asked, how answers are read and corrected."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise

import pytest

from infold.environment import Environment
from infold.errors import AnswerInvalid
from infold.librarian.answers import OpenNote
from infold.librarian.model import ModelLibrarian
from infold.librarian.prompts import DecisionKind, prompt_version
from infold.settings import EditingParams, LibrarianParams
from tests.fakes.openai_server import Reply, answer, fault, text
from tests.librarian.conftest import (
    TEA,
    card,
    chunk,
    edit_request,
    group_request,
    look_request,
    summary_request,
)

MODES = ["json_schema", "tools", "md_json"]
GROUPS = '{"groups": [[1, 2]]}'


@pytest.mark.parametrize("mode", MODES)
async def test_all_four_decisions_are_answered_in_each_mode(librarian, server, mode):
    """Group, summarise, look and edit give valid typed answers, whatever way the endpoint takes schemas."""
    model = librarian(mode=mode)
    assert (await model.group(group_request())).groups == [[1], [2]]
    assert "Tea is a drink" in (await model.summarise(summary_request())).summary
    conversation = model.conversation(chunk())
    assert (await conversation.look(look_request())).files == ["tea.md", "coffee.md"]
    viewed = (card("index.md", "tea.md", "coffee.md"), card("tea.md"), card("coffee.md"))
    assert (await conversation.look(look_request(viewed=viewed, left=1))).action == "checkout"
    edits = (await conversation.edit(edit_request())).edits
    assert edits[0].replace.endswith("White tea wants seventy degrees and five minutes.")
    assert server.counts == {"Grouping": 1, "Summary": 1, "Look": 2, "Edits": 1}


@pytest.mark.parametrize("mode", MODES)
async def test_a_conversation_only_grows_at_its_end(librarian, server, mode):
    """Every request of a chunk's conversation begins with all messages of the one before, corrections too."""
    server.script("Look", answer({"action": "view", "files": ["nowhere.md"]}))
    server.script("Edits", answer({"edits": [{"file": "tea.md", "find": "oolong", "replace": "x"}]}))
    conversation = librarian(mode=mode).conversation(chunk())
    await conversation.look(look_request())
    await conversation.look(look_request(viewed=(card("index.md", "tea.md"), card("tea.md")), left=0))
    await conversation.edit(edit_request())
    await conversation.edit(edit_request(note=TEA + "\nA line more.\n", refused="The note changed meanwhile."))
    sent = [asked.messages for asked in server.asked]
    assert len(sent) == 6
    for before, after in pairwise(sent):
        assert after[: len(before)] == before
        assert len(after) > len(before)


@pytest.mark.parametrize("mode", MODES)
async def test_a_correction_names_the_problem_in_the_same_conversation(librarian, server, mode):
    """An answer against a rule is sent back with the rule; the next one is taken."""
    server.script("Grouping", answer({"groups": [[1]]}), answer({"groups": [[1], [2], [3]]}))
    assert (await librarian(mode=mode).group(group_request())).groups == [[1], [2]]
    last = server.asked[-1].messages
    assert "paragraph in no group: 2" in json.dumps(last[3])
    assert "no such paragraph: 3" in json.dumps(last[5])
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "said",
    [
        "Sure! Here are the groups.",
        '{"groups": [[1, 2]',
        '{"groups": "all"}',
        "{}",
        "",
        "[[1, 2]]",
        '{"tasks": []}',
        "null",
    ],
)
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_no_answer_is_asked_again(librarian, server, said, mode):
    """Prose, malformed JSON, wrong types and missing keys are corrected, never taken for an empty answer."""
    server.script("Grouping", text(said), text(GROUPS))
    assert (await librarian(mode=mode).group(group_request())).groups == [[1, 2]]
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "said",
    [
        f"```json\n{GROUPS}\n```",
        f"<think>The user wants {{groups}}. Maybe [[1], [2]]?</think>\n\n{GROUPS}",
        f'I first thought of {{"groups": [[1]]}}.\n</think>```\n{GROUPS}\n```',
        f"Here you go:\n\n{GROUPS}\n\nSee [1] and [2].",
        f"  \n{GROUPS}\n  ",
    ],
)
@pytest.mark.parametrize("mode", ["md_json", "json_schema"])
async def test_thoughts_fences_and_prose_around_json_are_survived(librarian, server, said, mode):
    """The JSON object of an answer is found where a local model wraps it, in one request."""
    server.script("Grouping", text(said))
    assert (await librarian(mode=mode).group(group_request())).groups == [[1, 2]]
    assert len(server.asked) == 1


def _calling(*functions: dict[str, object], content: object = None) -> Reply:
    calls = [{"id": f"call_{n}", "type": "function", "function": f} for n, f in enumerate(functions)]
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    body = {"object": "chat.completion", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    return Reply(body=json.dumps(body).encode())


@pytest.mark.parametrize(
    "reply",
    [
        _calling({"name": "Look", "arguments": '{"action": "view", "files": ["tea.md"]}'}),
        _calling({"name": "wrong_name", "arguments": '{"action": "view", "files": ["tea.md"]}'}),
        _calling({"name": "Look", "arguments": {"action": "view", "files": ["tea.md"]}}),
        _calling(
            {"name": "Look", "arguments": '{"action": "view", "files": ["tea.md"]}'},
            {"name": "Look", "arguments": '{"action": "view", "files": ["coffee.md"]}'},
        ),
    ],
)
async def test_what_servers_make_of_a_tool_call(librarian, server, reply):
    """Arguments as an object, another name, two calls at once: the first call counts, and the conversation goes on."""
    server.script("Look", reply)
    conversation = librarian(mode="tools").conversation(chunk())
    assert (await conversation.look(look_request())).files == ["tea.md"]
    await conversation.edit(edit_request())
    said = server.asked[-1].messages
    calls = [call["id"] for m in said for call in m.get("tool_calls") or ()]
    assert calls == [m["tool_call_id"] for m in said if m["role"] == "tool"]
    assert len(server.asked) == 2


@pytest.mark.parametrize("function", [{}, {"name": "Grouping"}, {"name": "Grouping", "arguments": "no JSON"}])
async def test_a_broken_tool_call_is_corrected(librarian, server, function):
    """A call without arguments or with broken ones is answered by the error, as the protocol wants."""
    server.script("Grouping", _calling(function))
    assert (await librarian(mode="tools").group(group_request())).groups == [[1], [2]]
    assert server.asked[1].messages[-1]["role"] == "tool"


async def test_content_in_parts_is_put_together(librarian, server):
    """Some endpoints send a list of parts instead of a string."""
    parts = [{"type": "text", "text": '{"groups": '}, {"type": "text", "text": "[[1, 2]]}"}]
    message = {"role": "assistant", "content": parts}
    server.script("Grouping", Reply(body=json.dumps({"choices": [{"message": message}]}).encode()))
    assert (await librarian().group(group_request())).groups == [[1, 2]]
    assert len(server.asked) == 1


@pytest.mark.parametrize("said", ["{" * 30_000, '{"a":' * 8_000, "[" * 30_000, "<think>" * 5_000])
async def test_hostile_answers_are_read_in_no_time(librarian, server, said):
    """Nested or unclosed brackets cost neither time nor the stack."""
    server.script("Grouping", text(said))
    started = time.process_time()
    assert (await librarian(mode="md_json").group(group_request())).groups == [[1], [2]]
    assert time.process_time() - started < 5


async def test_corrections_end_at_the_limit(librarian, server):
    """After the last correction the answer is given up, with at most 1 + max_corrections requests."""
    server.script("Grouping", *[answer({"groups": []}) for _ in range(9)])
    with pytest.raises(AnswerInvalid, match="after 2 corrections"):
        await librarian(max_corrections=2).group(group_request())
    assert len(server.asked) == 3


async def test_the_reason_names_the_rule_that_was_broken(librarian, server):
    """The person reads why a chunk stayed in the inbox: the rule, not only that there was one."""
    server.script("Grouping", *[answer({"groups": [[1], [1]]})] * 2)
    with pytest.raises(AnswerInvalid, match="paragraph in more than one group: 1"):
        await librarian(max_corrections=1).group(group_request())


async def test_no_corrections_means_one_request(librarian, server):
    """max_corrections 0 asks once."""
    server.script("Grouping", answer({"groups": []}))
    with pytest.raises(AnswerInvalid):
        await librarian(max_corrections=0).group(group_request())
    assert len(server.asked) == 1


async def test_a_transcript_is_json_and_can_be_taken_up_elsewhere(librarian, server):
    """Exploration and edits may happen in two processes: the second goes on from the first one's transcript."""
    first = librarian().conversation(chunk())
    await first.look(look_request())
    carried = tuple(json.loads(json.dumps(first.transcript)))
    second = librarian().conversation(chunk(), carried)
    await second.edit(edit_request())
    before, after = (asked.messages for asked in server.asked)
    assert after[: len(before)] == before
    assert second.usage.calls == 1
    assert "shown" not in json.dumps([list(message) for message in after])


async def test_a_failed_question_leaves_the_conversation_as_it_was(librarian, server):
    """What could not be answered is not in the transcript, and is shown again when asked again."""
    server.script("Edits", *[answer({"edits": []}) for _ in range(2)])
    conversation = librarian(max_corrections=1).conversation(chunk())
    await conversation.look(look_request())
    before = conversation.transcript
    with pytest.raises(AnswerInvalid):
        await conversation.edit(edit_request())
    assert conversation.transcript == before
    await conversation.edit(edit_request())
    assert TEA in server.asked[-1].messages[-1]["content"]


async def test_a_recheckout_shows_only_the_notes_that_changed(librarian, server):
    """Asked again, a note that stands as before is named and not sent again; the reason is given."""
    request = edit_request()
    both = (*request.notes, OpenNote("coffee.md", "# Coffee\n\nCoffee is ground.\n"))
    first = type(request)(request.chunk, both, request.params)
    conversation = librarian().conversation(chunk())
    await conversation.edit(first)
    changed = (OpenNote("tea.md", TEA + "\nNew line.\n"), both[1])
    await conversation.edit(type(request)(request.chunk, changed, request.params, "tea.md changed meanwhile"))
    last = server.asked[-1].messages[-1]["content"]
    assert "New line." in last
    assert "Coffee is ground." not in last
    assert '"coffee.md": as shown before.' in last
    assert "tea.md changed meanwhile" in last


async def test_cards_are_shown_once(librarian, server):
    """Later rounds send only notes newly viewed or available; what was linked with its summary is not listed again."""
    conversation = librarian().conversation(chunk())
    await conversation.look(look_request())
    first = server.asked[0].messages[-1]["content"]
    assert first.count("- [[tea.md]] — About tea.md.") == 1
    await conversation.look(look_request(viewed=(card("index.md", "tea.md", "coffee.md"), card("tea.md")), left=1))
    second = server.asked[1].messages[-1]["content"]
    assert "## [tea.md]" in second
    assert "## [index.md]" not in second
    assert "coffee.md" not in second


async def test_a_local_endpoint_gets_the_old_limit_name_and_another_when_it_asks(librarian, server):
    """The longest answer is limited under the name the endpoint knows; its refusal of one name is no failure."""
    server.script("Grouping", fault(400, code="unsupported_parameter", param="max_tokens"))
    model = librarian(max_answer_tokens=123)
    await model.group(group_request())
    await model.group(group_request("three", "four"))
    names = [[n for n in ("max_tokens", "max_completion_tokens") if asked.body.get(n) == 123] for asked in server.asked]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


async def test_the_name_holds_model_prompts_and_temperature_but_no_host_and_no_key(librarian, server):
    """Decision keys survive a move to another address, and change with the words."""
    model = librarian(temperature=0.2)
    assert model.name == "test-model/temperature-0.2"
    assert librarian().name == "test-model/temperature-default"
    for kind in DecisionKind:
        assert model.signature(kind) == f"test-model/temperature-0.2/prompts-{prompt_version(kind)}"


async def test_temperature_is_sent_only_where_set(librarian, server):
    """Models that take no temperature get none."""
    await librarian().group(group_request())
    await librarian(temperature=0.0).group(group_request())
    assert ["temperature" in asked.body for asked in server.asked] == [False, True]


def test_one_librarian_serves_several_event_loops(server, store):
    """Each asyncio.run may use the same librarian: connections belong to loops, the meter to the librarian."""
    environment = Environment(OPENAI_BASE_URL=server.url)
    model = ModelLibrarian(LibrarianParams(kind="model", model="m"), EditingParams(), environment, store, 2)
    assert asyncio.run(model.group(group_request())).groups == [[1], [2]]
    assert asyncio.run(model.group(group_request("three", "four"))).groups == [[1], [2]]
    assert model.spend.usage.calls == 2
