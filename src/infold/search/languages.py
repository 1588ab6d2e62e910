"""Which language a text is in, told cheaply by its commonest words, among those that have a Snowball stemmer.

Good enough to choose a stemmer for a note; English where nothing speaks for another. Nothing here identifies a language
for people to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from infold.errors import SettingInvalid

DEFAULT_LANGUAGE: Final = "english"
AUTO: Final = "auto"  # each note in the language it seems to be in

_COMMON: Final[dict[str, str]] = {
    "english": "the of and to in is that it for was with as are this be by not or from which have you but they his if",
    "german": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es an aus er hat",
    "french": "le la les des et en du un une est que pour dans qui sur par pas au avec ce il sont plus ne se cette aux",
    "spanish": "el la de que y en los se del las por un para con una su al es lo como más pero sus este ha sin sobre",
    "portuguese": "o a de que e do da em um para é com não uma os no se na por mais as dos como mas foi ao das são à",
    "italian": "il di che e la in un per è una sono con non del le si da dei della alla nel più anche gli ha come lo",
    "catalan": "el la de que i en els les per un una amb és del no al més com són dels però aquest aquesta seva",
    "romanian": "de și în la cu pe nu un o este din care că să pentru mai sunt ca au fost prin sau al lui ce",
    "dutch": "de het een van en in is dat op te zijn voor met niet aan er om ook als maar bij uit door nog wordt deze",
    "danish": "og i at det er en til på de som med af for ikke der den har et fra jeg om ved kan skal også blev efter",
    "norwegian": "og i det er en til på som med av for ikke har et de fra jeg om kan den å vil også ved etter noe være",
    "swedish": "och i att det är en på som för av med den till inte har de ett om jag men var från kan när så också",
    "finnish": "ja on ei se että oli kun ovat myös mutta hän joka tai niin kuin ole sen mukaan jos vain sekä",
    "hungarian": "a az és hogy nem is egy ez van de meg csak mint már ki volt azt el vagy lehet ha még után",
    "polish": "i w na z się nie do to że jest o po jak za od ale dla przez są tego by tym ze być który która",
    "czech": "a v na se je že s z do to i o k ale jako za by pro jsou po jsem byl není nebo která který při",
    "turkish": "ve bir bu da de için ile ne olarak çok daha gibi olan kadar sonra en her değil ise ya ama var",
    "lithuanian": "ir kad yra į su iš tai kaip bet apie buvo dėl nuo ar už tik jo po pagal taip per",
    "estonian": "ja on ei et see oli kui ka oma aga või mis ta selle siis kes nii ning veel pärast",
    "basque": "eta da ez bat du zen dira ere izan baina hau dute dago egin edo zuen beste honetan",
    "irish": "an na agus ar a i go is do sé ní tá le bhí ag sin atá ach nó seo leis don",
    "indonesian": "yang dan di dari untuk dengan pada ini itu dalam tidak adalah ke akan oleh juga atau sebagai bisa",
    "esperanto": "la de kaj en estas al ne por kun el ke pri kiu sed ĝi aŭ ankaŭ kiel tiu esti per li",
    "russian": "и в не на что я с он как это по но из у за от о же так для все то был бы при только его",
    "serbian": "и у је да се на са су за од није као који што али из би то не до или",
    "greek": "και το η της του την να που με για τα είναι των από στο οι δεν τον ο στην ένα μια θα",
    "armenian": "և է որ են մեջ այդ իր համար նաև այս ու որը մի եւ թե բայց կամ",
    "arabic": "في من على أن إلى هذا عن التي مع لا ما كان هذه هو الذي أو كل بعد قد ذلك هي",
    "persian": "و در به از که این را با است برای آن یک تا می بر هم یا شد شده های",
    "hindi": "के का में की है और से को पर यह हैं ने कि एक भी नहीं लिए इस था करने",
    "nepali": "र छ को मा यो पनि हो गर्न भएको लागि गरेको छन् एक थियो तर हुन्छ",
    "tamil": "ஒரு இந்த மற்றும் என்று அது என இது அந்த அவர் இல்லை உள்ள தான்",
    "yiddish": "און די דער אין פון איז צו אַ מיט דאָס נישט האָט זיך אויף וואָס",
}  # fmt: skip

_OLD_STEMMERS: Final = frozenset(["porter", "dutch_porter", "lovins"])

_VOTES: Final[dict[str, tuple[str, ...]]] = {}
for _language, _words in _COMMON.items():
    for _word in _words.split():
        if len(_word) > 1:  # single letters are list marks and variables in every language
            _VOTES[_word] = (*_VOTES.get(_word, ()), _language)

# Signs that one of the languages has and no other that a note is likely to be in.
_SIGNS: Final = {
    sign: language
    for language, signs in {
        "portuguese": "ãõ",
        "german": "ß",
        "spanish": "ñ",
        "french": "œ",
        "polish": "łżźśń",
        "czech": "řěů",
        "hungarian": "őű",
        "romanian": "țș",
        "turkish": "ğış",
        "lithuanian": "ėųį",
        "catalan": "ŀ",
        "esperanto": "ĉĝĥĵŝŭ",
    }.items()
    for sign in signs
}
# Whole scripts, for text too short to tell: the language that most notes in the script are in.
_SCRIPTS: Final = (
    ("russian", r"[\u0400-\u052f]"),
    ("greek", r"[\u0370-\u03ff\u1f00-\u1fff]"),
    ("armenian", r"[\u0530-\u058f]"),
    ("yiddish", r"[\u0590-\u05ff]"),
    ("arabic", r"[\u0600-\u06ff]"),
    ("hindi", r"[\u0900-\u097f]"),
    ("tamil", r"[\u0b80-\u0bff]"),
)

_MARKS: Final = r"[\u0300-\u036f\u0591-\u06ed\u0900-\u0dff]"  # that may stand in a word, and are no letters
_WORDS: Final = re.compile(rf"[^\W\d_][^\W\d]*(?:{_MARKS}[^\W\d_]*)*")
_MARK: Final = re.compile(_MARKS)
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LETTERS: Final = bytes(code if code >= 0x80 or chr(code).isalpha() else 32 for code in range(256))
_READ_CHARACTERS: Final = 2000
_MIN_SHARE: Final = 0.12
_MIN_DISTINCT: Final = 3


def languages() -> tuple[str, ...]:
    """The Snowball names of all languages that words are stemmed in."""
    import Stemmer

    return tuple(sorted(set(Stemmer.algorithms()) - _OLD_STEMMERS))


def check_language(name: str) -> None:
    """Raises SettingInvalid, with the names there are, where `search.language` is neither `auto` nor one of them."""
    if name != AUTO and name not in languages():
        raise SettingInvalid(
            f"Setting search.language: there is no language {name!r}.",
            hint=f"Use auto, or one of {', '.join(languages())}.",
        )


def is_stop_word(word: str) -> bool:
    """Whether a lower-case word is among the commonest of any of these languages, so that it tells of nothing."""
    return word in _VOTES


def detect_language(text: str) -> str:
    """The Snowball name of the language of `text`, judged by its first pages; English where it cannot be told.

    Another language must have a clear share of its own commonest words (or of words with a sign of its own) in the
    text, more of them than English has. Where the words do not tell, a script other than the Latin one may.
    """
    text = text[:_READ_CHARACTERS].casefold()
    is_ascii = text.isascii()
    words = _words_of(text)
    total = len(words)
    found = Counter(filter(_VOTES.__contains__, words) if is_ascii else words)
    share: dict[str, float] = {}
    distinct: dict[str, int] = {}
    for word in filter(_VOTES.__contains__, found):
        own = found[word] / total
        for language in _VOTES[word]:
            share[language] = share.get(language, 0.0) + own
            distinct[language] = distinct.get(language, 0) + 1
    others = [] if is_ascii else [word for word in found if not word.isascii()]
    for word in others:
        for language in {_SIGNS[sign] for sign in word if sign in _SIGNS}:
            share[language] = share.get(language, 0.0) + found[word] / total
            distinct[language] = distinct.get(language, 0) + 1
    english = share.get(DEFAULT_LANGUAGE, 0.0)
    best = max(share, key=lambda language: (share[language], distinct[language]), default=DEFAULT_LANGUAGE)
    if share.get(best, 0.0) < max(_MIN_SHARE, english * 1.5) or distinct.get(best, 0) < _MIN_DISTINCT:
        return _by_script(found, others, total)
    return best


def _words_of(text: str) -> list[str]:
    """The words of case-folded text: what stands between signs that are no letters, where there are no others yet."""
    if "_" in text:  # which may stand in a word, but begins none
        return _WORDS.findall(text)
    if not text.isascii():
        for sign in set(_BEYOND_ASCII.findall(text)):
            if not sign.isalpha():
                if sign.isalnum() or _MARK.match(sign):
                    return _WORDS.findall(text)
                text = text.replace(sign, " ")
    return text.encode("utf-8", "surrogatepass").translate(_LETTERS).decode("utf-8", "surrogatepass").split()


def _by_script(found: Counter[str], words: Sequence[str], total: int) -> str:
    """The language of a script that most of what was found is in; `words` are those with signs that are not ASCII."""
    if 2 * sum(map(found.__getitem__, words)) <= total:
        return DEFAULT_LANGUAGE
    for language, signs in _SCRIPTS:
        if 2 * sum(found[word] for word in words if re.match(signs, word)) > total:
            return language
    return DEFAULT_LANGUAGE
