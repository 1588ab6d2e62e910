"""The keyword encoder: what counts as a term, and that its vectors are BM25."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search import languages as told_by_words
from infold.search.languages import detect_language, languages
from infold.search.terms import (
    VERSION,
    Encoder,
    document_words,
    encoder,
    query_weights,
    terms,
    tokens,
)


def finds(query: str, document: str) -> bool:
    """Whether a query over notes of the document's language has a term in common with it."""
    language = detect_language(document)
    return bool(query_weights(query, [language]).keys() & set(terms(document, language)))


@pytest.mark.parametrize(
    "query, document",
    [
        ("検索", "このノートは全文検索について"),
        ("中文", "这是一个中文笔记"),
        ("검색", "한국어 검색은 어렵다"),
        ("猫", "私は猫が好き"),
        ("ภาษา", "ฉันเรียนภาษาไทย"),
        ("notícia", "As notícias de hoje não são boas para o país e para a gente"),
        ("noticias", "Notícias de São Paulo"),
        ("acoes", "As ações da empresa não são boas para os acionistas"),
        ("razão", "As razões do pão não são claras"),
        ("pães", "O pão não é para já, mas é bom"),
        ("vacinacao", "As vacinações das crianças não foram marcadas para já"),
        ("informacoes", "A informação não está na página, mas é boa"),
        ("pressoes", "A pressão não é boa para o coração"),
        ("informacion", "La información de los niños está en la página"),
        ("Bücher", "Das Buch ist nicht gut und die Bücher sind teuer"),
        ("creme fraiche", "crème fraîche"),
        ("running", "She runs every day"),
        ("404", "The server answers 404"),
        ("3.14", "pi is 3.14159, or about 3.14"),
        ("2024-01-02", "Written on 2024-01-02"),
        ("2024", "Written on 2024-01-02"),
        ("getUserName", "call getUserName() first"),
        ("user name", "call getUserName() first"),
        ("parse_http_request", "see parse_http_request"),
        ("HTTP", "see parse_http_request and HTTPServer"),
        ("C++", "I write C++ at work"),
        ("c#", "C# and F# are languages"),
        ("x86_64", "built for x86_64"),
        ("हिन्दी", "यह हिन्दी में है"),
        ("ＦＵＬＬ width", "full-width letters"),
        ("l'eau", "L’eau est froide"),
        ("O'Brien", "Mr O’Brien came"),
        ("don't", "they don’t know"),
    ],
)
def test_a_word_is_found_in_its_other_forms(query: str, document: str):
    """Scripts, inflections, diacritics, numbers, identifiers and apostrophes meet between query and note."""
    assert finds(query, document)


def test_different_words_are_not_found():
    """A shared sign or a shared apostrophe is no match."""
    assert not finds("検索", "研究と探検")
    assert not finds("it's", "that's John's")
    assert not finds("404", "405")


@pytest.mark.parametrize("empty", ["", "   ", "…", "--- *** ___", "\n\n", "🙂"])
def test_text_without_words_has_no_terms(empty: str):
    """Nothing to look for is nothing, not an error."""
    assert terms(empty) == []
    assert query_weights(empty) == {}
    assert document_words(empty) == ("", "")


@pytest.mark.parametrize("text", ["ก'ก", "文++ 字", "한’글#", "x'ก", "ก''"])
def test_marks_between_unspaced_signs_are_no_term(text: str):
    """An apostrophe or a plus that stands alone between signs of an unspaced script is passed over."""
    assert all(term.isalnum() for term in terms(text))


@given(st.text(max_size=300))
def test_any_text_encodes(text: str):
    """Every string gives terms that UTF-8 can hold, none too long, none with a space; what is asked weighs something."""
    for term in (*terms(text), *query_weights(text)):
        assert term.encode()
        assert len(term) <= 200
        assert term.split() == [term]
    assert all(weight > 0 for weight in query_weights(text).values())


@given(st.text(max_size=200))
def test_a_text_is_found_by_itself(text: str):
    """What a document says can be asked for in the same words, in any language the two are taken for."""
    spoken = set(terms(text, "portuguese"))
    asked = set(query_weights(text, ["portuguese"]))
    assert asked & spoken or not asked


WORDS = st.sampled_from(
    [
        "running",
        "runs",
        "don't",
        "l’eau",
        "getUserName",
        "parse_http_request",
        "C++",
        "F#",
        "3.14",
        "2024-01-02",
        "404",
        "検索エンジン",
        "中文笔记",
        "한국어",
        "ภาษาไทย",
        "हिन्दी",
        "corações",
        "pães",
        "Bücher",
        "ＦＵＬＬ",
        "x86_64",
        "_",
        "ét",
    ]
)


