"""No text takes minutes: the work on a note, and on a paragraph of the inbox, grows as they do."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.hostile_texts import NAMES, hostile
from infold.catalogue.cutting import cutting_of
from infold.catalogue.facts import MAX_TAGS, facts_of
from infold.catalogue.passages import cut, indexed_text
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.inbox.chunking import too_long
from infold.inbox.inbox_text import remove_paragraphs
from infold.inbox.paragraphs import number_paragraphs
from infold.librarian.answers import Paragraph
from infold.librarian.offline.duplicates import find_cover
from infold.librarian.offline.reading import read_note, read_query
from infold.librarian.offline.summaries import extract
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.points import note_points
from infold.settings import ChunkingParams, Params
from infold.text import without_runs
from infold.vault import outline
from infold.vault.note import parse, plain_text

CUTTING = cutting_of(Params())
NOTE = (4_000, 32_000)  # characters, and eight times as many
PARAGRAPH = (1_000, 8_000)
MOST = 24  # times the seconds: eight where the work is linear, sixty-four where it is of the square
LEAST_SECONDS = 0.25  # what takes less for the large text is no matter


def on_a_note(text: str) -> None:
    """All that a first index and a summary do with the text of a note, the index itself aside."""
    note = parse("n.md", text)
    plain_text(note)
    facts_of(note, "", CUTTING)
    read_note(note)
    extract(text, 40, 80)


def on_a_paragraph(text: str) -> None:
    """What the offline librarian does with a paragraph of the inbox, beside a note that may hold it."""
    read_query(text)
    find_cover(text, parse("n.md", f"# Title\n\n{text[:400]}\n\nAnother paragraph.\n"))


def seconds(work: Callable[[str], object], text: str) -> float:
    best = 1e9
    for _ in range(2):
        started = time.process_time()
        work(text)
        best = min(best, time.process_time() - started)
        if best > 2:
            break
    return best


@pytest.mark.parametrize("work,sizes", [(on_a_note, NOTE), (on_a_paragraph, PARAGRAPH)])
@pytest.mark.parametrize("name", NAMES)
def test_the_work_grows_as_the_text_does(name, work, sizes):
    """Eight times the text is about eight times the work, whatever the text."""
    small, large = (hostile(name, size) for size in sizes)
    longest = seconds(work, large)
    assert longest < LEAST_SECONDS or longest < MOST * seconds(work, small)


@pytest.mark.parametrize("name", ["one word", "hex", "minified code"])
def test_data_never_reaches_a_tokenizer_and_stays_in_the_note(name, tmp_path):
    """A run without spaces is no passage and no term; words around it are, and the note keeps every byte."""
    data = hostile(name, 50_000).replace(" ", "")
    text = f"# Picture\n\nThe pump before.\n\n![x](data:image/png;base64,{data})\n\nThe valve after.\n"
    passages = cut(parse("n.md", text))
    indexed = " ".join(indexed_text(passage, "Picture") for passage in passages)
    assert data[:40] not in indexed
    assert "pump" in indexed
    assert "valve" in indexed
    assert len(passages) <= 3
    (beside,) = cut(parse("n.md", f"The pump {data[:600]} hums.\n"))
    assert data[:40] not in indexed_text(beside, "Picture")
    (tmp_path / "n.md").write_text(text)
    with_catalogue(tmp_path)
    assert (tmp_path / "n.md").read_text() == text
    vector = StaticEmbedder().embed([f"The pump before. {data} The valve after."])
    assert (vector == StaticEmbedder().embed(["The pump before.   The valve after."])).all()


def with_catalogue(vault: Path) -> tuple[str, ...]:
    """What a sync of the catalogue says of the notes."""
    catalogue = Catalogue(vault.parent / "catalogue.sqlite", vault, Params())
    warnings = tuple(f"{item.path}: {item.reason}" for item in sync_catalogue(catalogue).warnings)
    for note in catalogue.notes():
        assert catalogue.note(note.path) == parse(note.path, catalogue.text(note.path))
    catalogue.close()
    return warnings


@pytest.mark.parametrize("text", ["# a\n", "- a\n", "[a](b.md)\n", "a\n---\n\n"])
def test_a_note_that_is_too_much_is_read_as_far_as_its_budget_goes(text, tmp_path, monkeypatch):
    """So many headings, items or links are structure; the rest is text, nothing is lost, and the note is named."""
    vault = tmp_path / "vault"
    vault.mkdir()
    monkeypatch.setattr(outline, "MAX_PARTS", 100)
    whole = text * 150
    note = parse("n.md", whole)
    assert 100 <= len(note.blocks) + len(note.links) <= 102
    assert note.blocks[-1].end >= len(whole.rstrip())
    if note.plain_from is not None:
        (vault / "n.md").write_text(whole)
        (warning,) = with_catalogue(vault)
        assert "plain text" in warning


def test_runs_are_told_from_language():
    """Long words stay, and so do scripts that put no space between words; data goes."""
    long_word = "a" * 512
    assert without_runs(f"x {long_word} y") == f"x {long_word} y"
    assert without_runs(f"x {long_word}a y") == "x   y"
    assert without_runs("漢字" * 1000) == "漢字" * 1000
    assert without_runs(f"漢{'=' * 600}字") == "漢 字"


def test_a_paragraph_that_is_none_is_left_with_a_reason():
    """A page without a blank line, or data, is named with the setting; any usual paragraph is taken."""
    params = ChunkingParams()
    assert too_long(Paragraph(1, "word " * 2000), params) == ""
    assert "max_paragraph_characters" in too_long(Paragraph(1, "a" * 20_001), params)


def test_a_note_of_countless_tags_carries_so_many_and_is_named(tmp_path):
    """Each passage carries its note's tags, so these have a bound: the work stays linear, and the note is named."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "n.md").write_text(hostile("tags", 40_000))
    (vault / "plain.md").write_text("#one #two\n")
    catalogue = Catalogue(tmp_path / "catalogue.sqlite", vault, Params())
    (warning,) = sync_catalogue(catalogue).warnings
    assert warning.path == "n.md"
    assert f"the first {MAX_TAGS} are taken up" in warning.reason
    points = note_points(catalogue.note("n.md"), "standard", Params().search).points
    assert len(points) > 5
    assert {len(point.tags) for point in points} == {MAX_TAGS}
    assert catalogue.note("plain.md").tags == ("one", "two")
    catalogue.close()


