"""The summary of a day: from what, when not, and never twice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from infold.app import open_workspace
from infold.environment import Environment
from infold.librarian.answers import Summary
from infold.librarian.offline import OfflineLibrarian
from infold.notebook.daily import daily_log
from infold.notebook.daily_summary import MAX_CHARACTERS, TITLE, daily_summary
from infold.settings import Params
from infold.text import word_count
from tests.fakes.openai_server import serving

ENTRY = (
    "Sarah called about the timeline\nThe release moves to March because the pump of the new boiler was late. She asked "
    "for a list of open tasks and for the phone number of the plumber. We agreed to meet on Friday at nine in the office "
    "by the river. Bob joined later and said that the garden wall has to be repaired before the winter comes. He knows a "
    "mason who has time in April. The mason wants to see the wall first. I promised to send him photographs tomorrow."
)


class Counting(OfflineLibrarian):
    """The offline librarian, and what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = []  # type: ignore[var-annotated]

    async def summarise(self, request) -> Summary:
        self.asked.append(request)
        return await super().summarise(request)


async def test_a_day_gets_one_summary(workspace, text, at):
    """Of 75 to 100 words, as the last entry; asked again with nothing new, none is added."""
    daily_log(workspace, ENTRY, at(9, 0))
    librarian = Counting()
    done = await daily_summary(workspace, librarian, at(23, 59))
    assert done.path == "daily/2026-02-24.md"
    assert text(done.path).endswith(f"\n\n## 23:59 — {TITLE}\n{done.text}\n")
    assert 40 <= word_count(done.text) <= 100
    was = text(done.path)
    again = await daily_summary(workspace, librarian, at(23, 59, 30))
    assert (again.text, text(done.path)) == ("", was)
    assert "already" in again.message
    assert librarian.asked[0] == librarian.asked[1]


async def test_a_day_that_goes_on_gets_another_below(workspace, text, at):
    """The log only grows: the earlier summary stays, and is no part of what the later one is made from."""
    daily_log(workspace, ENTRY, at(9, 0))
    librarian = Counting()
    await daily_summary(workspace, librarian, at(18, 0))
    was = text("daily/2026-02-24.md")
    daily_log(
        workspace, "Zebra crossing\nThe zebra crossing in front of the school was painted anew this evening.", at(20, 0)
    )
    await daily_summary(workspace, librarian, at(23, 59))
    now = text("daily/2026-02-24.md")
    assert now.startswith(was)
    assert TITLE not in librarian.asked[1].text
    assert "zebra" in librarian.asked[1].text


async def test_the_sessions_of_the_day_are_in_it(workspace, put, at):
    """Turns of that day only; a day with sessions and no log gets a log."""
    turns = [
        {"role": "user", "content": f"Old talk. {ENTRY}", "timestamp": at(9, 0, day=23).isoformat()},
        {"role": "user", "content": f"New talk. {ENTRY}", "timestamp": at(9, 0).isoformat()},
    ]
    put("sessions/a.jsonl", "".join(json.dumps(turn) + "\n" for turn in turns))
    librarian = Counting()
    done = await daily_summary(workspace, librarian, at(23, 59))
    assert done.text
    assert "New talk." in librarian.asked[0].text
    assert librarian.asked[0].text.count("promised to send") == 1


async def test_a_short_day_is_its_own_summary(workspace, text, at):
    """Nothing is written, and it is said; nor is a log made for an empty day."""
    librarian = Counting()
    assert (await daily_summary(workspace, librarian, at(23, 59))).text == ""
    assert not (workspace.vault / "daily").exists()
    daily_log(workspace, "Little happened.", at(9, 0))
    was = text("daily/2026-02-24.md")
    assert "75 words" in (await daily_summary(workspace, librarian, at(23, 59))).message
    assert (text("daily/2026-02-24.md"), librarian.asked) == (was, [])


async def test_a_day_is_cut_at_what_one_summary_may_cost(workspace, put, at):
    """What is left out is said."""
    put("daily/2026-02-24.md", "# Log\n\n" + f"{ENTRY}\n\n" * 100)
    librarian = Counting()
    done = await daily_summary(workspace, librarian, at(23, 59))
    assert len(librarian.asked[0].text) == MAX_CHARACTERS
    assert "characters of the day" in done.message


async def test_without_a_model_nothing_is_needed(workspace):
    """The settings' librarian is the offline one by default."""
    with open_workspace(workspace) as vault:
        async with vault.summariser() as librarian:
            assert librarian.name == "offline/1"


async def test_a_model_is_asked_once_and_capped(workspace, monkeypatch, text, at):
    """A real endpoint: one call for one day however often it is asked, under a cap that nobody had to set."""
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        assert Environment().base_url == server.url
        params = Params.model_validate({"librarian": {"kind": "model"}})
        asking = replace(workspace, params=params)
        daily_log(asking, ENTRY, at(9, 0))
        for _ in range(2):
            with open_workspace(asking) as vault:
                async with vault.summariser() as librarian:
                    done = await daily_summary(asking, librarian, at(23, 59))
        assert text(done.path).count(TITLE) == 1
        assert len(server.asked) == 1


@pytest.mark.parametrize("line", ["12:00 — Summary of the day trip", "Summary of the day"])
async def test_only_its_own_summaries_are_left_out(workspace, put, at, line):
    """A heading that only looks like one is a part of the day."""
    put("daily/2026-02-24.md", f"# Log\n\n## {line}\n{ENTRY}\n")
    librarian = Counting()
    await daily_summary(workspace, librarian, at(23, 59))
    assert "Sarah" in librarian.asked[0].text


async def test_a_persons_own_daily_note_is_not_written_into_unasked(workspace, put, text, at):
    """The nightly job leaves a note alone that no agent has logged in; who asks gets a summary."""
    put("daily/2026-02-24.md", f"# Tuesday\n\n{ENTRY}\n")
    was = text("daily/2026-02-24.md")
    done = await daily_summary(workspace, Counting(), at(23, 59), of_entries=True)
    assert (done.text, text("daily/2026-02-24.md")) == ("", was)
    assert (await daily_summary(workspace, Counting(), at(23, 59))).text
    put("daily/2026-02-25.md", f"# Wednesday\n\n## 09:00 — Call\n{ENTRY}\n")
    assert (await daily_summary(workspace, Counting(), at(23, 59, day=25), of_entries=True)).text
