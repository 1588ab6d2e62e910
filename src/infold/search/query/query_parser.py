"""What was asked: the words to look for, and what a result must and must not be.

| written | asks for |
|---|---|
| `"words in quotes"` | a result that has them as they stand |
| `-word`, `-"some words"` | none that has the word, in any form of it, or the words as they stand |
| `stor*` | a result with a word that begins so |
| `tag:work`, `-tag:work` | what has the tag, or one below it; what has not |
| `path:garden`, `path:"some folder"`, `-path:garden` | what lies in the folder, or is the note; what does not |

Pure functions over the text of a question. Any text is a question, and what is no operator is text: `--force`, `-n`,
`-5`, a quote that is not closed. Looking for it belongs to `search.query.searcher`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from infold.search.index.contract import Filter
from infold.search.terms import is_unspaced, tokens

MOST_CHARACTERS: Final = 20_000  # of a question; what is beyond is not looked for
MOST_WORDS: Final = 20  # of a question about a time; a longer text somebody wrote, and its times are its own
# The first three letters of months, weekdays and what else names a time in `vault.date_words`.
TIME_BEGINNINGS: Final = frozenset(
    """
    abr ago an ann ano ant aoû apr aug auj ava avr aye año day dec dez dia dic die dim dom don déc día ene feb
    fev fre fri fév ges heu hie hoj hoy hui jah jan jeu jou jue jui jul jun jän lun mai mar may mer mes mit mié
    moi mon mär mês nov oct okt ont out qua qui sam sat seg sem sep set sex son sun sáb tag ter thu tod tue ven
    vie vor wed wee woc yea yes
    """.split()  # noqa: SIM905 - reads best as text
)
_TIME_SIGNS: Final = frozenset("月日天年周週期曜昨今去先前おと")

_QUOTED: Final = r'(?:"(?P<a{n}>[^"]*)"|“(?P<b{n}>[^”]*)”|„(?P<c{n}>[^“”]*)[“”]|«(?P<d{n}>[^»]*)»)'
_OPERATOR: Final = re.compile(
    rf"(?<!\S)(?P<not>-)?(?P<field>tag|path):(?:{_QUOTED.format(n=1)}|(?P<value>[^\s\"“„«]+))"
    rf"|(?P<minus>(?<!\S)-)?{_QUOTED.format(n=2)}"
    r"|(?<!\S)-(?P<word>[^\W\d][^\s\"“”„«»]*)"
    r"|(?<!\S)(?P<begins>[^\s\"“”„«»*]+)\*(?!\S)",
    re.IGNORECASE,
)
_QUOTES: Final = re.compile(r'["“”„«»]')
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_AROUND: Final = ".,;:!?()[]{}…"
_LEAST_BEGINNING: Final = 2  # letters of the beginning of a word
# What a person asks with, as against what they ask for. Left out only where other words are left.
_ASKING: Final = frozenset(
    """
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how i if
    in into is it its me my not of on or our she should so some that the their them then there these they this those to
    was we were what when where which who whom why will with would you your
    """.split()  # noqa: SIM905 - reads best as text
)


class Question(NamedTuple):
    """`text` is all that was asked for, without quotes and operators; `keywords` the same without words that only ask.

    `loose` are the keywords outside phrases: what a snippet marks wherever it stands. A result has every one of
    `phrases` and a word for each of `beginnings`, and none of `absent`. `tags` are all to be met, `folders` by any.
    """

    text: str
    keywords: str
    loose: str
    phrases: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()  # words and phrases
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    absent_tags: tuple[str, ...] = ()
    absent_folders: tuple[str, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing to look for, and only something to narrow it by, if that."""
        return not self.beginnings and not tokens(self.text)

    @property
    def is_plain(self) -> bool:
        """Whether it has words alone, which any result may hold or not."""
        return not (self.phrases or self.beginnings or self.absent or self.narrows)

    @property
    def narrows(self) -> bool:
        """Whether it says which notes to look at."""
        return bool(self.tags or self.folders or self.absent_tags or self.absent_folders)

    def narrowed(self, where: Filter) -> Filter:
        """`where`, and what the question says of tags and folders, as far as a filter says it: not what must not be."""
        folders = tuple(way for folder in self.folders for way in (folder, f"{folder}.md"))
        return where._replace(tags=(*where.tags, *self.tags), prefixes=where.prefixes or folders)


