"""The five kinds of question in other languages than English, by rules; what no language knows is looked for."""

from __future__ import annotations

from datetime import date

import pytest

from infold.librarian.offline.question_cues import CUES, KINDS
from infold.librarian.offline.question_rules import planned
from infold.librarian.questions import PlanRequest

FIVE = {
    "german": (
        ("Was habe ich über Kompost?", "Kompost"),
        "Zeige mir die Hauptthemen in meinem Archiv",
        "Geh tiefer in diese Notiz",
        "Was hängt noch mit dieser Idee zusammen?",
        "Notizen verwandt damit, die ich letztes Jahr geschrieben habe",
    ),
    "french": (
        ("Qu'est-ce que j'ai écrit sur le compost ?", "compost"),
        "Montre-moi les thèmes principaux",
        "Va plus loin dans celle-ci",
        "Quoi d'autre est lié à cette idée ?",
        "Notes liées à ceci que j'ai écrites l'année dernière",
    ),
    "spanish": (
        ("¿Qué tengo sobre el compost?", "compost"),
        "Muéstrame los temas principales",
        "Profundiza en esta nota",
        "¿Qué más se conecta con esta idea?",
        "Notas relacionadas con esto que escribí el año pasado",
    ),
    "portuguese": (
        ("O que tenho sobre compostagem na terra?", "compostagem na terra"),
        "Mostra-me os temas principais",
        "Aprofunda esta nota",
        "O que mais se conecta com esta ideia?",
        "Notas relacionadas com isto que escrevi no ano passado",
    ),
    "japanese": (
        ("堆肥について何がありますか", "堆肥"),
        "主なテーマを見せて",
        "これをもっと詳しく",
        "このアイデアに関連するもの",
        "これに関連する去年書いたノート",
    ),
    "chinese": (
        ("我有哪些关于堆肥的笔记", "堆肥"),
        "显示我的主要主题",
        "深入了解这个",
        "还有什么与这个想法相关",
        "去年写的与这个相关的笔记",
    ),
}


def calls(question: str) -> list[tuple[str, str]]:
    return [(call.find, call.query) for call in planned(PlanRequest(question, date(2026, 3, 4), "Garden")).calls]


@pytest.mark.parametrize("language", FIVE)
def test_the_five_questions_in_each_language(language):
    """About a subject, themes, deeper, connected, and of last year: the same calls as in English."""
    (about, subject), themes, deeper, connected, last_year = FIVE[language]
    assert calls(about) == [("search", subject), ("explore", subject)]
    assert [calls(each) for each in (themes, deeper, connected)] == [
        [("themes", "")],
        [("zoom_in", "")],
        [("move", "")],
    ]
    (step,) = planned(PlanRequest(last_year, date(2026, 3, 4), "Garden")).calls
    assert (step.find, step.since, step.until) == ("move", date(2025, 1, 1), date(2025, 12, 31))


IN_A_FOLDER = {
    "english": (
        "What do I have in my garden folder about compost?",
        "What do I have about compost in the folder “My beds”?",
    ),
    "german": (
        "Was habe ich im Ordner Garten über Kompost?",
        "Was habe ich über Kompost in meinem Ordner „Meine Beete“?",
    ),
    "french": (
        "Qu'est-ce que j'ai écrit dans mon dossier jardin sur le compost ?",
        "Qu'est-ce que j'ai écrit sur le compost dans le dossier « mes plates-bandes » ?",
    ),
    "spanish": ("¿Qué tengo en mi carpeta huerto sobre el compost?", "¿Qué tengo sobre el compost en la carpeta «x»?"),
    "portuguese": (
        "O que tenho na pasta jardim sobre compostagem?",
        "O que tenho sobre compostagem na minha pasta “A B”?",
    ),
    "japanese": ("庭フォルダの堆肥について何がありますか", "堆肥についてフォルダ「私の庭」に何がありますか"),
    "chinese": ("在我的花园文件夹里我有哪些关于堆肥的笔记", "在文件夹“我的 花园”里我有哪些关于堆肥的笔记"),
}
NAMES = {
    "english": ("garden", "My beds"),
    "german": ("Garten", "Meine Beete"),
    "french": ("jardin", "mes plates-bandes"),
    "spanish": ("huerto", "x"),
    "portuguese": ("jardim", "A B"),
    "japanese": ("庭", "私の庭"),
    "chinese": ("花园", "我的 花园"),
}


@pytest.mark.parametrize("language", IN_A_FOLDER)
def test_a_folder_is_understood_in_each_language(language):
    """Bare before the subject, in quotes after it: the folder narrows what is looked for, and is no part of it."""
    subjects = (
        {"english": "compost"} | {name: five[0][1] for name, five in FIVE.items()} | {"portuguese": "compostagem"}
    )
    for question, name in zip(IN_A_FOLDER[language], NAMES[language], strict=True):
        plan = planned(PlanRequest(question, date(2026, 3, 4), "Garden"))
        assert {(call.query, call.folder) for call in plan.calls} == {(subjects[language], name)}


def test_every_row_understands_folders():
    """No language of the table is left out."""
    assert set(IN_A_FOLDER) == {"english", *CUES}


def test_every_language_of_the_table_is_shown_here():
    """A row that no question tests does not pass unseen; each row has a pattern for each kind."""
    assert set(FIVE) == set(CUES)
    assert all(getattr(cues, kind) for cues in CUES.values() for kind in KINDS)


@pytest.mark.parametrize(
    "question",
    [
        "Wie pflege ich Tomaten",
        "hva har jeg om kompost",
        "Ask me a question about a tema",
        "Что у меня есть о компосте",
    ],
)
def test_what_no_language_knows_is_looked_for_as_it_stands(question):
    """Nothing is guessed of a question without the words of its kind, or in a language without a row."""
    assert calls(question) == [("search", question), ("explore", question)]


def test_tags_and_years_narrow_in_other_languages_too():
    """As in English: the tag and the year are no words to look for."""
    found = planned(PlanRequest("Was habe ich im Jahr 2024 über Kompost #garten/beet", date(2026, 3, 4))).calls
    assert {(call.query, *call.tags, call.since, call.until) for call in found} == {
        ("Kompost", "garten/beet", date(2024, 1, 1), date(2024, 12, 31))
    }


def test_words_within_a_subject_stay():
    """Only what stands around the subject is what asks."""
    assert calls("Was habe ich über Wasser in der Leitung?")[0] == ("search", "Wasser in der Leitung")
    assert calls("生ごみの堆肥について教えて")[0] == ("search", "生ごみの堆肥")
