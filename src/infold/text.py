"""Words, tokens, hashes and white space: the measures every other module shares.

Pure functions over strings. What a *passage token for search* is belongs to `search.terms`.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import cache
from typing import Final

CHARACTERS_PER_TOKEN: Final = 4

# A word is a run of letters, digits or marks, with inner apostrophes and hyphens; each CJK sign counts as one,
# because those scripts put no space between words.
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+(?:['\-][A-Za-z0-9]+)*")  # the same words, found 1.7 times as fast
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
# What a word count needs of each byte: part of a word, a sign that may join two parts, or neither.
_KINDS: Final = bytes(
    ord("a") if chr(code).isalnum() and code < 0x80 else ord("-") if chr(code) in "'-" else ord(" ")
    for code in range(256)
)
_MANY_SIGNS: Final = 24  # different signs beyond ASCII from which searching for words is faster than replacing signs
LONGEST_RUN: Final = 512  # signs without a space that are still read: longer ones are data, not language
_RUN: Final = re.compile("[!-~\u00a1-\u024f]+")  # of scripts that put spaces between words


@cache
def word_pattern() -> re.Pattern[str]:
    """What a word is, as a pattern; made when it is first asked for, which takes milliseconds."""
    return re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’\-][^\W_{_CJK}]+)*")


@cache
def _cjk_sign() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]")


@cache
def _sentence_end() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[\"'“‘(\[*_]*[^\sa-z])|(?<=[。！？])\s*|\n\s*\n")


def token_count(text: str) -> int:
    """The number of tokens of `text`: a quarter of its characters, rounded up (DESIGN, Words)."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def words(text: str) -> list[str]:
    """The words of `text` in order, as written."""
    return (_ASCII_WORD if text.isascii() else word_pattern()).findall(text)


def word_count(text: str) -> int:
    """How many words `text` has: where they begin is counted, five times as fast as finding them."""
    if not text.isascii():
        signs = set[str]().union(*_BEYOND_ASCII.findall(text))
        if len(signs) > _MANY_SIGNS:
            return len(words(text))
        for sign in signs:
            text = text.replace(sign, _kind(sign))
    kinds = text.encode().translate(_KINDS)
    return kinds.count(b" a") + kinds.count(b" -a") + kinds.count(b"--a") + kinds.startswith((b"a", b"-a"))


def _kind(sign: str) -> str:
    """ASCII that counts as the sign does: a part of a word, a sign between two, a word of its own, or nothing."""
    if sign == "’":
        return "-"
    if word_pattern().fullmatch(sign) is None:
        return " "
    return " a " if _cjk_sign().fullmatch(sign) else "a"


def counted(number: int, noun: str) -> str:
    """How many, in words that fit: "1 note", "2,000 notes"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def folded_words(text: str) -> list[str]:
    """The words of `text` in order, case-folded: what two texts are compared by."""
    return words(text.casefold())


def collapse_spaces(text: str) -> str:
    """`text` with every run of white space as one space and none at the ends."""
    return " ".join(text.split())


def without_runs(text: str) -> str:
    """`text` with each run of more than LONGEST_RUN signs without a space as one space.

    Such are data URIs, base64, hex and minified code: nobody searches for what is in them, and splitting them into
    words or tokens takes time that grows faster than they do. Scripts without spaces have no such runs.
    """
    if not _may_have_runs(text) or max(map(len, text.split()), default=0) <= LONGEST_RUN:
        return text
    return _RUN.sub(lambda run: " " if len(run[0]) > LONGEST_RUN else run[0], text)


def _may_have_runs(text: str) -> bool:
    """Whether a part of `text` is one word: a longer run holds at least one of these parts. Ten times as fast."""
    part = LONGEST_RUN // 2
    return any(len(text[at : at + part].split(None, 1)) < 2 for at in range(0, len(text) - part, part))


def sentences(text: str) -> list[str]:
    """The sentences of prose `text`, stripped, empty ones left out.

    A sentence ends at a full stop, question or exclamation mark before a capital, or at a blank line; in CJK at 。！？.
    """
    return [s for s in (collapse_spaces(part) for part in _sentence_end().split(text) if part) if s]


def content_hash(data: bytes | str) -> str:
    """SHA-256 of the bytes (of the UTF-8 form of a string), in hex: the identity of a content."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def fenced(text: str, *, label: str, origin: str) -> str:
    """`text` between two lines that it cannot contain, with a label and its origin.

    Text is data, never instruction (DESIGN, promise 8): what stands between the lines can neither close the fence nor
    forge another. The mark is derived from the text, so that equal text gives equal bytes and prompt caches hit.
    """
    mark = content_hash(text)[:12]
    return f"<<<{label} {mark} origin={origin}>>>\n{text}\n<<<end {mark}>>>"