def test_a_note_of_countless_passages_is_searched_so_far_and_named(tmp_path):
    """Search has the first of them, none is cut short, and the line where they end is told, with the setting."""
    vault = tmp_path / "vault"
    vault.mkdir()
    text = hostile("paragraphs", 40_000)
    (vault / "n.md").write_text(text)
    (vault / "short.md").write_text(text[:3_000])
    params = Params.model_validate({"search": {"max_passages": 4}})
    catalogue = Catalogue(tmp_path / "catalogue.sqlite", vault, params)
    (warning,) = sync_catalogue(catalogue).warnings
    passages = cut(parse("n.md", text))[:4]
    assert [at[:2] for at in catalogue.passage_cuts("n.md")] == [(each.start, each.end) for each in passages]
    assert warning.path == "n.md"
    assert f"line {passages[-1].end_line}: 4 passages" in warning.reason
    assert "search.max_passages" in warning.reason
    catalogue.close()


def test_an_inbox_is_cut_around_what_was_placed_only():
    """Taking a few paragraphs out of countless lines looks at the lines beside them, wherever these stand."""
    text = hostile("a list", 200_000)
    at = text.index("- a", len(text) // 2)
    taken = seconds(lambda whole: remove_paragraphs(whole, [(at, at + 3)]), text)
    assert taken < seconds(number_paragraphs, text) / 20
    assert remove_paragraphs(text, [(at, at + 3)]) == text[:at] + text[at + 4 :]
