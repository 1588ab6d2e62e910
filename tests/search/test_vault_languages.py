"""Vaults in many languages are searchable: words are found in other forms, and signs without spaces between them."""

from __future__ import annotations

import contextlib

import pytest

from infold.search.embed.no_embedder import NO_EMBEDDER

CHINESE = {
    "面包.md": "# 面包\n\n天然酵母需要一整夜才能发酵。第二天早上把面团放进烤箱，用二百五十度烤四十分钟。\n",
    "菜园.md": "# 菜园\n\n番茄喜欢阳光，也需要支架。每天早上在根部浇水，叶子要保持干燥。\n",
    "会议/周一.md": "# 周一会议\n\n我们决定把数据库迁移到新的服务器，由李明负责，下个月完成。\n",
    "阅读.md": "# 阅读笔记\n\n这本书讨论全文搜索引擎怎样处理没有空格的文字。\n",
}
PORTUGUESE = {
    "pão.md": "# Pão\n\nO fermento natural precisa de uma noite inteira para crescer. Assamos os pães de manhã cedo.\n",
    "horta.md": "# Horta\n\nOs tomateiros gostam de sol e de estacas. Regamos as raízes todos os dias, não as folhas.\n",
    "reunião.md": "# Reunião de segunda\n\nDecidimos migrar a base de dados. A Sara ficou responsável pelas migrações.\n",
    "leitura.md": "# Leitura\n\nEste livro fala dos corações partidos e das canções que os marinheiros cantavam.\n",
}
OTHERS = {
    "日本語.md": "# 検索\n\n全文検索は、単語の間に空白がない文章でも使えなければならない。\n",
    "한국어.md": "# 회의\n\n다음 주 회의에서는 데이터베이스를 옮기는 계획을 이야기합니다.\n",
    "русский.md": "# Хлеб\n\nДля хлеба нужна закваска, и она должна стоять всю ночь. Утром мы печём булки.\n",
    "deutsch.md": "# Garten\n\nDie Tomaten brauchen Sonne und Stäbe. Wir gießen die Wurzeln und nicht die Blätter.\n",
    "ไทย.md": "# สวน\n\nมะเขือเทศชอบแสงแดดและต้องการน้ำทุกเช้า\n",
    "हिन्दी.md": "# रोटी\n\nरोटी के लिए आटा और पानी चाहिए, और यह रात भर रखा जाता है।\n",
    "العربية.md": "# الخبز\n\nيحتاج الخبز إلى خميرة طبيعية، ثم نخبز في الصباح من كل يوم.\n",
    "ελληνικά.md": "# Κήπος\n\nΟι ντομάτες θέλουν ήλιο και νερό στις ρίζες τους κάθε πρωί, όχι στα φύλλα.\n",
}


def fill(place, notes: dict[str, str]) -> None:
    """The vault holds these notes alone, without vectors, and is synced."""
    for file in sorted(place.vault.rglob("*.md")):
        file.unlink()
    place.embedder = NO_EMBEDDER
    for path, text in notes.items():
        place.write(path, text)
    assert place.sync().files_changed == len(notes)


def test_a_chinese_vault_is_searchable(place):
    """Words of two signs and more, in notes and names, with no space anywhere to tell them apart."""
    fill(place, CHINESE)
    asked = {
        "酵母": "面包.md",
        "烤箱": "面包.md",
        "番茄": "菜园.md",
        "数据库迁移": "会议/周一.md",
        "搜索引擎": "阅读.md",
    }
    assert {query: place.found(query)[:1] for query in asked} == {query: [path] for query, path in asked.items()}
    assert place.found("周一会议")[0] == "会议/周一.md"
    assert place.found("自行车") == []


def test_a_portuguese_vault_is_searchable(place):
    """Other forms of a word, with accents or without, find the note; its language was told by itself."""
    fill(place, PORTUGUESE)
    with contextlib.closing(place.manifest()) as manifest:
        assert manifest.languages(1) == ("portuguese",)
    asked = {
        "fermentos": "pão.md",
        "assar pão": "pão.md",
        "tomateiro": "horta.md",
        "raiz raízes": "horta.md",
        "reuniões": "reunião.md",
        "migração": "reunião.md",
        "responsavel": "reunião.md",
        "canção": "leitura.md",
        "marinheiro cantar": "leitura.md",
    }
    found = {query: place.found(query)[:1] for query in asked}
    assert found == {query: [path] for query, path in asked.items()}


@pytest.mark.parametrize(
    "query, path",
    [
        ("全文検索", "日本語.md"),
        ("데이터베이스", "한국어.md"),
        ("закваски", "русский.md"),
        ("булка", "русский.md"),
        ("Tomate", "deutsch.md"),
        ("Blatt Wurzel", "deutsch.md"),
        ("มะเขือเทศ", "ไทย.md"),
        ("आटा", "हिन्दी.md"),
        ("خميرة", "العربية.md"),
        ("ρίζα", "ελληνικά.md"),
    ],
)
def test_languages_live_together_in_one_vault(place, query: str, path: str):
    """Each note is found by a word of its own language, whatever else the vault holds."""
    fill(place, OTHERS | {"english.md": "# Garden\n\nThe tomatoes want sun, and the bread wants a levain.\n"})
    assert place.found(query)[:1] == [path]
