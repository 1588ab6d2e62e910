"""Tokens of a short text from two tables: the same as the tokenizer's own, whatever the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.embed.quick_tokenizer import make_quick, quick_file, quick_tokens
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
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(tables: Path, static_embedder: StaticEmbedder, text: str):
    """Spaces, marks, scripts and signs that the model has no piece for."""
    assert quick_tokens(tables, text) == static_embedder._tokenizer.encode(text, add_special_tokens=False).ids


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60) | st.lists(st.sampled_from(["the", "levain", "rises", "42", "é"])).map(" ".join))
def test_any_text(tables: Path, static_embedder: StaticEmbedder, text: str):
    """Same ids as the tokenizer's, or none where it has to be asked itself."""
    found = quick_tokens(tables, text)
    assert found is None or found == static_embedder._tokenizer.encode(text, add_special_tokens=False).ids
    assert found is not None or "<" in text


def test_without_tables_or_with_broken_ones_the_tokenizer_is_asked(tmp_path: Path, tables: Path):
    """No answer rather than a wrong one; and a question has the same vector either way."""
    assert quick_tokens(tmp_path / "none.sqlite", "levain") is None
    (tmp_path / "broken.sqlite").write_bytes(b"no database" * 100)
    assert quick_tokens(tmp_path / "broken.sqlite", "levain") is None
    plain, quick = StaticEmbedder(), StaticEmbedder()
    plain.__dict__["_quick_file"], quick.__dict__["_quick_file"] = tmp_path / "none.sqlite", tables
    assert list(quick.embed_query("a levain rises")) == list(plain.embed_query("a levain rises"))
    assert "_tokenizer" not in quick.__dict__
