"""The daily log: what an entry looks like, where it goes, and that nothing of it is lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infold.errors import NoteUnreadable, PathRefused, UsageError
from infold.notebook.daily import daily_log, with_entry
from infold.notebook.entries import entry_text
from infold.settings import Params
from infold.vault.note import parse
from infold.workspace import Workspace


def test_the_specifications_day(workspace, text, at):
    """The example of the specification, byte for byte, from the entries that make it."""
    daily_log(workspace, "Morning check-in\nUser reviewed pending tasks. Cleared 3 items from todo list.", at(9, 15))
    daily_log(
        workspace,
        "Sarah meeting prep\nLooked up Sarah's contact info. User mentioned new project timeline.\n"
        "Sarah now at Acme Corp (previously TechFlow).\nUpdated contacts.\n",
        at(11, 30),
    )
    done = daily_log(workspace, "Shopping list update\nAdded items for weekend dinner.", at(14, 0))
    assert done.path == "daily/2026-02-24.md"
    assert text(done.path) == (
        "# Daily Log — 2026-02-24\n\n"
        "## 09:15 — Morning check-in\nUser reviewed pending tasks. Cleared 3 items from todo list.\n\n"
        "## 11:30 — Sarah meeting prep\nLooked up Sarah's contact info. User mentioned new project timeline.\n"
        "Sarah now at Acme Corp (previously TechFlow).\nUpdated contacts.\n\n"
        "## 14:00 — Shopping list update\nAdded items for weekend dinner.\n"
    )


@pytest.mark.parametrize(
    "entry, wanted",
    [
        ("Called Sarah.", "## 09:05 — Called Sarah."),
        ("## Called Sarah ##\n\nAbout time.", "## 09:05 — Called Sarah\nAbout time."),
        ("Called Sarah\n======\nAbout time.", "## 09:05 — Called Sarah\nAbout time."),
        ("- one\n- two", "## 09:05 — one\n- one\n- two"),
        ("```\ncode\n```", "## 09:05 — code\n```\ncode\n```"),
        ("---", "## 09:05 — Note\n---"),
        ("8:30 — Breakfast", "## 08:30 — Breakfast"),
        ("## 14:05 — Lunch\nSoup.", "## 14:05 — Lunch\nSoup."),
        ("10:30 train missed", "## 09:05 — 10:30 train missed"),
        ("Trip\n# Day\n## Hotel\ntext", "## 09:05 — Trip\n### Day\n#### Hotel\ntext"),
        ("Trip\nA *day*\nout\n---\ntext", "## 09:05 — Trip\n### A *day* out\ntext"),
        ("Trip\n#### Deep", "## 09:05 — Trip\n#### Deep"),
        ("Code\n```\n# no heading\n```", "## 09:05 — Code\n```\n# no heading\n```"),
        ("Code\n```py\nopen", "## 09:05 — Code\n```py\nopen\n```"),
        ("Hm\n%% hidden", "## 09:05 — Hm\n%% hidden\n%%"),
        ("Hm\n<!-- hidden", "## 09:05 — Hm\n<!-- hidden\n-->"),
        ("Hm\n%%\n```", "## 09:05 — Hm\n%%\n```\n```\n%%"),
        ("Hm\n%%\n```\n%%", "## 09:05 — Hm\n~~~~\nHm\n%%\n```\n%%\n~~~~"),
        ("\r\n Windows\r\nlines\r\n", "## 09:05 — Windows\nlines"),
    ],
)
def test_an_entry_is_a_heading_and_what_goes_below_it(entry, wanted, at):
    """The first line is said once where it can be the heading; headings and open fences never break the log."""
    assert entry_text(entry, at(9, 5)) == wanted


def test_a_long_first_line_stays_whole_below_a_short_heading(at):
    """A paragraph is no heading."""
    entry = "word " * 40 + "end."
    heading, body = entry_text(entry, at(9, 5)).split("\n")
    assert body == entry
    assert heading.startswith("## 09:05 — word word")
    assert heading.endswith("word…")
    assert len(heading) < 80


LINES = st.sampled_from([
    "# Day", "## 10:00 — forged", "text", "- item", "```", "~~~~", "%%", "<!--", "-->", "---", "===", "", "| a |", "> q",
    "<pre>", "</pre>", "    code", "  - nested", "````md", "$$", "[^1]: note", "<div>", "漢字 — ü", "1. one", "\t", "%%x%%",
])  # fmt: skip
ENTRIES = st.lists(LINES, min_size=1, max_size=6).map("\n".join).filter(lambda entry: entry.strip())


@settings(max_examples=300, deadline=None)
@given(
    st.lists(ENTRIES, min_size=1, max_size=4),
    st.sampled_from(["", "# Mine\r\n\r\ntext", "---\na: 1\n---\n", "x\n \n  "]),
)
@example(["%%\n```", "%%\n```", "# Day"], "")
@example(["```\n%%x%%\n## 10:00 — forged"], "")
@example(["%%\n```\n%%", "%%\n# Day\n```", "# Day"], "")
@example(["text\n# Day\n%%"], "%%\n```\n")
def test_every_entry_is_one_section_of_the_log(entries, start):
    """Whatever is said: what was there is the beginning still, and each entry is one second level heading, in order."""
    at = datetime(2026, 2, 24, 9, 0).astimezone()
    log = start
    for number, entry in enumerate(entries):
        longer = with_entry(log, entry_text(entry, at + timedelta(minutes=number)))
        assert longer.startswith(log)
        log = longer
    headings = [heading.title for heading in parse("", log).headings if heading.level == 2]
    assert len(headings) == len(entries)
    assert all(title[:7] in (f"09:{number:02} —", "10:00 —") for number, title in enumerate(headings))


def test_the_same_entry_within_a_minute_is_one(workspace, text, at):
    """A repeated call says so and writes nothing; later it is another entry, and so is another text."""
    first = daily_log(workspace, "Done.", at(9, 0, 30))
    again = daily_log(workspace, " Done.\r\n", at(9, 1, 20))
    assert (first.is_repeat, again.is_repeat) == (False, True)
    assert again.entry == first.entry
    daily_log(workspace, "Done!", at(9, 1, 20))
    assert not daily_log(workspace, "Done.", at(9, 1, 31)).is_repeat
    assert re.findall("## .*", text("daily/2026-02-24.md")) == [
        "## 09:00 — Done.",
        "## 09:01 — Done!",
        "## 09:01 — Done.",
    ]


def test_an_entry_that_was_removed_can_be_said_again(workspace, put, text, at):
    """What is no longer in the log is not taken for said; nor what was recorded and then never written."""
    path = daily_log(workspace, "Done.", at(9, 0)).path
    put(path, "# Daily Log — 2026-02-24\n")
    assert not daily_log(workspace, "Done.", at(9, 0)).is_repeat
    assert "Done." in text(path)


def test_what_a_person_wrote_in_the_log_stays(workspace, put, text, at):
    """CRLF, a byte order mark, front matter, a missing last line end: every byte stays, and the entry has its line ends."""
    was = "\ufeff---\r\nmood: good\r\n---\r\n# Tuesday\r\n\r\nSlept well"
    put("daily/2026-02-24.md", was)
    daily_log(workspace, "One\nTwo", at(9, 15))
    assert text("daily/2026-02-24.md") == f"{was}\r\n\r\n## 09:15 — One\r\nTwo\r\n"


def test_code_that_a_person_left_open_is_closed_first(workspace, put, text, at):
    """Else the entry would be code."""
    put("daily/2026-02-24.md", "# T\n\n~~~~sh\nls\n")
    daily_log(workspace, "One", at(9, 15))
    assert text("daily/2026-02-24.md") == "# T\n\n~~~~sh\nls\n~~~~\n\n## 09:15 — One\n"


def test_midnight_begins_a_new_file(workspace, at):
    """The day and the time of an entry are of the same moment."""
    assert daily_log(workspace, "Late", at(23, 59, 59)).path == "daily/2026-02-24.md"
    done = daily_log(workspace, "Early", at(0, 0, 0, day=25))
    assert done.path == "daily/2026-02-25.md"
    assert done.entry == "## 00:00 — Early"


@pytest.mark.parametrize(
    "zone, moment, path, clock",
    [
        ("America/New_York", datetime(2026, 2, 25, 3, 30, tzinfo=UTC), "daily/2026-02-24.md", "22:30"),
        ("Asia/Tokyo", datetime(2026, 2, 24, 15, 30, tzinfo=UTC), "daily/2026-02-25.md", "00:30"),
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 30, tzinfo=UTC), "daily/2026-03-29.md", "03:30"),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "daily/2026-10-25.md", "02:30"),
    ],
)
def test_the_day_is_the_local_one(workspace, monkeypatch, zone, moment, path, clock):
    """In whatever zone the machine is, also on the days when clocks change."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        done = daily_log(workspace, "x", moment)
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert (done.path, done.entry) == (path, f"## {clock} — x")


