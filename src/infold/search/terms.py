"""The keyword side of search: text to terms, and what each term of a question counts.

Pure functions. Keeping terms and ranking by BM25 belongs to `search.index.words`, what is indexed to
`catalogue.passages`.

A word gives its stem and, where they differ, the word itself, both without diacritics: a document stemmed in one
language is still found by a query taken for another. Scripts that put no space between words give pairs of signs.
Identifiers and numbers are kept whole and given in parts as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from infold.search.languages import DEFAULT_LANGUAGE, detect_language

VERSION: Final = "terms/4"  # part of the index's manifest: another tokeniser means another index

SURFACE_WEIGHT: Final = 0.3  # of the word as written, beside its stem, in a query
OTHER_LANGUAGE_WEIGHT: Final = 0.5  # of a stem in a language that is in the vault, but likely not the query's

Forms = tuple[tuple[str, ...], tuple[str, ...]]

_MARKS: Final = re.compile(r"[\u0300-\u036f]+")
# Scripts without spaces (and Hangul, whose particles cling to the word): Thai, Lao, Myanmar, Khmer, kana, Han, Hangul.
UNSPACED: Final = (
    r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
)
_TAIL: Final = r"(?:['’]{w}+)*(?:\+\+|\#(?!\w))?|\d+(?:[.,:/\-]\d+)+(?!\w)|{w}+"
_TOKEN: Final = re.compile(r"[^\W\d]\w*" + _TAIL.format(w=r"\w"))
_ASCII_TOKEN: Final = re.compile(_TOKEN.pattern, re.ASCII)  # which takes two thirds of the time
# Letters of the Indic and South East Asian scripts carry marks that `\w` leaves out.
_LETTER: Final = r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0e4e\u0e50-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3]"
_NUMBERS: Final = re.compile(r"\d+")
_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_IDENTIFIER: Final = re.compile(r"[^\W_]_+[^\W_]|[^\W\d_A-Z][A-Z]|[A-Z][A-Z][^\W\d_A-Z]{2}")
_PLAIN: Final = re.compile(r"[A-Za-z][a-z0-9]{0,199}|[A-Z0-9]{1,200}")  # of one term or two: its stem, and itself


def _kept(signs: str) -> bytes:
    """What makes every byte of ASCII that is no letter, no digit and none of these a space."""
    return bytes(code if code >= 0x80 or chr(code).isalnum() or chr(code) in signs else 32 for code in range(256))


# For cutting a text, as bytes, at signs that no token has.
_INNER: Final = _kept("_'+#")
_INNER_WITH_NUMBERS: Final = _kept("_'+#.,:/-")
_KINDS: Final = bytes(
    ord("0") if code >= 0x80 or chr(code).isdigit() else ord("." if chr(code) in ".,:/-" else " ")
    for code in range(256)
)
_NUMBER: Final = b"0.0"  # in these kinds: a number may have several parts
_TOUCHING: Final = (b". ", b", ", b": ")
_MARK: Final = "\0"  # which no term has
_QUOTES: Final = tuple(sign.encode() for sign in "“”—")

_ELIDED: Final = frozenset(["s", "t", "d", "m", "l", "n", "j", "c", "qu", "re", "ve", "ll"])
_RESPELT: Final = frozenset(["spanish", "portuguese"])  # see Encoder._spelt
_MAX_CACHED: Final = 200_000
_LONGEST_TERM: Final = 200  # characters; of what is longer only so much tells it from others


# Patterns of large scripts take milliseconds to make, and many a text has no sign of these.


@cache
def _marked() -> re.Pattern[str]:
    return re.compile(r"[\u0300-\u036f\u0900-\u0eff\u1000-\u109f\u1780-\u17ff]")


@cache
def _marked_token() -> re.Pattern[str]:
    return re.compile(r"[^\W\d]" + _LETTER + "*" + _TAIL.format(w=_LETTER))


@cache
def _scripts() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")


@cache
def _unspaced_sign() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]")


def _fold(word: str) -> str:
    """`word` without diacritics of the European scripts; other scripts keep their marks, which are letters there."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))


def is_unspaced(text: str) -> bool:
    """Whether any of `text` is in a script that puts no space between words."""
    return not text.isascii() and bool(_unspaced_sign().search(text))


def folded(word: str) -> str:
    """A word as terms have it beside its stem: in lower case, without diacritics of the European scripts."""
    return _fold(word.casefold())