def plain_document(text: str, language: str) -> tuple[list[str], list[str]]:
    """The encoder written down plainly: no caches, nothing looked up."""
    words = Encoder(language)
    forms = [words.forms(token) for token in tokens(text)]
    return [term for main, _ in forms for term in main], [term for _, secondary in forms for term in secondary]


@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)), st.sampled_from(languages()))
def test_the_fast_encoder_is_the_plain_one(text: str, language: str):
    """Same terms, as often, on any text in any language: speed costs no quality; no term holds a space."""
    main, secondary = document_words(text, language)
    assert (main.split(), secondary.split()) == plain_document(text, language)
    assert sorted([*main.split(), *secondary.split()]) == sorted(terms(text, language))


GOLDEN = "The 3 HTTPServers don't re-run parse_http_request(): l’eau, 検索エンジン, corações & C++ — since 2024-01-02."
GOLDEN_TERMS = """
    the 3 httpservers http server servers don re run parse_http_request pars http request parse eau 検索 索エ エン ンジ
    ジン 検 索 エ ン ジ ン coraco coracoes c++ c sinc since 2024-01-02 2024 01 02
"""


def test_terms_are_those_of_the_indexes_on_disk():
    """Another term for the same text would need another version of the tokeniser, and every index made anew."""
    assert (terms(GOLDEN, "english"), VERSION) == (GOLDEN_TERMS.split(), "terms/4")


def test_the_word_as_written_counts_beside_its_stem():
    """An exact form ranks above another inflection, but less than a whole second word would."""
    weights = query_weights("running")
    assert weights["run"] == 1
    assert 0 < weights["running"] < 1


@pytest.mark.parametrize(
    "language, text",
    [
        ("english", "The garden is in the shade of the apple tree, and it is cold."),
        ("portuguese", "O pão fica melhor quando a massa não é muito úmida, mas também depende da farinha e do forno."),
        (
            "spanish",
            "El pan queda mejor cuando la masa no es muy húmeda, pero también depende de la harina y del horno.",
        ),
        ("german", "Das Brot wird besser, wenn der Teig nicht zu feucht ist, und auch die Hitze ist wichtig."),
        (
            "french",
            "Le pain est meilleur quand la pâte n'est pas trop humide, mais il dépend aussi de la farine et du four.",
        ),
        ("russian", "Хлеб получается лучше, если тесто не очень влажное, но это зависит и от муки."),
        ("portuguese", "# Reunião de segunda\n\nDecidimos migrar a base. A Sara ficou com as migrações."),
        ("russian", "закваска"),
        ("greek", "# Κήπος"),
        ("hindi", "रोटी"),
        ("english", "Naïve café"),
        ("english", "The word закваска is Russian."),
        ("english", "x = 1; y = 2"),
        ("english", ""),
    ],
)
def test_languages_are_told_apart(language: str, text: str):
    """Common words give a language away; code and short text count as English."""
    assert detect_language(text) == language


@given(st.text(st.one_of(st.characters(), st.sampled_from("ab é_-'²٣’“ि\u0301\u05b0\u00a0")), max_size=60))
def test_words_that_tell_a_language_are_found_quickly_and_all(text: str):
    """Cut at what is no letter, or found by what a word is: the same words."""
    text = text.casefold()
    assert told_by_words._words_of(text) == told_by_words._WORDS.findall(text)


def test_encoding_is_fast():
    """At least 700 passages a second even on a machine with much else to do; 3,500 and more where it is idle."""
    passage = " ".join(f"word{n % 90} is measured, and the {n}th time it took longer" for n in range(35))[:1600]
    encoder("english")
    started = time.process_time()
    for n in range(400):
        document_words(f"{n} {passage}")
    assert 400 / (time.process_time() - started) > 700


def test_tokens_keep_their_order_and_capitals():
    """Tokens are the text's own words."""
    assert tokens("The HTTPServer of v2, 3.14!") == ["The", "HTTPServer", "of", "v2", "3.14"]


@given(st.lists(st.text(alphabet="abzAZ09_é'’#+-世界ção ", min_size=1, max_size=12), max_size=8))
def test_tokens_met_together_have_the_terms_that_each_has_alone(texts):
    """In every language, plain words and others mixed."""
    found = [token for text in texts for token in tokens(text)]
    for language in ("english", "german", "portuguese"):
        reader = encoder(language)
        together = [set(terms_) for terms_ in reader.forms_together(found)]
        assert together == [{*main, *secondary} for main, secondary in map(reader.forms_of, found)]
