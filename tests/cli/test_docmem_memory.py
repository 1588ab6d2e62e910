"""`infold docmem`: searched, condensed, filed and marked, as a person and as a program call it (spec 2)."""

from __future__ import annotations

import json

import pytest

SHORT = ("--set", "summary.summary_target_words=[2, 4]")  # so that few words are worth a summary


@pytest.fixture
def at(infold, tmp_path):
    """Calls the command line at a vault of one note."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Home\n\nSnails are in the notes too.\n")
    place = ("--vault", vault, "--state", tmp_path / "state")

    def at(*words, code=0):
        done = infold(*words, *place)
        assert done.exit_code == code, done.output
        return done.stdout

    return at


@pytest.fixture
def ids(at):
    """A tree of four memories and one of people; the ids by the first words of their texts."""
    at("docmem", "create", "garden", "--context", "root:purpose:project")
    at("docmem", "create", "people", "--context", "root:purpose:people")
    made = {}
    for parent, text, context in (
        ("garden", "Snails ate the lettuce, says @anna.", "memory:source:walk"),
        ("garden", "Rain fills the barrel.", "memory:source:walk"),
        ("garden", "The gate squeaks.", "memory:source:walk"),
        ("people", "Anna grows beans.", "person:name:Anna"),
    ):
        said = json.loads(at("docmem", "append", parent, text, "--context", context, "--json"))
        made[text.split()[0]] = said["id"]
    return made


def test_searched_with_its_place_and_its_tags(at, ids):
    """Query Pattern, Linking: results with structural context; what a tag names is shown beside them."""
    found = json.loads(at("docmem", "search", "lettuce", "--json"))
    (result,) = found["results"]
    assert (result["id"], result["root"], result["position"], result["siblings"]) == (ids["Snails"], "garden", 1, 3)
    assert [node["id"] for node in found["linked"]["anna"]] == [ids["Anna"]]
    shown = at("docmem", "search", "lettuce")
    assert f"{ids['Snails']} memory:source:walk" in shown
    assert "1 of 3" in shown
    assert {node["id"] for node in json.loads(at("docmem", "tags", "@anna", "--json"))["nodes"]} == {
        ids["Anna"],
        ids["Snails"],
    }
    assert json.loads(at("docmem", "search", "beans", "--in", "garden", "--json"))["results"] == []


def test_the_search_of_everything_has_memory_in_its_group(at, ids):
    """Dual Representation: `infold search` finds memory nodes beside notes, says where they are from, shows their text."""
    found = json.loads(at("search", "snails", "--json"))["results"]
    assert [hit["filePath"] for hit in found["notebook"]] == ["index.md"]
    (hit,) = found["memory"]
    assert (hit["filePath"], hit["trust"], hit["snippet"]) == (
        "memory/garden",
        "memory",
        "Snails ate the lettuce, says @anna.",
    )
    assert list(json.loads(at("search", "gate", "--source", "memory", "--json"))["results"]["memory"]) != []
    assert at("get", hit["filePath"]) == (
        "Snails ate the lettuce, says @anna.\n\nRain fills the barrel.\n\nThe gate squeaks.\n"
    )
    assert at("get", f"memory/garden/{ids['Rain']}") == "Rain fills the barrel.\n"
    assert at("get", "memory/garden:3") == "Rain fills the barrel.\n"
    at("docmem", "delete", ids["Snails"])
    assert json.loads(at("search", "snails", "--json"))["results"].get("memory", []) == []


def test_index_brings_memory_along(at, ids):
    """Embedding Requirements: `infold index` and `infold docmem index` send what changed, once."""
    at("index")
    assert json.loads(at("docmem", "index", "--json")) == {
        "sent": 0,
        "removed": 0,
        "embeddingsComputed": 0,
        "waiting": 0,
    }
    at("docmem", "append", "garden", "Frost.", "--context", "memory:source:walk")
    assert json.loads(at("docmem", "index", "--json"))["sent"] == 1
    at("rebuild")
    assert json.loads(at("docmem", "index", "--json"))["sent"] == 0


def test_expanded_by_a_question_a_mark_and_a_mode(at, ids):
    """Expansion: what answers comes first, then what is marked; modes of summaries; a wrong mode is named."""
    said = json.loads(at("docmem", "expand", "garden", "--tokens", "9", "--query", "lettuce", "--json"))
    assert [node["id"] for node in said["nodes"]] == ["garden", ids["Snails"]]
    at("docmem", "mark", ids["Rain"], "priority", "2")
    assert json.loads(at("docmem", "expand", "garden", "--tokens", "6", "--json"))["nodes"][1]["id"] == ids["Rain"]
    at("docmem", "unmark", ids["Rain"], "priority")
    assert json.loads(at("docmem", "expand", "garden", "--tokens", "6", "--json"))["nodes"][1]["id"] == ids["The"]
    at("docmem", "expand", "garden", "--tokens", "6", "--mode", "sideways", code=2)
    at("docmem", "mark", ids["Rain"], "priority", "much", code=2)


def test_condensed_after_a_look(at, ids):
    """Summarization: `--dry-run` says what is due and changes nothing; then it is done, once."""
    few = (
        "--set",
        "docmem.summarise_after=2",
        "--set",
        "docmem.keep_recent=1",
        "--set",
        "docmem.summarise_run=2",
        *SHORT,
    )
    due = json.loads(at("docmem", "condense", "garden", "--dry-run", "--json", *few))["due"]
    assert [[node["id"] for node in run["nodes"]] for run in due] == [[ids["Snails"], ids["Rain"]]]
    assert json.loads(at("docmem", "show", "garden", "--json"))["nodes"][1]["id"] == ids["Snails"]
    (made,) = json.loads(at("docmem", "condense", "--json", *few))["made"]
    assert made["text"] == "Snails ate the lettuce…"
    assert json.loads(at("docmem", "condense", "--json", *few))["made"] == []
    document = json.loads(at("docmem", "expand", "garden", "--tokens", "99", "--mode", "instead", "--json"))
    assert [node["id"] for node in document["nodes"]] == ["garden", made["id"], ids["The"]]


def test_a_document_is_placed_and_imported(at, ids, tmp_path):
    """Ingest classification: proposed with a score and a reason, nothing written; `--apply` imports it there."""
    file = tmp_path / "snails.txt"
    file.write_text("Snails ate all of the lettuce again. The barrel is empty, there was no rain.\n")
    said = json.loads(at("docmem", "place", file, "--json"))
    assert (said["tree"], said["imported"]) == ("garden", None)
    assert said["reason"]
    assert json.loads(at("docmem", "roots", "--json"))["trees"][0]["nodes"] == 4
    done = json.loads(at("docmem", "place", file, "--apply", "--json"))
    assert done["imported"]["parentId"] == "garden"
    other = tmp_path / "taxes.txt"
    other.write_text("The revenue office expects depreciation schedules.\n")
    done = json.loads(at("docmem", "place", other, "--apply", "--json"))
    assert (done["tree"], done["imported"]["parentId"]) == (None, None)


def test_appended_memories_are_summarised_at_once(at, infold, tmp_path, ids):
    """Summarization: said, with the way back; what is taken back stays so; `manual` leaves all as it is."""
    place = ("--vault", tmp_path / "vault", "--state", tmp_path / "state")
    few = (
        "--set",
        "docmem.summarise_after=3",
        "--set",
        "docmem.keep_recent=1",
        "--set",
        "docmem.summarise_run=3",
        *SHORT,
    )
    more = ("docmem", "append", "garden", "Frost.", "--context", "memory:source:walk", *few, *place)
    assert "summarised" not in infold(*more, "--set", "docmem.summarise=manual").output
    done = infold(*more, "--json")
    assert json.loads(done.stdout)["text"] == "Frost."
    summary = json.loads(at("docmem", "show", "garden", "--json"))["nodes"][1]
    assert f"3 older memories are summarised; `infold docmem unsummarise {summary['id']}` takes it back." in done.stderr
    assert summary["text"] == "Snails ate the lettuce…"
    at("docmem", "unsummarise", summary["id"])
    assert "summarised" not in infold(*more).output
    assert json.loads(at("docmem", "show", "garden", "--json"))["nodes"][1]["id"] == ids["Snails"]


def test_an_imported_tree_is_summarised_at_once(at, infold, tmp_path, ids):
    """Summarization: a tree from TOML is condensed as it comes; a document, being readonly, stays as it was written."""
    place = ("--vault", tmp_path / "vault", "--state", tmp_path / "state")
    few = (
        "--set",
        "docmem.summarise_after=2",
        "--set",
        "docmem.keep_recent=1",
        "--set",
        "docmem.summarise_run=2",
        *SHORT,
    )
    (tmp_path / "garden.toml").write_text(at("docmem", "export", "garden", "--format", "toml"))
    (tmp_path / "list.md").write_text("# List\n\n- one\n- two\n- three\n- four\n")
    done = infold("docmem", "import", tmp_path / "garden.toml", "--as", "again", *few, *place)
    assert "2 older memories are summarised" in done.stderr
    assert "summarised" not in infold("docmem", "import", tmp_path / "list.md", *few, *place).output
