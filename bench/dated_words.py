"""What `bench.dated` makes up notes, conversations and questions of, in four languages: data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Wording:
    """What a language has to say it with. In questions {who}, {what} and {when} stand for what is meant."""

    people: str
    things: Sequence[str]
    said: Sequence[str]  # of {what}, by {who}
    filler: Sequence[str]
    questions: Sequence[tuple[str, str, str]]  # of two wordings: with a time, of a planned day, without a time
    planned: str
    day: Sequence[str]
    month: Sequence[str]
    relative: Sequence[tuple[str, int, int]]  # what is said, and the days from today it begins and ends
    me: str


PEOPLE: Final = "Maria Tomasz Ines Jonas Priya Samuel Noor Elena Viktor Aiko"
ENGLISH: Final = Wording(
    people=PEOPLE,
    things=("greenhouse roof", "village hall", "cargo bike", "bakery lease", "choir tour", "water pump",
            "archive scans", "school garden", "ferry timetable", "stage lights", "honey harvest", "library shelves"),
    said=("{who} thinks the {what} will cost more than we hoped", "{who} has found somebody who can repair the {what}",
          "{who} wants to wait with the {what} until the money is there",
          "{who} measured everything for the {what} again",
          "{who} was not happy with how the {what} went", "{who} offered to look after the {what} alone",
          "{who} says that the {what} is finished but for the paint", "{who} asked the council about the {what}"),
    filler=("Rain in the night, eleven degrees.", "Soup for lunch, the last of the leeks.", "A long walk to the weir.",
            "Wrote letters until four.", "The neighbours were away.", "Slept badly."),
    questions=(("What did {who} say about the {what} {when}?", "What is planned for the {what} {when}?",
                "What did {who} say about the {what}?"),
               ("{when}, what was {who}'s opinion of the {what}?",
                "Which appointment do we have about the {what} {when}?", "{who}'s opinion of the {what}")),
    planned="The appointment about the {what} is {when}, bring the papers.",
    day=("on {d} {month}", "on {month} {d}", "on {iso}", "on {d} {month} {y}"),
    month=("in {month}", "in {month} {y}"),
    relative=(("yesterday", 1, 1), ("last week", 9, 3), ("last month", 42, 13), ("3 days ago", 3, 3)),
    me="I",
)  # fmt: skip
GERMAN: Final = Wording(
    people=PEOPLE,
    things=("Gewächshausdach", "Gemeindehaus", "Lastenrad", "Bäckereipacht", "Chorreise", "Wasserpumpe", "Archivbilder",
            "Schulgarten", "Fährplan", "Bühnenlicht", "Honigernte", "Bücherregale"),
    said=("{who} glaubt, dass {what} teurer wird als gehofft", "{who} kennt jemanden, der bei {what} helfen kann",
          "{who} will mit {what} warten, bis das Geld da ist", "{who} hat für {what} noch einmal alles vermessen",
          "{who} war mit {what} nicht zufrieden", "{who} kümmert sich allein um {what}",
          "{who} sagt, dass {what} bis auf die Farbe fertig ist", "{who} hat das Amt wegen {what} gefragt"),
    filler=("Regen in der Nacht, elf Grad.", "Mittags Suppe, der letzte Lauch.", "Ein langer Weg zum Wehr.",
            "Briefe geschrieben bis vier.", "Die Nachbarn waren fort.", "Schlecht geschlafen."),
    questions=(("Was hat {who} {when} über {what} gesagt?", "Was ist {when} für {what} geplant?",
                "Was hat {who} über {what} gesagt?"),
               ("{when}: {who} zu {what}", "Welchen Termin haben wir {when} wegen {what}?", "{who} zu {what}")),
    planned="Der Termin wegen {what} ist {when}, Papiere mitbringen.",
    day=("am {d}. {month}", "am {d}.{m}.{y}", "am {iso}", "am {d}. {month} {y}"),
    month=("im {month}", "im {month} {y}"),
    relative=(("gestern", 1, 1), ("letzte Woche", 9, 3), ("im letzten Monat", 42, 13), ("vor 3 Tagen", 3, 3)),
    me="ich",
)  # fmt: skip
FRENCH: Final = Wording(
    people=PEOPLE,
    things=("toit de la serre", "salle communale", "vélo cargo", "bail de la boulangerie", "tournée du chœur",
            "pompe à eau", "archives numérisées", "jardin de l'école", "horaire du bac", "éclairage de scène",
            "récolte du miel", "rayons de la bibliothèque"),
    said=("{who} pense que le prix sera plus haut : {what}", "{who} connaît quelqu'un qui peut réparer : {what}",
          "{who} veut attendre l'argent : {what}", "{who} a tout mesuré encore une fois : {what}",
          "{who} n'était pas content du résultat : {what}", "{who} veut s'en occuper seul : {what}",
          "{who} dit que tout est fini sauf la peinture : {what}", "{who} a demandé à la mairie : {what}"),
    filler=("Pluie dans la nuit, onze degrés.", "Soupe à midi, les derniers poireaux.", "Longue marche au barrage.",
            "Des lettres jusqu'à quatre heures.", "Les voisins étaient partis.", "Mal dormi."),
    questions=(("Qu'a dit {who} {when} sur : {what} ?", "Qu'est-ce qui est prévu {when} pour : {what} ?",
                "Qu'a dit {who} sur : {what} ?"),
               ("{when}, l'avis de {who} sur : {what}", "Quel rendez-vous {when} : {what} ?",
                "l'avis de {who} : {what}")),
    planned="Le rendez-vous pour {what} est {when}, apporter les papiers.",
    day=("le {d} {month}", "le {iso}", "le {d} {month} {y}"),
    month=("en {month}", "en {month} {y}"),
    relative=(("hier", 1, 1), ("la semaine dernière", 9, 3), ("le mois dernier", 42, 13), ("il y a 3 jours", 3, 3)),
    me="je",
)  # fmt: skip
CHINESE: Final = Wording(
    people="玛丽 托马 伊内 约翰 普丽 赛缪 努尔 叶莲 维克 爱子",
    things=("温室屋顶", "村礼堂", "货运自行车", "面包店租约", "合唱团巡演", "水泵", "档案扫描", "学校花园",
            "渡船时刻表", "舞台灯光", "蜂蜜采收", "图书馆书架"),
    said=("{who}认为{what}会比预想的贵", "{who}找到了能修{what}的人", "{who}想等钱到了再做{what}",
          "{who}又为{what}量了一遍",
          "{who}对{what}不太满意", "{who}愿意独自照看{what}", "{who}说{what}除了油漆都完成了",
          "{who}就{what}问了镇政府"),
    filler=("夜里下雨，十一度。", "午饭喝汤，最后的韭葱。", "走了很远到水坝。", "写信到四点。",
            "邻居不在家。", "没睡好。"),
    questions=(("{when}{who}关于{what}说了什么？", "{when}{what}有什么安排？", "{who}关于{what}说了什么？"),
               ("{who}{when}对{what}的看法", "{when}关于{what}的约会是什么", "{who}对{what}的看法")),
    planned="{what}的约会定在{when}，带上文件。",
    day=("{m}月{d}日", "{y}年{m}月{d}日"),
    month=("{m}月", "{y}年{m}月"),
    relative=(("昨天", 1, 1), ("上周", 9, 3), ("上个月", 42, 13)),
    me="我",
)  # fmt: skip
WORDINGS: Final[Mapping[str, Wording]] = {
    "english": ENGLISH, "german": GERMAN, "french": FRENCH, "chinese": CHINESE,
}  # fmt: skip
