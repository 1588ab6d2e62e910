"""What is kept of one note."""

import sys

import pytest

from infold.catalogue.cutting import cutting_of
from infold.catalogue.facts import facts_of
from infold.catalogue.link_blob import unpack_links
from infold.catalogue.outline_blob import unpack_cuts, unpack_note
from infold.catalogue.passages import cuts
from infold.catalogue.reading import FactsReading, read_notes
from infold.catalogue.records import strings, unpacked_strings
from infold.settings import Params
from infold.text import content_hash, token_count
from infold.vault.files import decode, read_bytes
from infold.vault.note import Note, parse
from infold.vault.scanning import scan
from infold.workers import Crew

CUTTING = cutting_of(Params())
TEXT = """---
tags: [t]
aliases: A
date: 2025-03-04
origin: https://example.org/page
---
# Title

See [[B|the b]] %%not this%%.

## Two

![[p.png]]
"""


def test_facts_hold_what_a_card_needs():
    """Title, words as shown, tokens of the whole text, heading lines, tags, aliases, links."""
    facts = facts_of(parse("a.md", TEXT), "hash", CUTTING)
    lists = [unpacked_strings(facts.headings), strings(facts.tags), strings(facts.aliases)]
    assert (facts.title, lists) == ("Title", [("# Title", "## Two"), ("t",), ("A",)])
    assert facts.words == 5  # Title See the b Two
    assert facts.tokens == token_count(TEXT)
    assert [
        (link.name, link.alias, link.line, link.is_attachment) for link in unpack_links(facts.links, facts.link_places)
    ] == [
        ("B", "the b", 9, False),
        ("p.png", None, 13, True),
    ]


def test_front_matter_says_day_origin_and_trust():
    """A note from outside says so and is trusted as such; one that says nothing is the vault's."""
    facts = facts_of(parse("a.md", TEXT), "hash", CUTTING)
    assert (facts.front_day, facts.origin, facts.trust) == ("2025-03-04", "https://example.org/page", "external")
    assert facts_of(parse("a.md", "---\norigin: x\ntrust: mine\n---\n"), "", CUTTING).trust == "mine"
    assert facts_of(parse("a.md", "# A\n"), "", CUTTING).trust == "vault"


@pytest.mark.parametrize("front", ["2024-01-01: {2024-01-02: x}", 'title: "\\ud800"', "tags: [1, null]", "a: .nan"])
def test_odd_front_matter_is_kept_as_far_as_it_goes(front):
    """Whatever YAML lets through, facts can be written to the catalogue."""
    facts = facts_of(parse("a.md", f"---\n{front}\n---\n# T\n"), "", CUTTING)
    for value in (facts.title, facts.tags):
        value.encode()


def test_a_file_whose_hash_is_known_is_not_parsed_again(tmp_path):
    """The content decides: no facts where nothing changed, facts where anything did, a reason where none can be had."""
    (tmp_path / "a.md").write_bytes(b"# A\n")
    digest = content_hash(b"# A\n")
    assert read_notes([("a.md", digest)], tmp_path, CUTTING)[0] == FactsReading("a.md", None)
    found = read_notes([("a.md", "other")], tmp_path, CUTTING)[0].facts
    assert found is not None
    assert found.sha256 == digest
    assert "not there" in (read_notes([("b.md", None)], tmp_path, CUTTING)[0].reason or "")


def test_what_may_be_readable_later_is_told_from_what_is_gone(tmp_path, monkeypatch):
    """An input error of the system keeps what is known of the note; a file that vanished does not."""
    assert not read_notes([("b.md", None)], tmp_path, CUTTING)[0].is_kept

    def broken(*args: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.open", broken)
    reading = read_notes([("a.md", None)], tmp_path, CUTTING)[0]
    assert reading.is_kept
    assert "Input/output" in (reading.reason or "")


def test_workers_read_what_one_process_reads(tmp_path, monkeypatch):
    """In one process or several, also where none can start: the same facts, the same reasons."""
    for number in range(40):
        (tmp_path / f"n{number:02}.md").write_text(f"# Note {number}\n\n[[n00]] é\n", encoding="utf-8")
    (tmp_path / "bad.md").write_bytes(b"caf\xe9")
    wanted = [(file.name, None) for file in sorted(tmp_path.iterdir())]
    alone = read_notes(wanted, tmp_path, CUTTING)
    assert any("not UTF-8" in (reading.reason or "") for reading in alone)
    for executable in (sys.executable, "/no/such/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", executable)
        crew = Crew("infold.catalogue.reading:read_notes", 2)
        assert crew.all(wanted, tmp_path, CUTTING) == alone
        crew.close()


def again(note: Note) -> Note:
    """The note as its facts and its text give it."""
    facts = facts_of(note, "", CUTTING)
    found, passages = unpack_note(
        note.path,
        note.text,
        facts.outline,
        (facts.links, facts.link_places),
        title=facts.title,
        tags=strings(facts.tags),
        aliases=strings(facts.aliases),
        passages=facts.passages,
    )
    assert [(each.start, each.end) for each in passages] == [at[:2] for at in unpack_cuts(facts.passages)]
    return found


@pytest.mark.parametrize("name", ["foam-docs", "obsidian-help-ja", "dendron-site"])
def test_a_note_comes_back_from_its_facts_as_it_was_parsed(shared_data, name):
    """Headings, blocks, links, comments and passages of real notes: equal, without a parse."""
    root = shared_data / "vaults" / name
    for file in scan(root, Params().vault).files[:400]:
        note = parse(file.path, decode(read_bytes(root, file.path, CUTTING.max_bytes), file.path))
        assert again(note) == note
        facts = facts_of(note, "", CUTTING)
        found = cuts(note, CUTTING.passage_tokens, CUTTING.overlap_tokens, CUTTING.max_passages)
        assert list(unpack_cuts(facts.passages)) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff# A\r\n\r\nx ^id\r\n",
        "a\rb\r\r- c\r",
        "---\nx: 1\n---\n%% a %%\n\nTitle\n===\n",
        "#  A  b \n## *c* #\n#\ttab\n### [d](e.md) ^id\n####### no\n#### %%x%%\n- # f\n\n#tag\nh\n---\n",
    ],
)
def test_odd_notes_come_back_too(text):
    """Empty, with a byte order mark, with other line ends, with comments, underlined headings and headings whose title is not as written."""
    note = parse("a.md", text)
    assert again(note) == note
