"""The bundled model's tokens of much text: each word, with the spaces before it, goes to the tokenizer once.

No token of that model has a space or a line end behind another sign, and only what makes a token is merged: so a word
has the same tokens wherever it stands.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

_OWN: Final = re.compile("<s>|</s>|<unk>|▁")  # tokens written out, and the model's space: such a text is read whole
WORD: Final = re.compile(r" +[^ \n]*|\n|[^ \n]+")  # with the spaces before it, or the end of a line
_LINE_END: Final = "\n"
_LINE_END_ID: Final = 13
_AT_ONCE: Final = 200  # words in one text for the tokenizer
_MOST_HELD: Final = 2_000_000  # characters of words that are known
_IDS: Final = "H"  # 16 bits are enough for an id of this model


class ManyTokens:
    """The ids of the tokens of many texts, by a tokenizer that puts none around them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, bytes] = {}
        self._held = _MOST_HELD + 1  # begins with the first texts

    def of(self, texts: Sequence[str]) -> Iterator[npt.NDArray[np.uint16]]:
        """The ids of each text, as the tokenizer gives them."""
        import numpy as np

        words = [WORD.findall(f" {text}") if text and not _OWN.search(text) else [] for text in texts]
        known = self._learnt(words)
        for text, found in zip(texts, words, strict=True):
            if found:
                ids = b"".join(map(known.__getitem__, found))
            else:
                ids = array(_IDS, self._tokenizer.encode(text, add_special_tokens=False).ids).tobytes()
            yield np.frombuffer(ids, dtype=np.uint16)

    def _learnt(self, words: Sequence[Sequence[str]]) -> dict[str, bytes]:
        """The ids of these words among others; not of those met before, where there are too many."""
        if self._held > _MOST_HELD:  # another dict, for another thread may be reading this one
            self._known, self._held = {_LINE_END: array(_IDS, [_LINE_END_ID]).tobytes()}, 0
        known = self._known
        new = [*dict.fromkeys(filterfalse(known.__contains__, chain.from_iterable(words)))]
        self._held += sum(map(len, new))
        lines = [new[first : first + _AT_ONCE] for first in range(0, len(new), _AT_ONCE)]
        texts = [_LINE_END.join(("", *some)) for some in lines]
        for some, encoding in zip(
            lines, self._tokenizer.encode_batch_fast(texts, add_special_tokens=False), strict=True
        ):
            ids = [*encoding.ids, _LINE_END_ID]
            at = ids.index(_LINE_END_ID) + 1  # what stands before is the space that the model begins each text with
            for word in some:
                end = ids.index(_LINE_END_ID, at)
                known[word] = array(_IDS, ids[at:end]).tobytes()
                at = end + 1
        return known