def tokens(text: str) -> list[str]:
    """The tokens of `text` in order, with their capitals: words, identifiers, numbers, runs of unspaced script."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    text = unicodedata.normalize("NFKC", text)
    return (_marked_token() if _marked().search(text) else _TOKEN).findall(text)


def located(text: str) -> tuple[list[str], list[int]]:
    """The tokens of `text` in order, and where each starts; signs of another form than NFKC stay as they are."""
    pattern = _ASCII_TOKEN if text.isascii() else _marked_token() if _marked().search(text) else _TOKEN
    found = pattern.findall(text)
    starts = []
    at = 0
    for token in found:  # every sign that may begin a token is in one: the next such sign is the next
        at = text.index(token, at)
        starts.append(at)
        at += len(token)
    return found, starts


def _pieces(text: str) -> list[str]:
    """`text` in parts with the same tokens in the same order: cut at signs that no token has, where that is quicker.

    There are not many more different parts than there are tokens, so that most were met before.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if _marked().search(text):
            return _marked_token().findall(text)
    data = text.encode("utf-8", "surrogatepass")
    if _NUMBER not in data.translate(_KINDS):
        data = data.translate(_INNER)
    else:
        data = data.translate(_INNER_WITH_NUMBERS)
        for sign in _TOUCHING:
            data = data.replace(sign, b" ")
    if len(data) > len(text):
        for sign in _QUOTES:
            data = data.replace(sign, b" ")
    return data.decode("utf-8", "surrogatepass").split()


class _Met(dict[str, str]):
    """The terms of each piece met: the main ones, and where there are secondary ones, these between two marks.

    A space stands between two terms of a kind. All are looked up without a step of Python's own, and each piece once.
    """

    def __init__(self, encoder_: Encoder) -> None:
        super().__init__()
        self._encoder = encoder_

    def __missing__(self, piece: str) -> str:
        main, secondary = self._encoder.meet(piece)
        found = self[piece] = f"{main}{_MARK}{secondary}{_MARK}" if secondary else main
        return found

    def both(self, found: Sequence[str]) -> tuple[str, str]:
        """The main and the secondary terms of these pieces."""
        parts = " ".join(map(self.__getitem__, found)).split(_MARK)
        return "".join(parts[::2]), " ".join(parts[1::2])


class _Together(dict[str, tuple[str, ...]]):
    """All terms of each token met: looked up without a step of Python's own."""

    def __init__(self, encoder_: Encoder) -> None:
        super().__init__()
        self._encoder = encoder_

    def __missing__(self, token: str) -> tuple[str, ...]:
        main, secondary = self._encoder.forms(token)
        found = self[token] = main + secondary
        return found


class Encoder:
    """Turns tokens of one language into terms, remembering each token it has met."""

    def __init__(self, language: str) -> None:
        import Stemmer

        self.language = language
        stemmer = Stemmer.Stemmer(language, 0)  # which remembers nothing: what was met is kept here
        self._stem: Callable[[str], str] = stemmer.stemWord
        self._stems: Callable[[list[str]], list[str]] = stemmer.stemWords
        self._met = _Met(self)
        self._forms: dict[str, Forms] = {}
        self._together = _Together(self)

    def forms(self, token: str) -> Forms:
        """The terms of `token`: the main ones (stems, pairs of signs, whole numbers), then the secondary ones."""
        known = self._forms.get(token)
        if known is None:
            if len(self._forms) >= _MAX_CACHED:
                self._forms.clear()
            known = self._forms[token] = self.forms_of(token)
        return known

    def forms_of(self, token: str) -> Forms:
        """As `forms`, for whoever keeps them himself."""
        main: list[str] = []
        secondary: list[str] = []
        for run in (token,) if token.isascii() else _scripts().findall(token):
            self._analyse(run, main, secondary)
        return _short(main), _short(secondary)

    def forms_together(self, found: Sequence[str]) -> list[tuple[str, ...]]:
        """All terms of each of these tokens; those of plain words, as most are, are stemmed at once."""
        if self.language in _RESPELT:
            return [main + secondary for main, secondary in map(self.forms_of, found)]
        plain = [token.lower() if _PLAIN.fullmatch(token) else "" for token in found]
        stems = map(_fold, self._stems(plain))
        return [
            (stem, word) if stem else () if word else tuple(chain.from_iterable(self.forms_of(token)))
            for token, word, stem in zip(found, plain, stems, strict=True)
        ]

    def terms(self, found: Sequence[str]) -> list[str]:
        """The terms of these tokens in order: of each the main ones, then the secondary ones."""
        if len(self._together) + len(found) > _MAX_CACHED:
            self._together.clear()
        return list(chain.from_iterable(map(self._together.__getitem__, found)))

    def words(self, text: str) -> tuple[str, str]:
        """The main and the secondary terms of the tokens of `text`, in order, a space between two."""
        found = _pieces(text)
        if len(self._met) + len(found) > _MAX_CACHED:
            self._met.clear()
        return self._met.both(found)

    def meet(self, piece: str) -> tuple[str, str]:
        """The main terms of a piece met for the first time, and the secondary ones, a space between two."""
        if self.language not in _RESPELT and _PLAIN.fullmatch(piece):  # as most are: in a third of the time
            word = piece.lower()
            main = _fold(self._stem(word))
            return main, "" if word == main or not main else word
        if (found := tokens(piece)) == [piece]:
            stems, others = self.forms_of(piece)
            return " ".join(stems), " ".join(others)
        main, secondary = self._met.both(found)
        return " ".join(main.split()), secondary

    def _analyse(self, run: str, main: list[str], secondary: list[str]) -> None:
        if not run:
            return  # an apostrophe or a `++` on its own, between signs of an unspaced script
        if not run.isascii() and _unspaced_sign().match(run):
            main += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            if len(run) > 1:
                secondary += run
        elif run[-1] in "+#":
            if len(run.rstrip("+#")) == 1:
                main.append(run.casefold())
            self._analyse(run.rstrip("+#"), secondary if main else main, secondary)
        elif "'" in run or "’" in run:
            for part in run.replace("’", "'").split("'"):
                if part.casefold() not in _ELIDED:
                    self._analyse(part, main, secondary)
        elif run[0].isdigit() and not run.isalnum() and "_" not in run:
            main.append(run)
            secondary += _NUMBERS.findall(run)
        elif _IDENTIFIER.search(run):
            main.append(_fold(run.casefold()))
            for part in _PARTS.findall(run):
                self._word(part.casefold(), main, secondary)
        else:
            self._word(run.casefold().strip("_"), main, secondary)

    def _word(self, word: str, main: list[str], secondary: list[str]) -> None:
        plain, stem = _fold(word), _fold(self._stem(self._spelt(word)))
        if stem:
            main.append(stem)
            if stem != plain:
                secondary.append(plain)

    def _spelt(self, word: str) -> str:
        """`word` as the stemmer knows it: endings that people type without their marks have them again.

        Portuguese plurals that the stemmer leaves apart become singular: `pães` and `razões` are of `ão`.
        """
        if self.language == "spanish" and word.endswith("cion"):
            return f"{word[:-2]}ón"
        if self.language != "portuguese":
            return word
        if word.endswith("cao") and len(word) > len("cao"):
            return f"{word[:-3]}ção"
        if word.endswith("coes"):
            return f"{word[:-4]}ção"
        if word.endswith(("ões", "ães", "soes")):
            return f"{word[:-3]}ão"
        return word


