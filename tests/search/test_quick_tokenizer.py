"""Tokens of a short text from two tables: the same as the tokenizer's own, whatever the text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.embed import quick_tokenizer
from infold.search.embed.quick_tokenizer import QuickTokenizer, make_quick, quick_file
from infold.search.embed.static_embedder import StaticEmbedder


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> Path:
    embedder = StaticEmbedder()
    tokenizer = Path(embedder._present(embedder._tokenizer_file))
    file = quick_file(tmp_path_factory.mktemp("models"), tokenizer)
    make_quick(tokenizer, file)
    return file


EXAMPLES = [
    "",
    " ",
    "when are the radiators bled",
    "  two  spaces ",
    "naïve café 検索 🙂",
    "C++ and C#",
    "a\tb\nc",
    "▁",
    "<b>bold</b> <- 3 <4 <0x0A> <!-- <div>",
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(tables: Path, static_embedder: StaticEmbedder, text: str):
    """Spaces, marks, scripts and signs that the model has no piece for."""
    assert QuickTokenizer(tables).tokens(text) == static_embedder._tokenizer.encode(text, add_special_tokens=False).ids


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=60)
    | st.lists(st.sampled_from(["the", "levain", "rises", "42", "é", "<s>", "<", "s>", "▁", "\n"])).map(" ".join)
)
def test_any_text(tables: Path, static_embedder: StaticEmbedder, text: str):
    """Same ids as the tokenizer's, or none where it has to be asked itself."""
    found = QuickTokenizer(tables).tokens(text)
    assert found is None or found == static_embedder._tokenizer.encode(text, add_special_tokens=False).ids
    assert found is not None or any(one in text for one in ("<s>", "</s>", "<unk>"))


def test_without_tables_or_with_broken_ones_the_tokenizer_is_asked(tmp_path: Path, tables: Path):
    """No answer rather than a wrong one; and a question has the same vector either way."""
    assert QuickTokenizer(tmp_path / "none.sqlite").tokens("levain") is None
    (tmp_path / "broken.sqlite").write_bytes(b"no database" * 100)
    assert QuickTokenizer(tmp_path / "broken.sqlite").tokens("levain") is None
    plain, quick = StaticEmbedder(), StaticEmbedder()
    plain.__dict__["_quick_file"], quick.__dict__["_quick_file"] = tmp_path / "none.sqlite", tables
    assert list(quick.embed_query("a levain rises")) == list(plain.embed_query("a levain rises"))
    assert "_tokenizer" not in quick.__dict__


def test_tables_that_stay_open_are_the_same_for_every_thread(tables: Path, monkeypatch):
    """However little stays known from one text to the next; let go of, they are opened again."""
    monkeypatch.setattr(quick_tokenizer, "_MOST_KNOWN", 5)
    kept = QuickTokenizer(tables)
    texts = [f"{word} {number}" for number in range(20) for word in ("a levain rises", "naïve café", "検索 🙂")]
    alone = [QuickTokenizer(tables).tokens(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(kept.tokens, texts)) == alone
    kept.close()
    assert kept.tokens(texts[0]) == alone[0]


def test_a_question_has_the_same_direction_with_numpy_and_without(static_embedder: StaticEmbedder):
    """Whatever the process loaded before: to the seventh digit."""
    for text in ("when are the radiators bled", "naïve café", " "):
        mapped = static_embedder._unit_sum(static_embedder._tokenizer.encode(text, add_special_tokens=False).ids)
        assert mapped.tolist() == pytest.approx(static_embedder.embed([text])[0].tolist(), abs=1e-6)
