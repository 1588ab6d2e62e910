"""`infold chat` at a terminal, in a pipe, and with one message."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.openai_server import calls, hanging, text

INFOLD = str(Path(sys.executable).with_name("infold"))
MODEL = ["--set", "librarian.kind=model", "--set", "librarian.max_retries=0"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "index.md").write_text("# Home\n\nThe boiler stands in the cellar.\n")
    where = ["--vault", tmp_path / "vault", "--state", tmp_path / "state", "--set", "search.embedding=none"]
    return [str(part) for part in where]


class Terminal:
    """The program at a terminal of its own: what it shows, and what is typed."""

    def __init__(self, *words: str) -> None:
        self._own, theirs = pty.openpty()
        env = {**os.environ, "TERM": "dumb"}
        self.process = subprocess.Popen(
            [INFOLD, "chat", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        self.shown = ""

    def until(self, wanted: str, seconds: float = 120) -> str:
        """What was shown since the last time, up to `wanted`."""
        end = time.monotonic() + seconds
        while wanted not in self.shown:
            if time.monotonic() > end:
                raise AssertionError(f"{wanted!r} was not shown:\n{self.shown}")
            if select.select([self._own], [], [], 0.1)[0]:
                try:
                    self.shown += os.read(self._own, 4096).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
        found, _, self.shown = self.shown.partition(wanted)
        return found

    def type(self, keys: str) -> None:
        os.write(self._own, keys.encode())

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it."""
        self.process.send_signal(signal.SIGINT)

    def interrupt_until(self, wanted: str) -> None:
        """Ctrl-C at readline's prompt. Between its echo and its wait for a key it notices none but with the next."""
        for _ in range(60):
            self.interrupt()
            try:
                self.until(wanted, 2)
            except AssertionError:
                continue
            return
        self.until(wanted, 0)

    def ends(self) -> int:
        return self.process.wait(120)


def test_one_message(place, infold, tmp_path):
    """Said with the command; the next command goes on with the same session."""
    said = infold("chat", *place, "remember", "that", "the", "key", "is", "under", "the", "pot")
    assert said.exit_code == 0, said.output
    assert "I wrote that to" in said.stdout
    assert infold("chat", *place, "where", "is", "the", "boiler").exit_code == 0
    (transcript,) = tmp_path.rglob("agent-main.jsonl")
    lines = transcript.read_text().splitlines()
    assert [json.loads(line)["role"] for line in lines] == ["user", "assistant"] * 2


def test_each_line_of_a_pipe_is_a_message(place, infold, tmp_path):
    """In order, in one conversation; blank lines say nothing."""
    done = subprocess.run(
        [INFOLD, "chat", *place, "--json", "--session", "piped"],
        input="remember that the key is under the pot\n\nwhere is the boiler?\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    decoder, rest, answers = json.JSONDecoder(), done.stdout.strip(), []
    while rest:
        found, end = decoder.raw_decode(rest)
        answers.append(found)
        rest = rest[end:].strip()
    assert [bool(each["wrote"]) for each in answers] == [True, False]
    assert "index.md:3" in answers[1]["reply"]


def test_resume_takes_up_the_session_that_was_used_last(place, infold, model_server):
    """Whatever its name; the model has before it what was said there."""
    more = [*place, *MODEL, "--max-tokens", "500000"]
    model_server.script("Conversation", text("In the cellar."), text("Hello."), text("As I said: in the cellar."))
    assert infold("chat", *more, "--session", "first", "hello").exit_code == 0
    assert infold("chat", *more, "--session", "trip", "where is the boiler").exit_code == 0
    assert "As I said" in infold("chat", *more, "--resume", "what?").stdout
    assert "where is the boiler" in json.dumps(model_server.asked[-1].messages)


def test_without_a_cap_nothing_is_spent_in_a_pipe(place, infold, model_server):
    """The estimate and its token are the answer, and the exit code says that there is no other."""
    said = infold("chat", *place, *MODEL, "hello")
    assert said.exit_code == 1
    assert "--token" in said.stdout
    assert model_server.asked == []


@pytest.mark.slow
def test_a_conversation_at_a_terminal(place, model_server, tmp_path):
    """The price is agreed to once, writes each time; Ctrl-C drops a line or stops an answer, Ctrl-D ends it."""
    page = ("notebook_write", {"page": "lists/shopping", "content": "- Oat milk"})
    model_server.script("Conversation", calls(page), text("It is on the list."), hanging(), text("I am here again."))
    at = Terminal(*place, *MODEL)
    at.until("you> ")
    at.type("half a line")
    at.until("half a line")
    at.interrupt_until("you> ")
    at.type("put oat milk on my list\n")
    at.until("[y/N]: ")
    at.type("y\n")
    asked = at.until("Let it? [y/N]: ")
    assert "notebook_write" in asked
    assert "Oat milk" in asked
    at.type("y\n")
    at.until("It is on the list.")
    at.until("you> ")
    assert (tmp_path / "vault" / "lists" / "shopping.md").read_text() == "- Oat milk\n"
    at.type("/context\n")
    assert "instructions" in at.until("limit")
    at.until("you> ")
    at.type("and now think for ever\n")
    while len(model_server.asked) < 3:
        time.sleep(0.05)
    at.interrupt()
    at.until("Stopped.")
    at.until("you> ")
    at.type("are you there?\n")
    at.until("I am here again.")
    at.until("you> ")
    at.type("\x04")
    assert at.ends() == 0
