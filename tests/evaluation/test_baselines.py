"""The simple ways, on notes small enough to know the answer."""

from __future__ import annotations

from infold.evaluation.baselines import PlainBM25, RarestWord, closest_notes, guesses
from infold.search.embed.static_embedder import StaticEmbedder

NOTES = {
    "bees.md": "# Bees\n\nThe hive hums. A swarm leaves the hive in May, the queen first.\n",
    "bread.md": "# Bread\n\nThe crust of the loaf is baked in steam. The crumb is what is inside.\n",
    "empty.md": "",
}


def test_bm25_weighs_rare_words_and_short_notes():
    """The note that has the telling words; none where no word is known; of equals the first by path."""
    bm25 = PlainBM25(NOTES)
    assert bm25.best("Where does the swarm go?") == "bees.md"
    assert bm25.best("crumb and crust") == "bread.md"
    assert bm25.best("xyzzy") is None
    assert PlainBM25({"b.md": "same", "a.md": "same"}).best("same") == "a.md"
    assert PlainBM25({}).best("same") is None


def test_grep_takes_the_rarest_word():
    """`the` stands everywhere and does not count; of two rare words the longer; the note that has it most often."""
    grep = RarestWord({**NOTES, "more.md": "the queen, the queen, and once more the queen"})
    assert grep.best("the hive") == "bees.md"
    assert grep.best("the queen") == "more.md"
    assert grep.best("???") is None


def test_scripts_without_spaces_are_read_as_pairs_of_signs():
    """A clause shares pairs with the note it came from, though no other note has the clause; other words stay whole."""
    notes = {"bees.md": "春天的時候,蜜蜂會離開蜂巢。", "bread.md": "麵包的外皮在蒸汽中烘烤。", "cafe.md": "Café crème"}
    assert PlainBM25(notes).best("蜂巢裡有很多蜜蜂") == "bees.md"
    assert RarestWord(notes).best("烘烤麵包") == "bread.md"
    assert PlainBM25(notes).best("caf") is None


def test_embeddings_find_what_means_the_same():
    """No word in common but articles; a long note is found by the window that speaks of it."""
    long = "Nothing of interest stands here at all.\n" * 200 + "Dough rises when yeast makes gas in a warm kitchen.\n"
    found = closest_notes({**NOTES, "long.md": long}, ["insects that make honey", "yeast dough", ""], StaticEmbedder())
    assert found == ["bees.md", "long.md", None]


def test_each_text_gets_a_guess_of_each():
    """In the order of the texts, under fixed names."""
    found = guesses(NOTES, ["a swarm of bees", "steam and crust"], StaticEmbedder())
    assert found[0] == {"bm25": "bees.md", "dense": "bees.md", "grep": "bees.md"}
    assert found[1]["bm25"] == "bread.md"