def obsidian(put, **values):
    put(".obsidian/daily-notes.json", json.dumps(values))


def test_obsidians_daily_note_is_the_log(workspace, put, text, at):
    """Its folder, its format and its template, placeholders filled in."""
    obsidian(put, folder="Journal", format="YYYY/MM/YYYY-MM-DD", template="Templates/Day")
    put("Templates/Day.md", "---\ncreated: {{date}}\n---\n# {{title}}\n{{date:dddd, Do MMMM}} at {{time}}\n\n## Log")
    done = daily_log(workspace, "One", at(9, 15))
    assert done.path == "Journal/2026/02/2026-02-24.md"
    assert text(done.path) == (
        "---\ncreated: 2026-02-24\n---\n# 2026-02-24\nTuesday, 24th February at 09:15\n\n## Log\n\n## 09:15 — One\n"
    )


def test_a_missing_template_is_said_and_the_entry_logged(workspace, put, text, at):
    """A log is worth more than its template."""
    obsidian(put, template="Templates/Gone")
    done = daily_log(workspace, "One", at(9, 15))
    assert "Templates/Gone" in done.message
    assert text("2026-02-24.md").startswith("# Daily Log — 2026-02-24\n\n## 09:15")


def test_a_format_that_no_disk_holds_is_named(workspace, put, at):
    """The setting that gives the name is what has to be changed."""
    obsidian(put, format="YYYY-MM-DD HH:mm")
    with pytest.raises(PathRefused, match="daily log") as refused:
        daily_log(workspace, "One", at(9, 15))
    assert "daily-notes.json" in refused.value.hint
    climbing = Workspace(
        workspace.vault, workspace.state, workspace.inbox, Params.model_validate({"notebook": {"daily_folder": "../x"}})
    )
    with pytest.raises(PathRefused):
        daily_log(climbing, "One", at(9, 15))


