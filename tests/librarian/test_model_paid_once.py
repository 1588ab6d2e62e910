"""What was paid for is kept before it is read: whoever asks again, in whatever process, does not pay again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from infold.errors import AnswerInvalid, AnswerRefused, CapReached, EndpointFault, StateUnwritable
from infold.librarian.spend import CostMeter, Usage
from tests.fakes.openai_server import answer, cut_off, fault, refusal, serving
from tests.librarian.conftest import (
    card,
    chunk,
    edit_request,
    group_request,
    look_request,
)

REPOSITORY = Path(__file__).resolve().parents[2]
WRONG = answer({"groups": [[1]]})


async def _whole_chunk(model):
    conversation = model.conversation(chunk())
    await conversation.look(look_request())
    await conversation.look(look_request(viewed=(card("index.md", "tea.md"), card("tea.md")), left=0))
    await conversation.edit(edit_request())
    return conversation


@pytest.mark.parametrize("mode", ["json_schema", "tools", "md_json"])
async def test_a_second_run_asks_nothing_and_says_the_same(librarian, server, mode):
    """Served from the store: 0 calls, 0 tokens, 0 dollars, counted apart; corrections included."""
    server.script("Grouping", WRONG)
    server.script("Look", answer({"action": "view", "files": ["nowhere.md"]}))
    first, second = librarian(mode=mode), librarian(mode=mode)
    groups = await first.group(group_request())
    conversation = await _whole_chunk(first)
    paid = len(server.asked)
    assert paid == 6
    assert await second.group(group_request()) == groups
    again = await _whole_chunk(second)
    assert len(server.asked) == paid
    assert again.transcript == conversation.transcript
    assert again.usage == Usage(reused=4)
    assert second.spend.usage == Usage(reused=6)
    assert first.spend.usage.calls == 6


async def test_another_model_temperature_or_limit_is_another_question(librarian, server):
    """Whatever could change the answer is in the key; the address is not."""
    await librarian().group(group_request())
    await librarian(model="other").group(group_request())
    await librarian(temperature=0.5).group(group_request())
    await librarian(max_answer_tokens=99).group(group_request())
    assert len(server.asked) == 4
    with serving() as elsewhere:
        await librarian(url=elsewhere.url, key="another").group(group_request())
        assert not elsewhere.asked


@pytest.mark.parametrize("reply, error", [(WRONG, AnswerInvalid), (refusal(), AnswerRefused), (cut_off(), Exception)])
async def test_after_a_failure_the_next_run_asks_afresh(librarian, server, reply, error):
    """Answers that led nowhere are not served again."""
    server.script("Grouping", *[reply] * 2)
    with pytest.raises(error):
        await librarian(max_corrections=1).group(group_request())
    asked = len(server.asked)
    server._script.clear()
    assert (await librarian().group(group_request())).groups == [[1], [2]]
    assert len(server.asked) == asked + 1


async def test_a_failed_conversation_forgets_its_looks_too(librarian, server):
    """A chunk whose edits stay invalid is explored anew by the next run."""
    server.script("Edits", *[answer({"edits": []})] * 2)
    conversation = librarian(max_corrections=1).conversation(chunk())
    await conversation.look(look_request())
    with pytest.raises(AnswerInvalid):
        await conversation.edit(edit_request())
    await librarian().conversation(chunk()).look(look_request())
    assert server.counts == {"Look": 2, "Edits": 2}


async def test_an_endpoint_fault_forgets_nothing(librarian, server):
    """When the endpoint fails in mid-conversation, what came before is good for the next run."""
    server.script("Edits", fault(500))
    conversation = librarian(max_retries=0).conversation(chunk())
    await conversation.look(look_request())
    with pytest.raises(EndpointFault):
        await conversation.edit(edit_request())
    again = librarian().conversation(chunk())
    await again.look(look_request())
    await again.edit(edit_request())
    assert server.counts == {"Look": 1, "Edits": 2}
    assert again.usage.reused == 1


async def test_the_cap_stops_before_the_call_and_forgets_nothing(librarian, server):
    """CapReached sends nothing; what was paid is served to the run with a higher cap."""
    model = librarian(max_tokens=9500)
    conversation = model.conversation(chunk())
    await conversation.look(look_request())
    with pytest.raises(CapReached, match="of 9500"):
        await conversation.edit(edit_request())
    assert server.counts == {"Look": 1}
    assert model.spend.usage.tokens <= 9500
    await _whole_chunk(librarian())
    assert server.counts == {"Look": 2, "Edits": 1}


async def test_calls_side_by_side_cannot_pass_the_cap(librarian, server):
    """N calls at once reserve together: the sum that was paid stays under the cap, to the token."""
    server.latency = 0.1
    model = librarian(max_tokens=6000, max_answer_tokens=1000, concurrency=32)
    requests = [model.group(group_request(f"number {n}", "two")) for n in range(32)]
    results = await asyncio.gather(*requests, return_exceptions=True)
    stopped = [r for r in results if isinstance(r, CapReached)]
    assert stopped
    assert len(stopped) + len(server.asked) == 32
    assert model.spend.usage.tokens <= 6000
    assert model.spend.usage.calls == len(server.asked) >= 2


async def test_dollars_are_counted_and_capped(librarian, server):
    """With a known price actuals and the cap are in dollars."""
    spend = CostMeter(max_usd=0.7, price=lambda prompt, cached, completion: (prompt + 10 * completion) / 1000)
    model = librarian(spend=spend, max_answer_tokens=10)
    await model.group(group_request())
    usage = model.spend.usage
    assert usage.usd == pytest.approx((usage.prompt_tokens + 10 * usage.completion_tokens) / 1000)
    with pytest.raises(CapReached, match="USD"):
        await model.group(group_request("three", "four"))
    assert len(server.asked) == 1


async def test_usage_is_kept_per_call_chunk_and_run(librarian, server):
    """The meter tells each call, what each chunk cost, and the whole; an endpoint without usage is counted by rule."""
    server.script("Grouping", answer({"groups": [[1], [2]]}, usage=False))
    model = librarian()
    await model.group(group_request())
    conversation = await _whole_chunk(model)
    assert [call.purpose for call in model.spend.calls] == ["group", "chunk 1", "chunk 1", "chunk 1"]
    group = model.spend.calls[0].usage
    assert group.prompt_tokens > 100
    assert model.spend.usage == conversation.usage + group
    assert model.spend.usage.usd is None


async def test_concurrency_is_bounded(librarian, server):
    """No more requests are in flight than integrate.concurrency."""
    server.latency = 0.05
    model = librarian(concurrency=3)
    await asyncio.gather(*(model.group(group_request(f"number {n}")) for n in range(12)))
    assert server.max_in_flight == 3


async def test_an_answer_that_cannot_be_kept_stops_the_run(librarian, server, store):
    """A full or read-only disk is said at once: going on would pay twice."""
    store.folder.parent.mkdir(exist_ok=True)
    store.folder.write_text("a file where the folder should be")
    with pytest.raises(StateUnwritable):
        await librarian().group(group_request())


RUN = """
    import asyncio, sys
    from pathlib import Path
    from infold.librarian.answers import GroupRequest, Paragraph
    from infold.librarian.decisions import DecisionStore
    from infold.librarian.model import ModelLibrarian
    from infold.environment import Environment
    from infold.settings import EditingParams, LibrarianParams

    async def main(url, folder):
        environment = Environment(OPENAI_BASE_URL=url)
        params = LibrarianParams(kind="model", model="m")
        model = ModelLibrarian(params, EditingParams(), environment, DecisionStore(Path(folder)), 2)
        for n in range(8):
            request = GroupRequest((Paragraph(1, f"text {n}"), Paragraph(2, "two")), (), 600)
            print((await model.group(request)).groups, flush=True)
        await model.close()

    asyncio.run(main(*sys.argv[1:]))
"""


def _run(url: str, folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"}
    environment.pop("OPENAI_API_KEY", None)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RUN), url, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.mark.slow
def test_killed_at_any_moment_nothing_answered_is_asked_twice(tmp_path):
    """SIGKILL between, in and after calls; then a whole run: only what had not been answered yet is asked again."""
    with serving(latency=0.12) as server:
        server.script("Grouping", WRONG)
        for moment in (1, 4):
            process = _run(server.url, tmp_path)
            target = len(server.asked) + moment
            while len(server.asked) < target:
                time.sleep(0.005)
            time.sleep(0.04 * moment)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        kept, asked = len(list(tmp_path.glob("**/*.json"))), len(server.asked)
        lines = _run(server.url, tmp_path).communicate(timeout=60)[0].splitlines()
        assert lines == ["[[1], [2]]"] * 8
        assert len(server.asked) - asked == len(list(tmp_path.glob("**/*.json"))) - kept
        assert len(server.repeated) <= 2  # at most the one request that was under way at each kill
