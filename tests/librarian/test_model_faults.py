"""What goes wrong at an endpoint becomes one typed error that says what to do, with no key and no text in it."""

from __future__ import annotations

import inspect
import logging
import socket
import time
import traceback

import openai
import pytest

from infold.errors import (
    AnswerInvalid,
    AnswerRefused,
    AnswerTruncated,
    ContextTooLong,
    EndpointDown,
    EndpointFault,
    EndpointUnreachable,
    KeyMissing,
    KeyRejected,
    ModelNotFound,
    SettingInvalid,
)
from infold.librarian.faults import FAULTS, AskedEndpoint, translate
from tests.fakes.openai_server import (
    answer,
    cut_off,
    fault,
    filtered,
    hanging,
    html,
    no_choices,
    refusal,
    text,
    too_many,
)
from tests.librarian.conftest import KEY, group_request

MODES = ["json_schema", "tools", "md_json"]
PRIVATE = "the doctor said it was nothing"
LONG_CONTEXT = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "reply, error",
    [
        (refusal(), AnswerRefused),
        (filtered(), AnswerRefused),
        (cut_off(), AnswerTruncated),
        (fault(401, code="invalid_api_key", message=f"Incorrect API key provided: {KEY}"), KeyRejected),
        (fault(403), KeyRejected),
        (fault(404, code="model_not_found"), ModelNotFound),
        (fault(400, code="context_length_exceeded"), ContextTooLong),
        (fault(400, message=LONG_CONTEXT), ContextTooLong),
        (fault(400, message="the request exceeds the available context size"), ContextTooLong),
        (fault(413), ContextTooLong),
        (fault(400, code="content_filter"), AnswerRefused),
        (fault(400, message="response_format is not supported"), EndpointDown),
        (fault(422), EndpointDown),
        (fault(402), EndpointDown),
        (html(), EndpointDown),
        (no_choices(), EndpointDown),
        (no_choices(None), EndpointDown),
        (no_choices([{}]), EndpointDown),
        (no_choices([{"message": None}]), EndpointDown),
    ],
)
async def test_what_no_repetition_can_mend_is_one_request(librarian, server, reply, error, mode):
    """Refusals, filters, cut answers, rejected keys, unknown models and wrong addresses are told after one request."""
    server.script("Grouping", reply, reply, reply)
    with pytest.raises(error) as raised:
        await librarian(mode=mode).group(group_request())
    assert len(server.asked) == 1
    assert "127.0.0.1" in str(raised.value) or not isinstance(raised.value, (EndpointDown, KeyRejected, ModelNotFound))


async def test_429_waits_as_told_and_goes_on(librarian, server):
    """Retry-After is kept to, and the answer after it taken."""
    server.script("Grouping", too_many(0.4), too_many(0.4))
    started = time.monotonic()
    assert (await librarian().group(group_request())).groups == [[1], [2]]
    assert len(server.asked) == 3
    assert time.monotonic() - started >= 0.8


@pytest.mark.parametrize("reply", [too_many(0.05), fault(500), fault(503), hanging()])
async def test_what_may_pass_is_tried_to_the_last_retry(librarian, server, reply):
    """429, 5xx and time-outs are asked 1 + max_retries times, then said so; nothing hangs."""
    server.script("Grouping", *[reply] * 9)
    with pytest.raises(EndpointDown):
        await librarian(max_retries=1, timeout_seconds=0.5).group(group_request())
    assert len(server.asked) == 2


async def test_500s_and_a_slow_answer_are_survived(librarian, server):
    """A fault that passes costs no answer; a slow one within the time limit is taken."""
    server.script("Grouping", fault(500), answer({"groups": [[1], [2]]}, latency=0.8))
    assert (await librarian().group(group_request())).groups == [[1], [2]]
    assert len(server.asked) == 2


async def test_an_account_without_credit_is_named(librarian, server):
    """A quota that is used up reads differently from a rate limit."""
    server.script("Grouping", fault(429, code="insufficient_quota", headers={"retry-after": "0.01"}))
    with pytest.raises(EndpointDown, match="no credit"):
        await librarian(max_retries=0).group(group_request())


