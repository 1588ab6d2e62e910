"""Names of daily notes: moment's tokens both ways, and which setting counts."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.settings import NotebookParams
from infold.vault.daily_notes import DailyNotes, daily_notes
from infold.vault.moment import day_in, written

AT = datetime(2026, 2, 3, 9, 5, 7)  # noqa: DTZ001 - a wall clock


@pytest.mark.parametrize(
    "pattern, text",
    [
        ("YYYY-MM-DD", "2026-02-03"),
        ("YYYY/MM/YYYY-MM-DD", "2026/02/2026-02-03"),
        ("YYYY/MMMM/dddd, Do MMMM YYYY", "2026/February/Tuesday, 3rd February 2026"),
        ("ddd D MMM YY", "Tue 3 Feb 26"),
        ("GGGG-[W]WW-E", "2026-W06-2"),
        ("[Log of] YYYY.M.D", "Log of 2026.2.3"),
        ("YYYY-DDDD", "2026-034"),
        ("gggg-[w]ww YYYY-MM-DD", "2026-w06 2026-02-03"),
        ("YYYY-MM-DD HHmmss", "2026-02-03 090507"),
    ],
)
def test_a_format_is_written_and_read_back(pattern, text):
    """Obsidian's formats give the names Obsidian gives, and the names give their day."""
    assert written(AT, pattern) == text
    assert day_in(text, pattern) == AT.date()


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("2026-02-30", "YYYY-MM-DD"),
        ("2026-02-03 trip", "YYYY-MM-DD"),
        ("2025/02/2026-02-03", "YYYY/MM/YYYY-MM-DD"),
        ("Monday 2026-02-03", "dddd YYYY-MM-DD"),
        ("02-03", "MM-DD"),
        ("2026-W54-1", "GGGG-[W]WW-E"),
    ],
)
def test_what_is_no_such_day_is_none(text, pattern):
    """A date that does not exist, says two different things or names no year is not a day."""
    assert day_in(text, pattern) is None


@given(
    st.dates(date(1990, 1, 1), date(2060, 12, 31)),
    st.sampled_from(["YYYY-MM-DD", "D.M.YYYY", "YYYY-[W]WW/dddd Do MMMM", "GGGG-[W]W-dddd", "YYYY DDD"]),
)
def test_every_day_is_found_again(day, pattern):
    """Whatever the day: what is written is read as that day."""
    assert day_in(written(datetime.combine(day, datetime.min.time()), pattern), pattern) == day


def test_weeks_that_begin_on_sunday_are_moments():
    """The first week is the one with 1 January, and Sunday begins the next: 2025-12-28 is in week 1 of 2026."""
    days = [datetime(2025, 12, 27), datetime(2025, 12, 28), datetime(2026, 1, 3), datetime(2026, 1, 4)]  # noqa: DTZ001
    assert [written(day, "gggg ww") for day in days] == ["2025 52", "2026 01", "2026 01", "2026 02"]


def obsidian(root, **settings):
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "daily-notes.json").write_text(json.dumps(settings))


def test_without_any_setting_the_log_is_in_daily(tmp_path):
    """The specification's own place: daily/YYYY-MM-DD.md."""
    assert daily_notes(tmp_path, NotebookParams()).path(AT) == "daily/2026-02-03.md"


def test_obsidians_setting_counts(tmp_path):
    """Folder, format and template are those of the daily-notes plugin."""
    obsidian(tmp_path, folder="Journal/", format="YYYY/MM/YYYY-MM-DD", template="Templates/Day")
    found = daily_notes(tmp_path, NotebookParams())
    assert found.path(AT) == "Journal/2026/02/2026-02-03.md"
    assert found.template == "Templates/Day"
    assert found.day("Journal/2026/02/2026-02-03.md") == AT.date()
    assert found.day("2026/02/2026-02-03.md") is None


def test_an_obsidian_setting_without_folder_means_the_vault(tmp_path):
    """Obsidian then puts daily notes beside the others."""
    obsidian(tmp_path, autorun=False)
    assert daily_notes(tmp_path, NotebookParams()).path(AT) == "2026-02-03.md"


def test_params_win_part_by_part(tmp_path):
    """A folder of infold's own goes with Obsidian's format."""
    obsidian(tmp_path, folder="Journal", format="YYYY.MM.DD")
    assert daily_notes(tmp_path, NotebookParams(daily_folder="log")).path(AT) == "log/2026.02.03.md"


@pytest.mark.parametrize("content", ["{", "[1]", '{"folder": 3}'])
def test_a_broken_setting_still_gives_a_log(tmp_path, content):
    """What cannot be read is as good as absent."""
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "daily-notes.json").write_text(content)
    assert daily_notes(tmp_path, NotebookParams()).path(AT).endswith("2026-02-03.md")


def test_the_day_of_a_path_minds_the_folder():
    """A note of that name elsewhere is no daily note."""
    notes = DailyNotes()
    assert notes.day("daily/2026-02-03.md") == AT.date()
    assert notes.day("daily/2026-02-03.markdown") == AT.date()
    assert notes.day("other/2026-02-03.md") is None
    assert notes.day(notes.path(AT + timedelta(days=1))) == date(2026, 2, 4)
