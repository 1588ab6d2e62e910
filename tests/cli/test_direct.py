"""The short way of a search, where no resident is, and of `index`: the same answers, and nothing heavy loaded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infold.cli import direct
from infold.errors import VaultNotFound
from infold.settings import Params, load_params
from infold.settings_record import UnknownSettings, keep_settings, kept_settings
from tests.search.spec_notebook import write_notebook

TIMING = re.compile(r'"timing": \{[^}]*\}')


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> tuple[Path, Path]:
    """The notebook of spec 3 and its state."""
    root = tmp_path_factory.mktemp("direct")
    return write_notebook(root / "vault"), root / "state"


@pytest.fixture
def where(place, infold) -> tuple[str, ...]:
    """The options that name it; it was searched before."""
    options = ("--vault", str(place[0]), "--state", str(place[1]))
    assert infold("search", "sarah", *options).exit_code == 0
    return options


@pytest.mark.parametrize(
    "words",
    [
        ["sarah", "phone"],
        ["sarah phone", "--json"],
        ["--json", "--explain", "sarah"],
        ["sarah", "--explain", "-n", "2"],
        ["-n2", "sarah", "--source=daily", "--since", "2026-02-21"],
        ["sarah", "--source", "daily,sessions", "--until=2026-02-20", "--limit", "3", "-n1"],
        ["parser", "--tag", "work", "--path", "knowledge", "--path=lists"],
        ['"project timeline"', "--min-score", "0"],
        ["sarah", "--min-score=0.5", "--quiet", "-q"],
        ["xqzt", "--path", "lists"],
        ["sarha"],
        ["sarah", "--no-sync", "--json"],
        ["--", "--json"],
        ["-"],
        ["?!"],
        [""],
    ],
)
def test_it_says_what_the_program_says(infold, where, words, capsys):
    """Text, JSON, notices and exit code, but for how long it took."""
    whole = infold("search", *where, *words)
    capsys.readouterr()
    assert direct.answered(["search", *where, *words]) == whole.exit_code == 0
    said = capsys.readouterr()
    assert TIMING.sub("", said.out) == TIMING.sub("", whole.stdout)
    assert said.err == whole.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["sarah", "--help"],
        ["sarah", "--nothing"],
        ["sarah", "-n", "0"],
        ["sarah", "--limit", "many"],
        ["sarah", "--limit", "-1"],
        ["sarah", "-n", "1_0"],
        ["sarah", "--min-score", "2"],
        ["sarah", "--min-score", "nan"],
        ["sarah", "--since", "someday"],
        ["sarah", "--source", "moon"],
        ["sarah", "--set", "search.max_results=1"],
        ["sarah", "--debug"],
        ["- sarah"],
        ["sarah", "--path"],
        ["sarah", "--json=yes"],
        ["sarah", "--params", "nowhere.yaml"],
        ["sarah", "--vault", "nowhere"],
    ],
)
def test_the_rest_is_left_to_the_program(where, words, capsys):
    """Wrong use, help, single settings, what is not there: there is one way in which these are said."""
    assert direct.answered(["search", *where, *words]) is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "failure", [VaultNotFound("gone"), PermissionError("no"), ValueError("bad"), RuntimeError("~x")]
)
def test_every_failure_is_left_to_the_program_and_told_by_it(where, infold, monkeypatch, capsys, failure):
    """The short way gives up without a word, and the whole program says what it was; a defect is hidden by neither."""

    def fails(*_args, **_more):
        raise failure

    for module in ("infold.cli.direct", "infold.cli.options"):
        monkeypatch.setattr(f"{module}.locate_workspace", fails)
    assert direct.answered(["search", *where, "sarah"]) is None
    assert capsys.readouterr() == ("", "")
    told = infold("search", "sarah", *where)
    assert told.exit_code != 0
    assert str(failure) in told.stderr
    monkeypatch.setattr("infold.cli.direct.locate_workspace", lambda *_args, **_more: os.environ["NO_SUCH_NAME"])
    with pytest.raises(KeyError):
        direct.answered(["search", *where, "sarah"])


def test_what_reads_command_lines_and_checks_settings_is_not_loaded(where):
    """Nor YAML, nor numpy, nor what starts other processes."""
    words = ["infold", "search", "sarah", "phone", *where]
    code = (
        f"import os, sys; sys.argv = {words!r}; os._exit = sys.exit\nfrom infold.cli.start import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules, file=sys.stderr)"
    )
    surroundings = {**os.environ, "INFOLD_RESIDENT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, env=surroundings
    )
    assert "reference/contacts.md:3-7" in done.stdout
    ended, *modules = done.stderr.split()
    assert ended == "0"
    heavy = {"typer", "click", "pydantic", "yaml", "rich", "numpy", "pyarrow", "filelock", "asyncio"}
    assert heavy & set(modules) == set()


def test_a_search_that_left_the_index_open_lost_nothing_of_it(tmp_path):
    """What it embedded once it had answered is there for the next process, though nothing was closed."""
    vault, state = write_notebook(tmp_path / "vault"), tmp_path / "state"
    options = ("--vault", str(vault), "--state", str(state))
    surroundings = {**os.environ, "INFOLD_RESIDENT": "0"}

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "infold", *words, *options]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=surroundings).stdout

    said("index")
    (vault / "echidna.md").write_text("An echidna digs for ants at dusk.\n")
    bests = [
        json.loads(said("search", "echidna ants", "--json", "--explain"))["results"]["notebook"][0] for _ in range(3)
    ]
    legs = [{leg["leg"] for leg in best["explain"]["legs"]} for best in bests]
    assert {best["filePath"] for best in bests} == {"echidna.md"}
    assert ["dense" in each for each in legs] == [False, True, True]
    assert bests[1] == bests[2]
    assert "0 added, 0 changed" in said("index")
    assert "0 embeddings computed" in said("index")


SECONDS = re.compile(r"[0-9.]+ s\.")


def test_index_says_what_the_program_says(infold, where, place, capsys):
    """What changed, what was passed over, and that nothing changed; the exit code too."""
    for text in ("An echidna digs.", "An echidna digs deep."):
        (place[0] / "echidna.md").write_text(text)
        (place[0] / "broken.md").write_bytes(b"\xff")
        assert direct.answered(["index", *where]) == 0
        said = capsys.readouterr()
        assert ("1 added, 0 changed" if text.endswith("digs.") else "0 added, 1 changed") in said.out
        assert "! skipped broken.md" in said.err
        whole = infold("index", *where)
        assert direct.answered(["index", "--quiet", *where]) == whole.exit_code == 0
        again = capsys.readouterr()
        assert SECONDS.sub("", again.out) == SECONDS.sub("", whole.stdout)
        assert again.err == whole.stderr
    (place[0] / "echidna.md").unlink()
    (place[0] / "broken.md").unlink()


@pytest.mark.parametrize(
    "words",
    [
        ["--json"],
        ["--yes"],
        ["--help"],
        ["all"],
        ["--set"],
        ["--set", "search.max_results=none"],
        ["--set", "librarian.kind=model"],
        ["--vault"],
        ["--vault", "nowhere"],
        ["--vault", "--set", "search.embedding=none"],
    ],
)
def test_any_other_index_is_left_to_the_program(where, words, capsys):
    """JSON, questions that may be asked, wrong use."""
    assert direct.answered(["index", *where, *words]) is None
    assert capsys.readouterr() == ("", "")


def test_a_first_index_checks_its_settings_and_keeps_them(tmp_path, capsys):
    """Those of a file that nobody has checked yet, and with `--set` on top, for that call alone; wrong ones do not."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "quoll.md").write_text("A quoll climbs.\n")
    file, state = tmp_path / "params.yaml", tmp_path / "state"
    words = ["index", "--vault", str(tmp_path / "vault"), "--state", str(state), "--params", str(file)]
    file.write_text("search:\n  max_results: none\n")
    assert direct.answered(words) is None
    assert not state.exists()
    file.write_text("search:\n  max_results: 3\n")
    assert direct.answered([*words, "--set", "search.embedding=none"]) == 0
    assert "1 passage indexed; 0 embeddings computed" in capsys.readouterr().out
    kept = kept_settings(state, file).search
    assert (kept.max_results, kept.embedding) == (3, "auto")
    assert direct.answered(words) == 0
    assert "1 embeddings computed" in capsys.readouterr().out


