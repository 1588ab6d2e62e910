"""How times are called in the languages that questions are asked in: data for `vault.named_times`.

A language is a row, in lower case; `|` parts two ways to say one thing. A month counts alone only after one of `within`
or of the words that bound a time ("in may"), else beside the number of its day or year.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class DateWords:
    """One language. `months` from January, `weekdays` from Monday, a space between two; `units` week, month, year.

    In `last`, `this` and `ago` {unit} and {number} stand for a unit and how many of it. `on` stands before a weekday.
    """

    months: str
    weekdays: str
    units: tuple[str, str, str]
    days: str
    last: str
    this: str
    ago: str
    today: str
    yesterday: str
    day_before: str
    within: str
    since: str
    after: str
    before: str
    until: str
    on: str


DATE_WORDS: Final[Mapping[str, DateWords]] = {
    "english": DateWords(
        months="january february march april may june july august september october november december",
        weekdays="monday tuesday wednesday thursday friday saturday sunday",
        units=("weeks?", "months?", "years?"), days="days?",
        last="last {unit}", this="this {unit}", ago="{number} {unit} ago",
        today="today", yesterday="yesterday", day_before="the day before yesterday",
        within="in|of|during|from|last", since="since", after="after", before="before", until="until|till",
        on="on|last",
    ),
    "german": DateWords(
        months="januar|jänner februar märz april mai juni juli august september oktober november dezember",
        weekdays="montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
        units=("wochen?", "monat(?:en|s)?", "jahr(?:en|es)?"), days="tag(?:en)?",
        last="(?:letzte|vorige|vergangene)[nrsm]? {unit}", this="diese[nrsm]? {unit}", ago="vor {number} {unit}",
        today="heute", yesterday="gestern", day_before="vorgestern",
        within="im|vom|letzten|vorigen", since="seit(?: dem)?", after="nach(?: dem)?", before="vor(?: dem)?",
        until="bis(?: zum)?", on="am|letzten|vorigen|vergangenen",
    ),
    "french": DateWords(
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
        units=("semaines?", "mois", "ans?|années?"), days="jours?",
        last="{unit} (?:derni[eè]re?|passée?)", this="ce(?:tte)? {unit}", ago="il y a {number} {unit}",
        today="aujourd['’]hui", yesterday="hier", day_before="avant-hier",
        within="en|au mois de|de", since="depuis(?: le)?", after="après(?: le)?", before="avant(?: le)?",
        until="jusqu['’](?:au|à)", on="le|ce",
    ),
    "spanish": DateWords(
        months="enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
        weekdays="lunes martes miércoles jueves viernes sábado domingo",
        units=("semanas?", "mes(?:es)?", "años?"), days="días?",
        last="{unit} pasad[oa]", this="est[ea] {unit}", ago="hace {number} {unit}",
        today="hoy", yesterday="ayer", day_before="anteayer",
        within="en|de", since="desde(?: el)?", after="después del?", before="antes del?", until="hasta(?: el)?",
        on="el|este",
    ),
    "portuguese": DateWords(
        months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        weekdays="segunda(?:-feira)? terça(?:-feira)? quarta(?:-feira)? quinta(?:-feira)? sexta(?:-feira)? sábado "
        "domingo",
        units=("semanas?", "mês|mes(?:es)?", "anos?"), days="dias?",
        last="{unit} passad[oa]", this="n?est[ea] {unit}", ago="há {number} {unit}",
        today="hoje", yesterday="ontem", day_before="anteontem",
        within="em|de", since="desde(?: o)?", after="depois de|após(?: o)?", before="antes de", until="até(?: o)?",
        on="na|no",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateSigns:
    """The same of languages without spaces between words, in characters of either; what bounds a time follows it."""

    weekdays: str
    last: tuple[str, str, str]  # week, month, year
    this: tuple[str, str, str]
    today: str
    yesterday: str
    day_before: str
    since: str
    after: str
    before: str


DATE_SIGNS: Final = DateSigns(  # Chinese and Japanese
    weekdays="[一月] [二火] [三水] [四木] [五金] [六土] [日天]",
    last=("上个?[周星]期?|上個?[週星]期?|先週", "上个?月|上個月|先月", "去年|昨年"),
    this=("[这本]周|[這本今]週", "这个月|本月|這個月|今月", "今年"),
    today="今天|今日", yesterday="昨天|昨日", day_before="前天|一昨日|おととい",
    since="以来|以來|から", after="[之以]后|[之以]後|より?後|の後", before="[之以]前|より?前|の前",
)  # fmt: skip
