"""What was asked: the words to look for, and the phrases in quotes that a result must hold.

Pure functions over the text of a question. Looking for it belongs to `search.query.searcher`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from infold.search.terms import tokens

MOST_CHARACTERS: Final = 20_000  # of a question; what is beyond is not looked for

_PHRASE: Final = re.compile(r'"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»')
_QUOTES: Final = re.compile(r'["“”„«»]')
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
# What a person asks with, as against what they ask for. Left out only where other words are left.
_ASKING: Final = frozenset(
    """
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how i if
    in into is it its me my not of on or our she should so some that the their them then there these they this those to
    was we were what when where which who whom why will with would you your
    """.split()  # noqa: SIM905 - reads best as text
)


@dataclass(frozen=True, slots=True)
class Question:
    """`text` is all that was asked, without quotes; `keywords` the same without words that only ask.

    `loose` are the keywords outside phrases: what a snippet marks wherever it stands.
    """

    text: str
    keywords: str
    loose: str
    phrases: tuple[str, ...] = ()


def read_question(asked: str) -> Question:
    """The question in `asked`. Any text is one; a quote that is not closed is no phrase."""
    plain = _CONTROL.sub(" ", asked[:MOST_CHARACTERS])
    found = (unicodedata.normalize("NFC", next(filter(None, groups), "")) for groups in _PHRASE.findall(plain))
    phrases = tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in found if tokens(phrase)))
    text = " ".join(_QUOTES.sub(" ", plain).split())
    keywords = _keywords(text)
    if not phrases:
        return Question(text, keywords, keywords)
    outside = " ".join(_QUOTES.sub(" ", _PHRASE.sub(" ", plain)).split())
    return Question(text, text, _keywords(outside), phrases)


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Finds `phrase` in a text, runs of white space and case aside, as whole words."""
    words = phrase.split()
    pattern = r"\s+".join(re.escape(word) for word in words)
    before = r"(?<!\w)" if _is_spaced(words[0][0]) else ""
    after = r"(?!\w)" if _is_spaced(words[-1][-1]) else ""
    return re.compile(f"{before}{pattern}{after}", re.IGNORECASE)


def _keywords(text: str) -> str:
    """`text` without the words that only ask; all of it where there are no others."""
    words = text.split()
    told = [word for word in words if _says_something(word)]
    return " ".join(told) if told else text


def _says_something(word: str) -> bool:
    bare = word.strip(".,;:!?()[]{}…")
    if not bare or not tokens(bare):
        return False
    return bare.casefold() not in _ASKING or (len(bare) > 1 and bare.isupper())  # US and IT are no pronouns


def _is_spaced(sign: str) -> bool:
    """Whether the script of `sign` puts spaces between words, so that a phrase begins and ends where a word does."""
    return bool(re.match(r"\w", sign)) and sign < "\u0e00"