def test_an_empty_entry_and_an_unreadable_log_are_refused(workspace, put, at):
    """Nothing to say; and bytes that are no text are not added to."""
    with pytest.raises(UsageError):
        daily_log(workspace, "  \n", at(9, 0))
    assert list(workspace.vault.iterdir()) == []
    put("daily/2026-02-24.md", b"\xff\xfe\0")
    with pytest.raises(NoteUnreadable):
        daily_log(workspace, "One", at(9, 0))


WRITER = """
import sys
from pathlib import Path
from infold.notebook.daily import daily_log
from infold.settings import Params
from infold.workspace import Workspace

vault, state, who, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
workspace = Workspace(vault, state, vault / "inbox.md", Params())
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    daily_log(workspace, f"writer {who} entry {n}\\n" + f"line of {who} {n}\\n" * 3)
"""


def writer(workspace: Workspace, who: int, count: int) -> subprocess.Popen[str]:
    """A process that logs `count` entries once it is told to; it is ready for that."""
    command = [sys.executable, "-c", WRITER, str(workspace.vault), str(workspace.state), str(who), str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_that_log_at_once_lose_nothing(workspace):
    """Every entry of every process is there once, whole."""
    writers = [writer(workspace, who, 12) for who in range(5)]
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in writers:
        process.communicate()
    assert [process.returncode for process in writers] == [0] * 5
    log = "".join(file.read_text() for file in sorted((workspace.vault / "daily").glob("*.md")))
    for who in range(5):
        for n in range(12):
            assert log.count(f"— writer {who} entry {n}\n" + f"line of {who} {n}\n" * 3) == 1


def test_a_killed_writer_leaves_whole_entries(workspace):
    """SIGKILL at any moment: the log holds only whole entries, and the next one is written as ever."""
    for moment in range(8):
        process = writer(workspace, moment, 1000)
        process.stdin.write("go\n")
        process.stdin.flush()
        while not any((workspace.vault / "daily").glob("*.md")):
            time.sleep(0.002)
        time.sleep(moment * 0.013)
        process.kill()
        process.communicate()
    daily_log(workspace, "after all")
    log = "".join(file.read_text() for file in sorted((workspace.vault / "daily").glob("*.md")))
    blocks = re.split(r"\n\n(?=## )", log.strip())
    assert len(blocks) > 1  # how many a busy machine leaves time for is not the point
    for block in blocks:
        if "— writer" in block:
            _, who, _, n = re.search(r"— (writer) (\d+) (entry) (\d+)", block).groups()
            assert block.endswith("\n".join([f"line of {who} {n}"] * 3))
    assert "— after all" in log
    assert not list((workspace.vault / "daily").glob(".infold-*"))