def _short(found: list[str]) -> tuple[str, ...]:
    return tuple(term[:_LONGEST_TERM] for term in found)


_language_of: Final = lru_cache(maxsize=64)(detect_language)  # of a question, which is asked for several times


@lru_cache(maxsize=32)
def encoder(language: str) -> Encoder:
    """The one encoder of `language`."""
    return Encoder(language)


def terms(text: str, language: str | None = None) -> list[str]:
    """Every term of `text` as a document of `language` (by default the one it seems to be in), with repeats."""
    return encoder(language or detect_language(text)).terms(tokens(text))


def document_words(text: str, language: str = DEFAULT_LANGUAGE) -> tuple[str, str]:
    """The main terms of `text` and the secondary ones, in order and with repeats, a space between two."""
    return encoder(language).words(text)


def spoken_first(text: str, languages: Sequence[str]) -> str:
    """The language that a question is taken for: the commonest of the notes, unless it is plainly in another."""
    detected = _language_of(text)
    return languages[0] if languages and detected == DEFAULT_LANGUAGE else detected


def main_terms(text: str, language: str) -> list[str]:
    """The main terms of `text` in `language`, in order, with repeats."""
    forms = encoder(language).forms
    return [term for token in tokens(text) for term in forms(token)[0]]


def query_weights(text: str, languages: Sequence[str] = ()) -> dict[str, float]:
    """What to look for, and how much each term counts. `languages` are those of the notes searched, commonest first.

    A query is often too short to tell its language. Then it is taken for one in the commonest, and stemmed in the
    others too, for less. The word as written counts beside its stem; a single sign of an unspaced script when alone.
    """
    counted = Counter(tokens(text))
    detected = _language_of(text)
    first = spoken_first(text, languages)
    weights: dict[str, float] = {}
    for language in sorted({first, detected, DEFAULT_LANGUAGE, *languages}, key=lambda other: (other != first, other)):
        stem_weight = 1.0 if language == first else OTHER_LANGUAGE_WEIGHT
        found: dict[str, float] = {}
        for token, count in counted.items():
            main, secondary = encoder(language).forms(token)
            for term in main:
                found[term] = found.get(term, 0.0) + stem_weight * count
            if token.isascii() or not _unspaced_sign().match(token):
                for term in secondary:
                    weights[term] = max(weights.get(term, 0.0), SURFACE_WEIGHT * count)
        for term, weight in found.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return weights
