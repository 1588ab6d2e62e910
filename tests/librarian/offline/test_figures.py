"""What speaks for a note as a paragraph's home: titles said in words, terms that one note explains, figures set beside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.librarian.offline.corpus import Corpus, gather
from infold.librarian.offline.figures import explained, standard_scores, word_figures
from infold.librarian.offline.layout import Layout
from infold.librarian.offline.reading import read_note, read_query
from infold.librarian.offline.sections import describe, piece_scores
from infold.search.languages import detect_language
from infold.vault.note import parse

NOTES = {
    "Kiln.md": "# Kiln\n\nThe chamber is lined with brick. Brick holds the heat of the chamber.\n",
    "Sourdough.md": "# Sourdough\n\nThe starter is fed twice a day. A fed starter doubles in the warm.\n",
    "Canal.md": "# Canal\n\nThe lock gates were mended. The gates of the lower lock still leak.\n",
}


@pytest.fixture
def readings():
    return [read_note(parse(path, text)) for path, text in NOTES.items()]


@pytest.fixture
def corpus(readings):
    by_path = {reading.path: reading for reading in readings}
    return Corpus(gather(list(by_path), by_path.get))


def test_what_one_note_alone_uses_counts_for_it(readings, corpus):
    """A paragraph about bricks is explained by the one note that speaks of them; the shares make one."""
    shares = explained(read_query("Brick of the chamber cracks in frost."), readings, corpus)
    assert int(np.argmax(shares)) == 0
    assert shares[0] > 1 / 3 > shares[1:].max()
    assert shares.sum() == pytest.approx(1.0)


def test_what_no_note_uses_counts_for_all_alike(readings, corpus):
    """A paragraph of words that are new to the vault is explained by each note alike, but for their lengths."""
    shares = explained(read_query("Gardenias bloom."), readings, corpus)
    assert shares.max() - shares.min() < 0.1


def test_a_title_counts_where_it_is_said_and_not_where_it_is_linked(readings, corpus):
    """Who links to a note speaks of another: the words of the link do not say its title."""
    said = word_figures(read_query("The kiln was lit at dawn."), readings[0], corpus)
    linked = word_figures(read_query("The [[Kiln]] was lit at dawn."), readings[0], corpus)
    assert (said["title_held"], said["title_whole"]) == (pytest.approx(1.0), 1.0)
    assert (linked["title_held"], linked["title_whole"]) == (0.0, 0.0)


GERMAN = """# Ofen

Der Ofen ist mit Ziegeln gemauert, und die Kammern halten auch in der Nacht noch die Hitze, die sie am Tag bekommen.

## Reparaturen

Die Risse der Gewölbe werden mit Schamotte gefüllt und nach dem Trocknen noch einmal gebrannt.
"""
UNTOLD = (
    "Gemauertes Gewölbe: Risse füllen, Kammer trocknen, Ziegel brennen."  # has hardly a common word of any language
)


def test_a_paragraph_too_short_to_tell_its_language_is_read_as_the_note_is():
    """Its words are stemmed as the note's are: else what note and paragraph both speak of is shared by neither."""
    note = read_note(parse("Ofen.md", GERMAN))
    mill = read_note(parse("Mühle.md", GERMAN.replace("Ofen", "Mühle").replace("Ziegel", "Stein")))
    kiln = read_note(parse("Kiln.md", NOTES["Kiln.md"]))
    known = {reading.path: reading for reading in (kiln, note, mill)}
    corpus = Corpus(gather(list(known), known.get))
    assert (note.language, detect_language(UNTOLD)) == ("german", "english")
    untold, told = read_query(UNTOLD), read_query(UNTOLD, "german")
    assert word_figures(untold, note, corpus) == word_figures(told, note, corpus)
    assert piece_scores(untold, note, corpus) == piece_scores(told, note, corpus)
    notes = list(known.values())
    assert explained(untold, notes, corpus) == pytest.approx(explained(told, notes, corpus))
    vectors = Layout(note, None)
    scores = piece_scores(told, note, corpus)
    of_untold, of_told = (describe(query, note, vectors, corpus, scores) for query in (untold, told))
    assert np.array_equal(of_untold, of_told)


@given(
    st.lists(
        st.sampled_from(
            ["Ziegel", "brennen", "l'eau", "naïve", "foo_bar", "fooBar", "3.14", "C++", "砖窑", "and", "Öfen"]
        )
    )
)
def test_every_term_has_its_form_in_another_language(found):
    """Of one term there is one form, which the paragraph has where it is read in that language."""
    query = read_query(" ".join(found), "german")
    assert query.terms_in("german") == {term: term for term in query.terms}
    forms = query.terms_in("french")
    assert forms.keys() == query.terms.keys()
    assert set(forms.values()) <= query.read_in("french").terms.keys()


@given(
    st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=2, max_size=8),
    st.floats(1, 100),
    st.floats(-100, 100),
)
def test_standard_scores_know_neither_scale_nor_origin(rows, scale, origin):
    """Cosines of a language where they hardly spread say as much as those of one where they do."""
    table = np.array(rows, dtype=np.float64)
    assert standard_scores(table * scale + origin) == pytest.approx(standard_scores(table), abs=1e-3)


def test_a_figure_in_which_all_notes_are_equal_says_nothing():
    """One note alone, or notes without vectors, get no standard score."""
    assert not standard_scores(np.array([[0.3, 2.0]])).any()
    assert not standard_scores(np.array([[0.0, 1.0], [0.0, 1.0]])).any()
