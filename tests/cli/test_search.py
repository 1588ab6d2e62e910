"""`infold search` and `infold get` as a person and a program use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from infold.cli.days import read_day
from infold.cli.found import Paint, lines_of, place_of
from infold.errors import UsageError
from infold.search.query.results import Result, SearchResult, grouped
from tests.search.spec_notebook import write_notebook


@pytest.fixture(scope="module")
def notebook(tmp_path_factory) -> tuple[Path, Path]:
    """The notebook of spec 3 and its state, indexed by the first search of it."""
    root = tmp_path_factory.mktemp("cli")
    return write_notebook(root / "vault"), root / "state"


@pytest.fixture
def ask(infold, notebook):
    """Calls a command on the notebook."""
    vault, state = notebook
    return lambda command, *words: infold(command, *words, "--vault", vault, "--state", state)


def test_a_page_for_people(ask):
    """Groups, places that `infold get` takes, headings, scores, snippets; plain in a pipe."""
    done = ask("search", "sarah", "phone")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("notebook (")
    assert lines[1].startswith("  reference/contacts.md:3-7  ")
    assert lines[2] == "    ## Sarah Chen"
    assert "Phone: 555-1234" in lines[3]
    assert any(line.startswith("daily (") for line in lines)
    assert any("daily/2026-02-20.md" in line and "2026-02-20" in line.split("  ")[-1] for line in lines)
    assert "\x1b" not in done.stdout
    shown = ask("get", lines[1].split()[0])
    assert shown.stdout.startswith("## Sarah Chen\n- Phone: 555-1234\n")


def test_json_is_one_object(ask):
    """The shape of spec 3 on stdout, and nothing else."""
    data = json.loads(ask("search", "sarah phone", "--json", "--explain").stdout)
    assert data["results"]["notebook"][0]["filePath"] == "reference/contacts.md"
    assert data["results"]["notebook"][0]["explain"]["legs"]
    assert data["results"]["sessions"] == []


def test_nothing_found_is_no_failure(ask):
    """What was searched and one thing to try, on stderr; nothing on stdout; exit code 0."""
    done = ask("search", "xqzt", "--path", "lists")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Nothing found for 'xqzt' in the vault under lists; " in done.stderr
    assert "passages searched" in done.stderr


@pytest.mark.parametrize(
    "words, paths",
    [
        (["sarah", "--source", "daily", "--since", "2026-02-21"], {"daily/2026-02-24.md"}),
        (["sarah", "--source", "daily,sessions", "--until", "2026-02-20"], {"daily/2026-02-20.md"}),
        (["parser", "--tag", "work"], {"knowledge/code.md"}),
        (["sarah", "--path", "reference/"], {"reference/contacts.md"}),
        (["sarah phone", "-n", "1"], {"reference/contacts.md"}),
        (['"project timeline"'], {"daily/2026-02-24.md", "daily/2026-02-20.md"}),
        (["sarah", "--min-score", "1"], {"reference/contacts.md"}),
    ],
)
def test_options_narrow_a_search(ask, words, paths):
    """Each option does what its help says."""
    data = json.loads(ask("search", *words, "--json").stdout)
    found = {result["filePath"] for group in data["results"].values() for result in group}
    assert found
    assert found <= paths


def test_a_search_without_filters_is_told_of_none(ask):
    """Nor does it look where nobody asked: text from outside and nodes of notes come where they are named."""
    done = ask("search", "zzyzx qwrty")
    assert "in the vault;" in done.stderr
    assert "filters" not in done.stderr


def test_an_unknown_source_names_the_valid_ones(ask):
    """Wrong use, with the way out."""
    done = ask("search", "sarah", "--source", "notes")
    assert done.exit_code == 2
    assert "notebook, daily, sessions, memory, external" in done.stderr


def test_a_day_that_is_none_is_wrong_use(ask):
    """Named with its option."""
    done = ask("search", "sarah", "--since", "next week")
    assert done.exit_code == 2
    assert "--since" in done.stderr


@pytest.mark.parametrize(
    "written, days", [("today", 0), ("Yesterday", 1), ("7d", 7), ("2w", 14), ("1m", 30), ("1y", 365), (" 3 d ", 3)]
)
def test_days_are_counted_back(written, days):
    """As people say them."""
    assert read_day(written, "--since") == (date.today() - timedelta(days=days)).isoformat()  # noqa: DTZ011


@pytest.mark.parametrize("written", ["", "d", "2026-02-30", "99999y", "tomorrow", "7 days"])
def test_what_is_no_day_is_refused(written):
    """Never taken for some other day."""
    with pytest.raises(UsageError, match="--until"):
        read_day(written, "--until")


def test_get_of_a_missing_note_is_empty(ask):
    """Exit code 0, nothing on stdout, names that come near on stderr; with JSON an empty text."""
    done = ask("get", "contcats")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "reference/contacts.md" in done.stderr
    data = json.loads(ask("get", "contcats", "--json").stdout)
    assert (data["path"], data["text"], data["lines"], data["total"]) == (None, "", 0, 0)
    assert data["near"] == ["reference/contacts.md"]
    assert "Near it: reference/contacts.md" in data["hint"]


@pytest.mark.parametrize(
    "asked, hint",
    [("reference", "is a folder"), ("zzzzqqqq", "`infold search`"), ("contacts:500", "has 11 lines; there is no line")],
)
def test_get_says_why_there_is_nothing(ask, asked, hint):
    """A folder, a name that nothing comes near to, a line past the end: each with its own hint, and no error."""
    done = ask("get", asked)
    assert (done.exit_code, done.stdout) == (0, "")
    assert hint in done.stderr


def test_get_as_json(ask):
    """Path, text, and which lines of how many."""
    data = json.loads(ask("get", "contacts:3:2", "--json").stdout)
    assert len(data.pop("hash")) == 64
    assert data == {
        "path": "reference/contacts.md",
        "text": "## Sarah Chen\n- Phone: 555-1234\n",
        "start": 3,
        "lines": 2,
        "total": 11,
        "near": [],
        "hint": "",
        "trust": "vault",
    }


def test_a_search_that_finds_little_says_which_notes_it_could_not_search(infold, tmp_path):
    """Else "nothing found" would be taken to mean that it is not there; `infold index` names the notes."""
    vault, where = tmp_path / "vault", ("--vault", tmp_path / "vault", "--state", tmp_path / "state")
    vault.mkdir()
    (vault / "plain.md").write_text("Peas climb a trellis.\n")
    (vault / "latin.md").write_bytes("Gurken und Kürbisse.\n".encode("latin-1"))
    why = "too big, not UTF-8, out of reach, or named as another but for case or Unicode form"
    one = f"A note is not searched ({why}); `infold index` names them."
    for _ in range(2):  # also where nothing changed since
        assert one in infold("search", "Kürbisse", *where).stderr
    (vault / "big.md").write_text("pumpkin " * 1000)
    done = infold("search", "pumpkin", *where, "--set", "vault.max_note_bytes=2000")
    assert "2 notes are not searched" in done.stderr
    assert "Nothing found for 'pumpkin' in the vault; 1 passage searched." in done.stderr
    named = " ".join(infold("index", *where, "--set", "vault.max_note_bytes=2000").stderr.split())
    assert "big.md" in named
    assert "latin.md" in named
    (vault / "latin.md").unlink()
    for name in ("Stra\u00dfe.md", "STRASSE.md"):  # which one a link means cannot be told, so neither is a note
        (vault / name).write_text("Marrows climb too.\n")
    assert f"2 notes are not searched ({why})" in infold("search", "marrows", *where).stderr
    for name in ("Stra\u00dfe.md", "STRASSE.md"):
        (vault / name).unlink()
    assert "not searched" not in infold("search", "pumpkin", *where).stderr


@pytest.mark.parametrize(
    "filters, words",
    [
        ((), "in the vault; "),
        (("--source", "daily", "--path", "daily"), "in daily under daily; "),
        (
            ("--tag", "home", "--since", "2026-01-02", "--until", "2026-02-03"),
            "in the vault tagged home since 2026-01-02 until 2026-02-03; ",
        ),
    ],
)
def test_where_nothing_was_found_is_said_in_the_words_of_the_filters(ask, filters, words):
    """Nobody is told "everything" of what was filtered."""
    assert f"Nothing found for 'xqzt' {words}" in ask("search", "xqzt", *filters).stderr


def test_what_the_files_no_longer_say_is_explained(infold, tmp_path):
    """It says what happened and what to do."""
    vault, where = tmp_path / "vault", ("--vault", tmp_path / "vault", "--state", tmp_path / "state")
    vault.mkdir()
    (vault / "plain.md").write_text("Peas climb a trellis.\n")
    infold("index", *where)
    (vault / "plain.md").write_text("Beans.\n")
    told = infold("search", "trellis", "--no-sync", *where).stderr
    assert "1 place is left out: the files have changed since they were indexed" in told
    assert "`infold index` brings the index up to date" in told


def test_get_refuses_what_is_not_in_the_vault(ask):
    """With the path, and no text."""
    done = ask("get", "../outside.md")
    assert done.exit_code == 2
    assert "not a path within the vault" in done.stderr
    assert "zebra" not in done.output


def a_result(**changes) -> Result:
    plain = {
        "path": "a.md",
        "start_line": 1,
        "end_line": 2,
        "heading": "# A",
        "trail": ("A",),
        "title": "A",
        "group": "notebook",
        "score": 0.5,
        "snippet": "one two\n\nthree",
        "marks": ((4, 7),),
    }
    return Result(**{**plain, **changes})


def answer(result: Result) -> SearchResult:
    return SearchResult("two", grouped([result]))


def test_colours_set_off_the_match():
    """On a terminal the match is seen; without colours the same text is left."""
    plain = "\n".join(lines_of(answer(a_result()), Paint(is_on=False)))
    bright = "\n".join(lines_of(answer(a_result()), Paint(is_on=True)))
    assert "one two three" in plain
    assert "\x1b[1;33mtwo\x1b[0m" in bright
    (one_line,) = answer(a_result(end_line=1)).groups["notebook"]
    assert place_of(one_line) == "a.md:1"


def test_control_codes_of_notes_do_not_reach_the_terminal():
    """A note cannot colour, move or reverse what a person sees, nor pass for vault text when it is from outside."""
    result = a_result(
        snippet="\x1b[31mred \u202eesrever", marks=(), heading="# \x07A", path="a\x1b.md", trust="external"
    )
    page = "\n".join(lines_of(answer(result), Paint(is_on=False)))
    assert not set(page) & {"\x1b", "\x07", "\u202e"}
    assert "from external" in page


HEAVY = [
    "pydantic_settings",
    "polars",
    "pyarrow",
    "rich.console",
    "openai",
    "qdrant_client",
    "prefect",
    "asyncio",
    "pyromark",  # the parser of notes
]


def loaded_by_a_search(vault: Path, state: Path) -> tuple[list[str], list[str]]:
    """What a search in a process of its own has loaded of the above when it prints, and at its end."""
    code = (
        "import json, sys; from infold.cli.app import app\n"
        f"sys.argv = ['infold', 'search', 'sarah', '--vault', {str(vault)!r}, '--state', {str(state)!r}]\n"
        f"def loaded(): return [name for name in {HEAVY} if name in sys.modules]\n"
        "write, seen = sys.stdout.write, []\n"
        "class Out:\n"
        "    def __getattr__(self, name): return getattr(sys.__stdout__, name)\n"
        "    def write(self, text): seen.append(loaded()); return write(text)\n"
        "sys.stdout = Out()\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(json.dumps([seen[0], loaded()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "contacts.md" in done.stdout
    printing, ending = json.loads(done.stderr.splitlines()[-1])
    return printing, ending


def test_a_search_loads_no_library_that_it_does_not_need(ask, notebook):
    """What takes long to load stays out of a search of an unchanged vault with all its vectors, from start to end.

    Also where its files are so new that their bytes are compared.
    """
    vault, state = notebook
    ask("index")
    assert loaded_by_a_search(vault, state) == ([], [])
    for note in vault.rglob("*.md"):
        os.utime(note)
    assert loaded_by_a_search(vault, state) == ([], [])


def test_an_answer_is_printed_before_anything_is_loaded_for_missing_vectors(notebook, tmp_path):
    """Vectors are filled in after the answer; only then may it cost what computing them takes."""
    from infold.search.embed.static_embedder import StaticEmbedder
    from infold.search.index.sync import sync_index
    from infold.settings import Params
    from infold.workspace import Workspace

    vault, state = notebook[0], tmp_path / "state"
    space = Workspace(vault, state, vault / "inbox.md", Params())
    sync_index(vault, space.index, space.embeddings, space.params, StaticEmbedder(), vectors=False)
    assert loaded_by_a_search(vault, state)[0] == []
