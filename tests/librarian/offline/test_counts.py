"""What is counted of a vault's terms is counted once for each content of the notes that are counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.librarian.offline import candidate_scorer
from infold.librarian.offline.corpus import Corpus, TermCounts, gather
from infold.librarian.offline.duplicates import _distinct_words, _runs, _said_in, find_cover
from infold.librarian.offline.reading import bare, read_note
from infold.librarian.offline.vault_scorer import scorer_of
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.settings import Params, VaultParams
from infold.text import folded_words
from infold.vault.note import parse

NOTES = {f"Note {n}.md": f"# Note {n}\n\nThe boiler of house {n} hums at night. [[Note {n + 1}]]\n" for n in range(9)}


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text)
    found = Catalogue(tmp_path / "catalogue.sqlite", vault, Params())
    sync_catalogue(found)
    return found


@pytest.fixture
def counted(monkeypatch) -> list[int]:
    """Fills with how many notes were counted, each time that they are."""
    seen: list[int] = []

    def counting(paths, read):
        found = gather(paths, read)
        seen.append(found.notes)
        return found

    monkeypatch.setattr(candidate_scorer, "gather", counting)
    return seen


def test_counted_once_for_a_content(catalogue, counted):
    """A second look at the same notes counts nothing, and weighs every term alike; a changed note counts anew."""
    first = scorer_of(catalogue, None, NO_EMBEDDER).corpus
    again = scorer_of(catalogue, None, NO_EMBEDDER).corpus
    assert counted == [len(NOTES)]
    terms = ["boiler", "hum", "3", "nowhere"]
    assert [first.weight(term) for term in terms] == [again.weight(term) for term in terms]
    assert [first.share(term) for term in terms] == [again.share(term) for term in terms]
    assert [first.is_common(word) for word in ("boiler", "3")] == [again.is_common(word) for word in ("boiler", "3")]
    (catalogue.vault / "Note 3.md").write_text("# Note 3\n\nSomething else.\n")
    sync_catalogue(catalogue, ["Note 3.md"])
    scorer_of(catalogue, None, NO_EMBEDDER).corpus.weight("boiler")
    assert counted == [len(NOTES)] * 2


def test_names_follow_the_notes_and_the_inbox(catalogue, tmp_path):
    """Names that are kept are of the notes as they are, and of no inbox: a new alias, another inbox, none is missed."""

    def covered(of: Catalogue, said: str) -> bool:
        scorer = scorer_of(of, None, NO_EMBEDDER)
        found = scorer.reading("Tea.md")
        return found is not None and scorer.cover(said, found) is not None

    write = (catalogue.vault / "Tea.md").write_text
    said = "Camellia wants warm water at night."
    write("# Tea\n\nThe tea bush wants warm water at night.\n")
    (catalogue.vault / "Camellia.md").write_text("# Camellia\n\nA shrub.\n")
    sync_catalogue(catalogue)
    assert not covered(catalogue, said)
    (catalogue.vault / "Camellia.md").write_text('---\naliases: ["the tea bush"]\n---\n# Camellia\n\nA shrub.\n')
    sync_catalogue(catalogue)
    assert covered(catalogue, said)
    assert covered(catalogue, said)
    inbox = Params(vault=VaultParams(inbox_file="Camellia.md"))
    assert not covered(Catalogue(tmp_path / "catalogue.sqlite", catalogue.vault, inbox), said)


@given(st.lists(st.text("ab ./\n", max_size=20), max_size=12))
def test_packed_counts_say_the_same(texts):
    """Counts that were packed and unpacked weigh every term and tell every common word as before."""
    readings = {f"{n}.md": read_note(parse(f"{n}.md", text)) for n, text in enumerate(texts)}
    counts = gather(list(readings), readings.get)
    before, after = Corpus(counts), Corpus(TermCounts.unpacked(counts.packed()))
    for term in [*counts.documents, *counts.words, "other"]:
        assert before.weight(term) == after.weight(term)
        assert before.share(term) == after.share(term)
        assert before.is_common(term) == after.is_common(term)
    assert before.mean_length == after.mean_length


@given(st.text("aé’-_:/.)](<>[ X\n", max_size=60))
def test_a_word_of_a_block_stands_in_its_note(text):
    """What is told soon, that a note lacks a word, is never wrong: addresses that are left out join no words."""
    folded = text.casefold()
    assert all(word in folded for word in folded_words(bare(text)))
    assert set(_distinct_words(text)) == set(folded_words(bare(text)))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4), st.lists(st.sampled_from("abc"), max_size=6))
def test_no_part_of_a_note_has_more_runs_than_the_whole(blocks, wanted):
    """What is told of a whole note, that it lacks too many of a text's runs of words, holds for each part of it."""
    runs = _runs(wanted)
    for first in range(len(blocks)):
        for end in range(first + 1, len(blocks) + 1):
            some = blocks[first:end]
            held = {run for words in some for run in _runs(words)} | _runs([word for words in some for word in words])
            assert len(runs & held) <= _said_in(blocks, runs)


@pytest.mark.parametrize(
    "said",
    ["The BOILER hums at night, see [the maker](https://maker.example/a-b).", "- [ ] Straße prüfen\n- [ ] Öl kaufen"],
)
def test_a_note_that_holds_a_text_covers_it(said):
    """Capitals, addresses, list marks and letters that fold to two hide no copy."""
    assert find_cover(said, parse("n.md", f"# Note\n\nBefore.\n\n{said}\n\nAfter.\n")) is not None