def test_an_index_with_a_model_is_left_to_the_program(where, place, infold):
    """What may cost money is asked for by nobody who cannot be answered."""
    (place[1] / "params.yaml").write_text("librarian:\n  kind: model\n  model: some\n")
    infold("search", "sarah", *where)
    assert direct.answered(["index", *where]) is None
    (place[1] / "params.yaml").unlink()
    infold("search", "sarah", *where)


def test_an_index_that_was_stopped_says_how_far_it_is(where, monkeypatch, capsys):
    """As the whole program does, with its exit code."""

    def stopped(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("infold.app.OpenVault.sync", stopped)
    assert direct.answered(["index", *where]) == 130
    assert "can be searched" in capsys.readouterr().err


def test_an_index_that_fails_says_why(where, monkeypatch, capsys):
    """In the words and with the exit code of the whole program; nothing is tried twice. A defect shows as one."""
    for failure in (VaultNotFound("gone"), RuntimeError("broken")):
        tried: list[Exception] = []

        def fails(*_args, failure=failure, tried=tried, **_more):
            tried.append(failure)
            raise failure

        monkeypatch.setattr("infold.app.OpenVault.sync", fails)
        if isinstance(failure, VaultNotFound):
            assert direct.answered(["index", *where]) == failure.exit_code
            assert "gone" in capsys.readouterr().err
        else:
            with pytest.raises(RuntimeError):
                direct.answered(["index", *where])
        assert len(tried) == 1


def test_an_index_of_little_loads_little(tmp_path, infold):
    """Nothing changed: as for a search. One note changed: nor numpy, though it has vectors."""
    (tmp_path / "vault").mkdir()
    for n in range(40):  # so many that the tokens of a few are known without the tokenizer
        (tmp_path / "vault" / f"quoll {n}.md").write_text(f"A quoll climbs {n}.\n")
    where = ("--vault", str(tmp_path / "vault"), "--state", str(tmp_path / "state"))
    for _ in range(2):
        assert infold("index", *where).exit_code == 0
    light = {"numpy", "typer", "click", "pydantic", "rich", "pyarrow", "asyncio", "concurrent", "multiprocessing"}
    for heavy in ({"yaml", *light}, light):
        code = (
            f"import os, sys; sys.argv = {['infold', 'index', *where]!r}; os._exit = sys.exit\n"
            "from infold.cli.start import main\n"
            "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
        ended, *modules = done.stderr.split()
        assert ended == "0"
        assert heavy & set(modules) == set()
        (tmp_path / "vault" / "bilby.md").write_text("A bilby digs.\n")


def test_it_logs_what_it_did_and_not_what_was_asked(where, place):
    """As every command: the names of options, how it ended; no word of the question, no value."""
    assert direct.answered(["search", "sarah", "--path", "reference", *where]) == 0
    *_, begun, ended = [line for line in (place[1] / "infold.log").read_text().splitlines() if "short way" in line]
    assert "with --path, --vault, --state" in begun
    assert "exit code 0" in ended
    assert "sarah" not in begun
    assert "reference" not in begun


def test_a_note_changed_just_before_is_found(where, place, capsys):
    """As every search does, it looks at the notes as they are now."""
    (place[0] / "quokka.md").write_text("# Quokka\n\nA quokka smiles.\n")
    assert direct.answered(["search", "quokka", *where]) == 0
    assert "quokka.md" in capsys.readouterr().out
    (place[0] / "quokka.md").unlink()
    assert direct.answered(["search", "quokka", *where]) == 0
    assert "Nothing found" in capsys.readouterr().err


def test_settings_that_changed_count_at_once(where, place, infold, capsys):
    """New, written over with the same size and time, wrong, gone: it answers by none but the settings as they are."""
    file = place[1] / "params.yaml"
    words = ["search", "sarah", *where]
    for most in (1, 2):
        file.write_text(f"search:\n  max_results: {most}\n")
        os.utime(file, (1, 1))
        assert direct.answered(words) is None
        whole = infold(*words, "--json")
        assert direct.answered([*words, "--json"]) == 0
        assert TIMING.sub("", capsys.readouterr().out).endswith(TIMING.sub("", whole.stdout))
        found = json.loads(whole.stdout)["results"].values()
        assert sum(1 + len(each["more"]) for group in found for each in group) == most
    file.write_text("search:\n  max_results: none\n")
    assert direct.answered(words) is None
    file.unlink()
    assert direct.answered(words) is None
    assert infold(*words).exit_code == 0
    assert direct.answered(words) == 0


def test_another_inbox_is_no_note_at_once(where, place, capsys):
    """Which notes have a usual name is looked for by each search, not kept."""
    (place[0] / "Inbox.md").write_text("A numbat eats termites.\n")
    assert direct.answered(["search", "numbat", *where]) == 0
    assert "Nothing found" in capsys.readouterr().err
    (place[0] / "Inbox.md").unlink()


def test_what_is_kept_is_what_was_checked(tmp_path):
    """Every section and value, with what was given; nothing for another file, text or program, or a damaged record."""
    state, file = tmp_path / "state", tmp_path / "params.yaml"
    (state / "derived" / "index").mkdir(parents=True)
    file.write_text("summary:\n  summary_target_words: 10-20\nsearch:\n  min_score: 1\n")
    with pytest.raises(UnknownSettings):
        kept_settings(state, file)
    for source in (None, file):
        keep_settings(state, source)
        kept, checked = kept_settings(state, source), load_params(source)
        for name in Params.model_fields:
            section = getattr(checked, name)
            assert getattr(kept, name).model_fields_set == section.model_fields_set
            assert {key: getattr(getattr(kept, name), key) for key in type(section).model_fields} == dict(section)
        with pytest.raises(UnknownSettings):
            kept_settings(state, file if source is None else None)
    other = kept.vault.model_copy(update={"inbox_file": "in.md"})
    assert (other.inbox_file, other.root_file, kept.vault.inbox_file) == ("in.md", "index.md", "inbox.md")
    record = state / "derived" / "index" / "settings.json"
    record.write_text(record.read_text().replace("settings.py", "other.py"))
    with pytest.raises(UnknownSettings):
        kept_settings(state, file)
    for damaged in ("", "[]", "{}", '{"of": 1}'):
        record.write_text(damaged)
        with pytest.raises(UnknownSettings):
            kept_settings(state, file)
    keep_settings(state, file)
    assert kept_settings(state, file).search.min_score == 1.0


def test_without_a_look_for_changes_no_file_of_the_vault_is_listed(place, where, capsys, monkeypatch):
    """`--no-sync` answers from the index as it is: a note that is new is not found, and nothing is looked through."""
    new = place[0] / "new.md"
    new.write_text("# Quince\n\nMembrillo.\n")
    try:
        with monkeypatch.context() as patch:
            patch.setattr("infold.catalogue.sync.scan", lambda *_, **__: pytest.fail("looked through"))
            assert direct.answered(["search", *where, "membrillo", "--no-sync"]) == 0
        assert "new.md" not in capsys.readouterr().out
        assert direct.answered(["search", *where, "membrillo"]) == 0
        assert "new.md" in capsys.readouterr().out
    finally:
        new.unlink()
