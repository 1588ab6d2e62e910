"""What questions of other languages than English say when they ask for themes, for more detail, for what is near: data.

Each pattern stands for one of the kinds that `offline.question_rules` knows; a language is a row. A question that no
row knows is looked for as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Cues:
    """The patterns of one language, in lower case. `frame` is what only asks, `here` what means "this one".

    `times` gives by its English form what a time is called; a group in it is the year. `folder` says that only notes of
    a folder are meant: {name} stands for its name, in quotes, or bare up to one of the words `after_name`.
    """

    themes: str
    deeper: str
    out: str
    links: str
    related: str
    here: str
    frame: str
    folder: str
    after_name: str = ""
    times: Mapping[str, str] = field(default_factory=dict)
    is_spaced: bool = True


CUES: Final[Mapping[str, Cues]] = {
    "german": Cues(
        themes=r"(?:haupt)?themen",
        deeper=r"(?:geh(?:e)? )?tiefer|mehr details|genauer ins detail",
        out=r"(?:heraus|raus)zoomen|zoome? (?:heraus|raus)|(?:das )?große ganze|einen schritt zurück",
        links=r"was verlinkt|welche (?:notizen|links) (?:verweisen|führen)|rückverweise|wer verweist",
        related=r"verwandte?[nrs]?|ähnliche?[nrs]?|hängt|verbindet sich|verbunden|was passt",
        here=r"dies(?:e|er|es|em|en)?(?: (?:idee|notiz|gedanke|gedanken|abschnitt|hier))?|das hier|"
        r"damit|dazu|hiermit|hierher",
        frame=r"was (?:habe|weiß|denke|schrieb) ich|was gibt es|zeige? mir|finde|meine notizen|notizen|die ich|"
        r"geschrieben(?: habe)?|in meinem archiv|noch|zusammen|über|zum thema|was|mit|zu|in|habe|de[rnm]|die|das",
        folder=r"(?:im|in (?:meinem|dem)|aus (?:meinem|dem)|unter) (?:unter)?ordner {name}",
        after_name="über|zu|zum|zur|mit|die|das|der|von|seit|verwandt",
        times={"last year": r"(?:im )?letzte[nsm]? jahr(?:es)?", "last month": r"(?:im )?letzten monat",
               "last week": r"(?:in der )?letzte[nr]? woche", "yesterday": "gestern",
               "in": r"im jahr (\d{4})"},
    ),
    "french": Cues(
        themes=r"(?:grands |principaux )?thèmes(?: principaux)?",
        deeper=r"(?:va|vas|aller|allez) plus (?:loin|en profondeur)|approfondi[rsz]?\w*|plus de détails?",
        out=r"prends du recul|prendre du recul|vue d'ensemble|dézoome[rz]?",
        links=r"quels? (?:notes|liens) (?:mènent|pointent)|rétroliens|qui renvoie",
        related=r"liée?s?|connectée?s?|similaires?|se rapporte(?:nt)?|proches?|en rapport",
        here=r"cette (?:idée|note|section)|ce (?:paragraphe|passage)|celle?-ci|celui-ci|ceci|cela|ça",
        frame=r"qu'(?:est-ce que j'ai|ai-je)(?: écrit)?|que (?:sais|pense)-je|montre-moi|trouve|mes notes|"
        r"les notes|notes|que j'ai écrites?|dans mes archives|quoi d'autre|est|sont|les|sur|à propos d(?:e|u|es)|le|la|"
        r"l|dans|avec|de|à|se",
        folder=r"dans (?:mon|le) (?:dossier|répertoire) {name}|d(?:u|e mon) (?:dossier|répertoire) {name}",
        after_name="sur|à|au|de|que|qui|avec|depuis",
        times={"last year": r"l'(?:année|an) (?:dernière|dernier|passée?)", "last month": r"le mois (?:dernier|passé)",
               "last week": r"la semaine (?:dernière|passée)", "yesterday": "hier", "in": r"en (\d{4})"},
    ),
    "spanish": Cues(
        themes=r"(?:principales )?temas(?: principales)?",
        deeper=r"profundiza(?:r)?|más (?:a fondo|detalles?)",
        out=r"panorama general|da un paso atrás|aleja(?:r)?",
        links=r"qué (?:notas )?enlazan?|retroenlaces",
        related=r"relacionad[oa]s?|conecta(?:n)?|conectad[oa]s?|similares|parecid[oa]s?|se relaciona(?:n)?",
        here=r"est[ae] (?:idea|nota|sección|párrafo|tema)|est[aeo]|aquí",
        frame=r"qué (?:tengo|sé|escribí|pienso)|muéstrame|busca|mis notas|las notas|notas|que escribí|en mi archivo|"
        r"qué más|qué|el|la|los|las|sobre|acerca de|con|en|a|se",
        folder=r"(?:en|de) (?:mi|la) carpeta {name}",
        after_name="sobre|acerca|de|que|con|desde",
        times={"last year": r"el año pasado", "last month": r"el mes pasado", "last week": r"la semana pasada",
               "yesterday": "ayer", "in": r"en (?:el año )?(\d{4})"},
    ),
    "portuguese": Cues(
        themes=r"(?:principais )?temas(?: principais)?",
        deeper=r"aprofund(?:a|ar|e)(?:-se)?|mais (?:a fundo|detalhes?)",
        out=r"visão geral|dá um passo atrás|afasta(?:r)?",
        links=r"que notas (?:ligam|apontam)|ligações de volta",
        related=r"relacionad[oa]s?|conecta(?:m)?(?:-se)?|ligad[oa]s?|semelhantes?|parecid[oa]s?",
        here=r"n?est[ae] (?:ideia|nota|seção|secção|parágrafo)|n?est[ae]|n?isto|n?isso|aqui",
        frame=r"(?:o )?que (?:tenho|sei|escrevi|penso)|mostra-me|mostre-me|procura|minhas notas|as notas|notas|"
        r"que escrevi|no meu arquivo|(?:o )?que mais|o que|o|os|as|sobre|acerca de|com|em|a|se",
        folder=r"(?:na(?: minha)?|em minha|da(?: minha)?) pasta {name}",
        after_name="sobre|acerca|de|que|com|desde",
        times={"last year": r"(?:n?o )?ano passado", "last month": r"(?:n?o )?mês passado",
               "last week": r"(?:n?a )?semana passada", "yesterday": "ontem", "in": r"em (\d{4})"},
    ),
    "japanese": Cues(
        themes=r"(?:主な|主要な)?(?:テーマ|話題)",
        deeper=r"(?:もっと|さらに)?(?:詳しく|深く|掘り下げ\S*)",
        out=r"全体像|一歩引いて|ズームアウト",
        links=r"リンクしている(?:ノート|もの)|バックリンク",
        related=r"関連(?:する|した|のある)?|似た|似ている|つながる|つながって\S*",
        here=r"この(?:アイデア|考え|ノート|段落|節|メモ)|これ|ここ",
        frame=r"について(?:の)?(?:何が(?:あります|ある)か|何を(?:書い|知っ)\S*|教えて|のノート|のメモ)?|を見せて(?:ください)?|"
        r"(?:私の)?アーカイブの?|書いた|(?:他に|ほかに)?(?:何が|何を)|ノート|メモ|見て|して|ください|ますか|もの|に|の|は|を|が|か",
        folder=r"(?:私の)?(?:フォルダー?{name}|{name}(?:という)?フォルダー?)(?:の中)?(?:に|で|から)?(?:ある|の|は)?",
        times={"last year": "去年に?|昨年に?", "last month": "先月に?", "last week": "先週に?", "yesterday": "昨日",
               "in": r"(\d{4})年に?"},
        is_spaced=False,
    ),
    "chinese": Cues(
        themes=r"(?:主要)?(?:主题|主題)",
        deeper=r"(?:更)?深入(?:了解|看看)?|更多(?:细节|細節)|详细(?:看看|说明)",
        out=r"缩小|縮小|全局|退一步",
        links=r"(?:哪些|什么)(?:笔记|筆記)?(?:链接|連結)|反向(?:链接|連結)",
        related=r"相关|相關|有关联|类似|類似|(?:联系|連結|联系起来|关联)",
        here=r"(?:这|這)(?:个|個)?(?:想法|笔记|筆記|段落|一个|一個)?|此处",
        frame=r"(?:我)?(?:有|写过|寫過|知道)(?:哪些|什么|什麼)(?:关于|關於)?|关于|關於|给我看|給我看|显示|展示|"
        r"(?:的)?(?:笔记|筆記)|我的(?:档案|存档|知识库)?|我?写的|我?寫的|还有什么|還有什麼|什么|什麼|里|裡|与|與|和|跟|的|我",
        folder=r"(?:在(?:我的)?|我的)(?:(?:文件夹|文件夾|資料夾){name}|{name}(?:这个|這個)?(?:文件夹|文件夾|資料夾))"
        r"(?:里面|裡面|里|裡|中|下)?(?:的)?",
        times={"last year": "去年", "last month": "上个?月", "last week": "上周", "yesterday": "昨天",
               "in": r"(?:在)?(\d{4})年"},
        is_spaced=False,
    ),
}  # fmt: skip
_QUOTED: Final = r"[\"“”„«»「『] ?([^\"“”„«»「」『』]+?) ?[\"“”«»」』]"
# A bare name ends before what cannot belong to it: with spaces at a word, else at what follows names.
_BARE: Final = r"([\w./-]+(?: [\w./-]+)*?)(?=\s*(?:[?.,!:;]|$)|\s+(?:{after})\b)"
_BARE_UNSPACED: Final = r"([^\W\u3040-\u309f]+?)(?=文件|資料|フォルダ|[\u3040-\u309f里裡中下的\s?？。、，,]|$)"
_AROUND: Final = " \t\n?.!,;:¿¡？。！、，'’"
KINDS: Final = ("deeper", "out", "links", "related", "themes")  # as they are tried: "go deeper into this theme" goes in


@dataclass(frozen=True, slots=True)
class CuedQuestion:
    """A question as a row reads it: its kind, '' for what is only about something; its times in English."""

    kind: str
    subject: str
    is_here: bool
    time: str
    folder: str = ""


def read_cues(question: str) -> CuedQuestion | None:
    """The question by the language that knows most of its words; None where none knows what is asked."""
    found = [each for cues in CUES.values() if (each := _read(question, cues)) is not None]
    return min(found, key=lambda each: (len(each.subject), not each.is_here), default=None)


def _read(question: str, cues: Cues) -> CuedQuestion | None:
    time, rest = _timed(question, cues)
    folder, rest = _in_folder(rest, cues)
    kind = next((kind for kind in KINDS if _pattern(getattr(cues, kind), cues).search(rest)), "")
    frame = _pattern(cues.frame, cues)
    if not (kind or folder or _is_framed(rest, frame)):
        return None
    is_here = _pattern(cues.here, cues).search(rest) is not None
    words = [cues.here, *([getattr(cues, kind)] if kind else []), cues.frame]
    return CuedQuestion(kind, _bared(rest, [_pattern(each, cues).pattern for each in words]), is_here, time, folder)


def _bared(text: str, patterns: Sequence[str]) -> str:
    """The text without the words, at its beginning and its end, that only ask; within, they belong to the subject."""
    words = "|".join(f"(?:{pattern})" for pattern in patterns)
    ends = re.compile(rf"^(?:{words})|(?:{words})$", re.IGNORECASE)
    before, bare = None, text
    while bare != before:
        before = bare
        bare = ends.sub("", bare.strip(_AROUND))
    return " ".join(bare.split())


def _timed(question: str, cues: Cues) -> tuple[str, str]:
    """The first time that is named, in English, and the question without it."""
    for english, words in cues.times.items():
        found = _pattern(words, cues).search(question)
        if found is not None:
            year = next(iter(found.groups()), None)
            return f"{english} {year}" if year else english, _pattern(words, cues).sub(" ", question, count=1)
    return "", question


def _in_folder(question: str, cues: Cues) -> tuple[str, str]:
    """The folder that is named, and the question without it."""
    return named_folder(question, cues.folder, cues.after_name if cues.is_spaced else None)


def named_folder(question: str, words: str, after_name: str | None) -> tuple[str, str]:
    """The folder that a question names after `words`, and the question without it; '' where it names none.

    `words` and `after_name` as in `Cues`; None for a language without spaces.
    """
    found = _folder_pattern(words, after_name).search(question)
    if found is None:
        return "", question
    name = next((each for each in found.groups() if each), "")
    rest = question[: found.start()], question[found.end() :]
    return name, "".join(rest) if after_name is None else " ".join(" ".join(rest).split())


@cache
def _folder_pattern(words: str, after_name: str | None) -> re.Pattern[str]:
    bare = _BARE_UNSPACED if after_name is None else _BARE.replace("{after}", after_name)
    named = words.replace("{name}", f"(?:{_QUOTED}|{bare})")
    return re.compile(f"(?:{named})" if after_name is None else rf"(?<!\w)(?:{named})", re.IGNORECASE)


def _is_framed(text: str, frame: re.Pattern[str]) -> bool:
    """Whether the question begins with words of its language that only ask, or, without spaces, holds some of them."""
    return any(len(each) > 3 for each in _parts(text, frame))


def _parts(text: str, frame: re.Pattern[str]) -> Iterator[str]:
    for found in frame.finditer(text):
        if (found.start() == 0 and " " in found[0]) or (not found[0].isascii() and len(found[0]) > 3):
            yield found[0]


def _pattern(words: str, cues: Cues) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)" if cues.is_spaced else f"(?:{words})", re.IGNORECASE)
