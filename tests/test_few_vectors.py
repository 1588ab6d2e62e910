"""Vectors without numpy: each of them as numpy makes it, to the last bit."""

from __future__ import annotations

import sys
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.catalogue import embeddings
from infold.catalogue.embeddings import EmbeddingStore
from infold.few_vectors import divided, halves_of, length_of, of_halves, total
from infold.search.embed.embedder import unit_rows, vectors_of
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index import note_vectors

sizes = st.sampled_from([1, 3, 8, 9, 64, 100, 129, 130, 256, 384, 1000])
seeds = st.integers(0, 2**32)


def rows_of(seed: int, count: int, size: int, *, power: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=(count, size)) * 2.0**power).astype(np.float16)


@settings(max_examples=150)
@given(seeds, st.integers(0, 40), sizes, st.integers(-12, 5))
def test_a_mean_of_unit_length_is_numpys(seed: int, count: int, size: int, power: int):
    """Sum, mean, length and the vector that is kept: of any size, of small numbers and of large ones."""
    rows = rows_of(seed, count, size, power=power)
    mean = np.add.reduce(rows, axis=0, dtype=np.float32)[None] / np.float32(count or 1)
    wanted = unit_rows(mean)[0]
    found = divided(total(rows.tolist(), size), count or 1)
    assert np.array_equal(np.asarray(found), mean[0])
    assert length_of(found) == float(np.linalg.norm(mean, axis=1)[0])
    found = divided(found, length_of(found) or 1)
    assert np.array_equal(np.asarray(found), wanted)
    assert halves_of(found) == wanted.astype("<f2").tobytes()
    assert of_halves(halves_of(found)).tolist() == wanted.astype("<f2").tolist()


@settings(max_examples=60)
@given(seeds, st.integers(1, 20), sizes)
def test_a_note_has_the_same_mean_among_few_and_among_many(seed: int, count: int, size: int):
    """Its levels and the sum of their squares, of vectors with numpy or without; none where they cancel out."""
    vectors = unit_rows(rows_of(seed, count, size).astype(np.float32))
    few = [array("f", vector.tolist()) for vector in vectors]
    assert note_vectors._packed_few([few]) == note_vectors._packed([[*vectors]]) == note_vectors._packed([few])
    together = note_vectors._packed([[*vectors], [*vectors[:1]]])
    assert together == note_vectors._packed_few([few, few[:1]])
    cancelled = [*few, *(array("f", [-number for number in vector]) for vector in reversed(few))]
    assert note_vectors._packed_few([cancelled]) == note_vectors._packed([cancelled])


def test_what_is_kept_is_the_same_with_few_and_with_many(tmp_path, monkeypatch):
    """Under a text's hash are the same bytes, found as the same numbers, however many are kept or asked for at once."""
    given_vectors = {f"k{n}": row for n, row in enumerate(unit_rows(rows_of(1, 5, 256).astype(np.float32)))}
    few, many = EmbeddingStore(tmp_path / "few"), EmbeddingStore(tmp_path / "many")
    kept = few.append("m", given_vectors)
    monkeypatch.setattr(embeddings, "FEW", 0)
    assert all(isinstance(vector, array) for vector in kept.values())
    for found in (many.append("m", given_vectors), many.find("m", given_vectors), few.find("m", given_vectors)):
        assert {key: vector.tolist() for key, vector in found.items()} == {
            key: vector.tolist() for key, vector in kept.items()
        }


@pytest.mark.parametrize(
    "text",
    [
        "graph view of notes",
        "",
        "検索",
        "naïve café\n\n- [[A note]] of 3.5 🎉",
        "word " * 900,
        " ".join(f"word{n} ({n % 7})\n" for n in range(1500)),
    ],
)
def test_a_text_is_embedded_alike_without_numpy(text, monkeypatch):
    """To the last bit as among many, and numpy stays where it is."""
    loaded = StaticEmbedder()
    expected = loaded.embed([text, "a"] * 20)[:2]
    monkeypatch.delitem(sys.modules, "numpy")
    found = vectors_of(StaticEmbedder(), [text, "a"])
    assert "numpy" not in sys.modules
    assert np.array_equal(np.asarray(found, dtype=np.float32), expected)


@pytest.mark.parametrize("texts", [["<s> marked"], ["word " * 7000], ["a"] * 40])
def test_what_wants_the_tokenizer_is_left_to_it(texts, monkeypatch):
    """A token written out, much text, many texts: then numpy is worth its time."""
    expected = StaticEmbedder().embed(texts)
    with monkeypatch.context() as without:
        without.delitem(sys.modules, "numpy")
        assert StaticEmbedder().embed_few(texts) is None
    assert np.array_equal(np.asarray(vectors_of(StaticEmbedder(), texts)), expected)