async def test_nobody_at_the_address(librarian):
    """A refused connection names host and port, and what to do."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(EndpointUnreachable, match=f"127.0.0.1:{port}") as raised:
        await librarian(url=f"http://user:hidden@127.0.0.1:{port}/v1", max_retries=0).group(group_request())
    assert "hidden" not in str(raised.value)
    assert "OPENAI_BASE_URL" in raised.value.hint


def test_the_default_endpoint_needs_a_key(librarian):
    """Without address and key the error says which settings would do."""
    with pytest.raises(KeyMissing) as raised:
        librarian(url="", key=None)
    assert "OPENAI_API_KEY" in raised.value.hint
    with pytest.raises(KeyMissing):
        librarian(url="https://api.openai.com/v1", key="  ")


async def test_a_local_endpoint_needs_no_key(librarian, server):
    """With an address of one's own no key is asked for."""
    assert (await librarian(key=None).group(group_request())).groups == [[1], [2]]


async def test_a_wrong_key_at_the_server(librarian, server):
    """The server's own check of the key, end to end."""
    server.key = "another"
    with pytest.raises(KeyRejected) as raised:
        await librarian().group(group_request())
    assert KEY not in f"{raised.value}{raised.value.hint}"


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(librarian, server, monkeypatch):
    """A local endpoint is reached behind a company proxy too."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert (await librarian(max_retries=0).group(group_request())).groups == [[1], [2]]


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "http://host:no/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_a_setting(librarian, url):
    """A base address without scheme or host is refused before anything is sent."""
    with pytest.raises(SettingInvalid, match="OPENAI_BASE_URL"):
        librarian(url=url)


@pytest.mark.parametrize("key", ["sk-with space", "sk-ключ", "sk-a\nb"])
def test_a_key_no_header_can_carry(librarian, key):
    """A key with a space, a line end or foreign letters is told so, without being shown."""
    with pytest.raises(KeyRejected) as raised:
        librarian(key=key)
    assert key not in str(raised.value)


def _exceptions() -> list[type[BaseException]]:
    classes = {c for module in (openai, openai._exceptions) for _, c in inspect.getmembers(module, inspect.isclass)}
    return sorted((c for c in classes if issubclass(c, Exception)), key=lambda c: c.__name__)


@pytest.mark.parametrize("kind", _exceptions(), ids=lambda kind: kind.__name__)
def test_every_error_of_openai_is_mapped(kind):
    """A version of openai that brings an error nobody mapped fails here, not at a user."""
    assert kind.__name__ in FAULTS or kind.__name__.startswith("_")


def test_an_unknown_error_of_openai_still_has_a_fault():
    """A subclass of a known error is treated as its base."""

    class Newer(openai.OpenAIError):
        pass

    assert isinstance(translate(Newer(PRIVATE), AskedEndpoint("m", None)), EndpointFault)
    assert PRIVATE not in str(translate(Newer(PRIVATE), AskedEndpoint("m", None)))


@pytest.mark.parametrize(
    "replies",
    [
        [text(f"{PRIVATE}, but no JSON")] * 4,
        [answer({"groups": [[1]], "remark": PRIVATE})] * 4,
        [cut_off(f'{{"groups": [[1]], "remark": "{PRIVATE}')],
        [refusal(PRIVATE)],
        [fault(401, message=f"Incorrect API key provided: {KEY}. {PRIVATE}")],
        [fault(400, message=f"{PRIVATE} {KEY}", code=f"{PRIVATE}")],
        [fault(500, message=PRIVATE)] * 4,
    ],
)
async def test_no_secret_and_no_text_in_errors_or_logs(librarian, server, replies, caplog):
    """Neither the key nor what inbox, notes or answers say gets into exceptions, tracebacks or log lines."""
    caplog.set_level(logging.DEBUG)
    server.script("Grouping", *replies)
    with pytest.raises((AnswerInvalid, AnswerTruncated, AnswerRefused, KeyRejected, EndpointDown)) as raised:
        await librarian(max_retries=0).group(group_request(f"Today {PRIVATE}.", "Two"))
    shown = "".join(traceback.format_exception(raised.value)) + raised.value.hint
    for where in (shown, caplog.text, repr(raised.value)):
        assert PRIVATE not in where
        assert KEY not in where
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


async def test_a_call_that_succeeds_logs_its_cost_and_nothing_else(librarian, server, caplog):
    """The log names purpose, tokens and time."""
    caplog.set_level(logging.DEBUG)
    await librarian().group(group_request(PRIVATE))
    assert PRIVATE not in caplog.text
    assert KEY not in caplog.text
    assert "group: 1 calls" in caplog.text