def read_question(asked: str) -> Question:
    """The question in `asked`. Any text is one."""
    plain = _CONTROL.sub(" ", asked[:MOST_CHARACTERS])
    found: dict[str, dict[str, None]] = {}
    outside = within = ""
    at = 0
    for match in _OPERATOR.finditer(plain):
        kind, value = _meaning(match)
        text = plain[at : match.start()]
        at = match.end()
        if not kind:
            text += match[0]
        elif value:
            found.setdefault(kind, {}).setdefault(value)
        outside += f"{text} "
        within += f"{text} {value if kind == 'phrases' else ''} "
    outside, within = (" ".join(_QUOTES.sub(" ", part + plain[at:]).split()) for part in (outside, within))
    operators = {kind: tuple(values) for kind, values in found.items()}
    keywords = within if "phrases" in operators else _keywords(within)
    return Question(within, keywords, _keywords(outside) if "phrases" in operators else keywords, **operators)


def as_text(text: str) -> str:
    """`text` as a question that has no operators: for text that nobody wrote as a question."""
    return " ".join(_OPERATOR.sub(lambda match: " ".join(tokens(match[0])), _QUOTES.sub(" ", text)).split())


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Finds `phrase` in a text, runs of white space and case aside, as whole words."""
    words = phrase.split()
    pattern = r"\s+".join(re.escape(word) for word in words)
    before = r"(?<!\w)" if _is_spaced(words[0][0]) else ""
    after = r"(?!\w)" if _is_spaced(words[-1][-1]) else ""
    return re.compile(f"{before}{pattern}{after}", re.IGNORECASE)


def _meaning(match: re.Match[str]) -> tuple[str, str]:
    """What an operator asks for (a field of Question, "" for plain text) and its value, "" where it has none."""
    value = next(filter(None, (match[name] for name in _VALUES)), "")
    value = " ".join(unicodedata.normalize("NFC", value).split())
    if match["field"]:
        kind = "tags" if match["field"].casefold() == "tag" else "folders"
        bare = value.strip("#/").casefold() if kind == "tags" else value.removeprefix("./").strip("/")
        return f"absent_{kind}" if match["not"] else kind, bare
    if match["begins"] is not None:
        return _beginning(value)
    if match["word"] is not None:
        value = value.rstrip(".,;:!?)]}…")
        return ("absent" if len(value) > 1 or is_unspaced(value) else ""), value
    if not tokens(value):
        return ("absent" if match["minus"] else ""), ""
    return ("absent" if match["minus"] else "phrases"), value


_VALUES: Final = ("value", "word", "begins", *(f"{kind}{n}" for n in (1, 2) for kind in "abcd"))


def _beginning(value: str) -> tuple[str, str]:
    """The beginning of one word; of a script without spaces, signs that stand so anywhere; else plain text."""
    if tokens(value) != [value] or len(value) < _LEAST_BEGINNING:
        return "", ""
    return ("phrases" if is_unspaced(value) else "beginnings"), value


def may_name_time(text: str) -> bool:
    """Whether a text is short enough for a question, and has a number or a word that begins as one of a time does."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    if len(words) > MOST_WORDS:
        return False
    return any(word[:3] in TIME_BEGINNINGS or word[0].isdecimal() or not _TIME_SIGNS.isdisjoint(word) for word in words)


def bare_words(text: str) -> list[str]:
    """The words of `text` that do not only ask, in lower case; none where there are no others."""
    return [word.strip(_AROUND).casefold() for word in text.split() if _says_something(word)]


def _keywords(text: str) -> str:
    """`text` without the words that only ask; all of it where there are no others."""
    words = text.split()
    told = [word for word in words if _says_something(word)]
    return " ".join(told) if told else text


def _says_something(word: str) -> bool:
    bare = word.strip(_AROUND)
    if not bare or not tokens(bare):
        return False
    return bare.casefold() not in _ASKING or (len(bare) > 1 and bare.isupper())  # US and IT are no pronouns


def _is_spaced(sign: str) -> bool:
    """Whether the script of `sign` puts spaces between words, so that a phrase begins and ends where a word does."""
    return bool(re.match(r"\w", sign)) and sign < "\u0e00"
