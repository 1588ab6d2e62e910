"""Tokens of many texts, word by word: the same as the tokenizer gives of each text as a whole, whatever the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.embed import many_tokens
from infold.search.embed.many_tokens import ManyTokens
from infold.search.embed.static_embedder import StaticEmbedder

TEXTS = [
    "",
    " ",
    "\n",
    "\n\n a\n",
    "  two  spaces \nno space\n\t- x",
    "naïve café 検索 🙂",
    "<s>a</s> b",
    "a ▁ b",
    "a\r\nb",
]
PIECES = st.sampled_from(
    ["the", "levain", " ", "  ", "\n", "42", "é", "検", "<s>", "<", ">", "▁", "\t", "\r", ".", "-"]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=60) | st.lists(PIECES, max_size=20).map("".join), max_size=6))
def test_any_texts(static_embedder: StaticEmbedder, texts: list[str]):
    """Same ids in the same order, of texts asked for together."""
    tokenizer = static_embedder._tokenizer
    wanted = [tokenizer.encode(text, add_special_tokens=False).ids for text in (*texts, *TEXTS)]
    assert [ids.tolist() for ids in ManyTokens(tokenizer).of([*texts, *TEXTS])] == wanted


def test_words_are_forgotten_where_there_are_too_many(static_embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch):
    """What is held stays bounded, and the tokens the same."""
    monkeypatch.setattr(many_tokens, "_MOST_HELD", 100)
    tokenizer = static_embedder._tokenizer
    many = ManyTokens(tokenizer)
    for first in range(0, 2000, 20):
        text = " ".join(f"word{number}" for number in range(first, first + 20))
        (ids,) = many.of([text])
        assert ids.tolist() == tokenizer.encode(text, add_special_tokens=False).ids
        assert len(many._known) < 60


def test_no_token_goes_on_over_a_space_or_a_line_end(static_embedder: StaticEmbedder):
    """What the division into words rests on holds for the vocabulary as it is shipped."""
    file = Path(static_embedder._present(static_embedder._tokenizer_file))
    model = json.loads(file.read_text(encoding="utf-8"))["model"]
    assert not [token for token in model["vocab"] if "▁" in token.lstrip("▁") or "\n" in token]
    assert not [pair for pair in model["merges"] if "<0x" in pair]
    assert model["vocab"]["<0x0A>"] == many_tokens._LINE_END_ID
    assert len(model["vocab"]) < 2**16
