"""Reading front matter."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from infold.vault.front_matter import (
    MAX_CHARACTERS,
    _load_plain,
    list_value,
    read_front_matter,
    text_value,
    without_front_matter,
)


def problem(yaml_text: str) -> str:
    found = read_front_matter(f"---\n{yaml_text}\n---\ntext\n")
    assert found is not None
    assert found.values == {}
    return found.problem or ""


def test_values_and_span_of_front_matter():
    """The span runs from the first `---` to the end of the second, line end left out."""
    text = "---\ntitle: A\nlist: [1, b]\n---\nbody\n"
    found = read_front_matter(text)
    assert found is not None
    assert (found.values, found.problem) == ({"title": "A", "list": [1, "b"]}, None)
    assert text[found.start : found.end] == "---\ntitle: A\nlist: [1, b]\n---"


def test_front_matter_stands_at_the_very_top():
    """A blank line, a space or text before `---` makes it a rule."""
    for text in (
        "\n---\na: b\n---\n",
        " ---\na: b\n---\n",
        "x\n---\na: b\n---\n",
        "----\na: b\n----\n",
        "--- x\n---\n",
    ):
        assert read_front_matter(text) is None


def test_empty_front_matter_is_front_matter():
    """Two lines `---` with nothing, or only remarks, between them."""
    for text in ("---\n---\n", "---\n# only a remark\n---", "---  \r\n---\r\n"):
        found = read_front_matter(text)
        assert found is not None
        assert (found.values, found.problem) == ({}, None)


def test_two_rules_around_prose_are_no_front_matter():
    """A note that opens with a rule and a blank line keeps its paragraphs, unless YAML follows."""
    assert read_front_matter("---\n\nSome prose: with a colon.\nMore of it.\n\n---\n") is None
    found = read_front_matter("---\n\ntitle: A\n---\n")
    assert found is not None
    assert found.values == {"title": "A"}


def test_front_matter_that_is_never_closed_is_text_with_a_problem():
    """It protects nothing and is named; a lone rule at the top is no problem at all."""
    found = read_front_matter("---\ntitle: x\n[[bom]]\n")
    assert found is not None
    assert found.start == found.end
    assert "line 1" in (found.problem or "")
    assert read_front_matter("---\nJust a rule above prose.\n") is None


def test_what_yaml_cannot_read_is_named_with_the_line():
    """Tabs, bad nesting, unclosed quotes, scalars: the note is text, the problem has a line number."""
    assert problem("a: b\n\tc: d").startswith("line 3:")
    assert problem("a: b\nc: [1, 2").startswith("line ")
    assert problem("title: a: b").startswith("line 2:")
    assert "mapping" in problem("just words")
    assert "mapping" in problem("- a\n- b")
    assert problem("date: 2024-13-45").startswith("line ")
    assert problem("{{date}}: x")


def test_bombs_are_refused_before_they_go_off():
    """Aliases, size and depth: said, not read."""
    bomb = "a: &a [x,x,x]\n" + "\n".join(
        f"{b}: &{b} [*{a},*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert "alias" in problem(bomb)
    assert str(MAX_CHARACTERS) in problem("a: " + "x" * MAX_CHARACTERS)
    assert "deep" in problem("a: " + "[" * 20_000)
    assert "deep" in problem("- " * 20_000)
    assert "deep" in problem("? " * 20_000)
    assert "deep" in problem("\n".join(" " * level + "a:" for level in range(340)) + " b")
    assert problem("a: " + "[" * 800 + "]" * 800 + "\nb: {" * 2)


def test_values_of_any_kind_are_given_as_names_to_values():
    """Keys become text; a key of a list type is a problem, not a crash."""
    found = read_front_matter("---\n1: a\ntrue: b\n? [x]\n: c\n---\n")
    assert found is not None
    assert found.problem
    found = read_front_matter("---\n1: a\nnull: b\n---\n")
    assert found is not None
    assert set(found.values) == {"1", "None"}


def test_text_and_lists_are_asked_for_by_name():
    """`text_value` takes text and numbers; `list_value` lists and separated text; neither takes anything else."""
    values = {"title": 2020, "empty": " ", "flag": True, "tags": "a, b", "list": ["x", None, 3, "x", {"y": 1}]}
    assert text_value(values, "empty", "title") == "2020"
    assert text_value(values, "flag", "absent") == ""
    assert list_value(values, "absent", "tags", split_on=r"[,\s]+") == ("a", "b")
    assert list_value(values, "list", split_on=",") == ("x", "3")


WORD = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,6}", fullmatch=True) | st.sampled_from(
    ["yes", "null", "true", "False", "on", "n", "é"]
)
VALUE = st.one_of(
    WORD,
    st.from_regex(r"[A-Za-z][\w/.-]* [A-Za-z0-9][\w.-]*", fullmatch=True),
    st.from_regex(r"[0-9A-Fa-fobxT]{1,8}", fullmatch=True),
    st.from_regex(r"-?[0-9_.:eE+x-]{1,8}", fullmatch=True),
    st.text(max_size=6).map(lambda s: f"'{s}'"),
    st.text(max_size=6).map(lambda s: f'"{s}"'),
    st.from_regex(r"[A-Za-z0-9éあ][ -~éあ]{0,9}", fullmatch=True),
    st.from_regex(r"20[0-9]{2}-[0-3][0-9]-[0-3][0-9]( [0-9a-z-]{1,3})?", fullmatch=True),
    st.from_regex(r"\[[a-z]{1,3}(, ?[a-zN-]{1,5}){0,2}\]", fullmatch=True),
    st.from_regex(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", fullmatch=True),
    st.sampled_from(["", "~", "a #b", "a: b", "[x]", "*a", "2024-01-01", "'it''s'", '"\\n"', "[a, no]", "2024-13-01"]),
)
LINE = st.one_of(
    st.tuples(WORD, st.sampled_from([": ", ":", ":  "]), VALUE).map("".join),
    st.tuples(st.sampled_from(["", "  ", "    "]), st.just("- "), VALUE).map("".join),
    st.sampled_from(["", "  ", "# remark"]),
)


@given(st.lists(LINE, max_size=6).map("\n".join))
def test_the_short_cut_reads_what_yaml_reads(source):
    """Where the short cut for plain lines gives an answer, YAML gives the same."""
    plain = _load_plain("\n" + source)
    if plain is not None:
        loaded = yaml.load("\n" + source, Loader=yaml.SafeLoader)
        assert plain == (loaded or {})


@given(st.text(alphabet=st.sampled_from(list("-a: \n\r.\ufeff#")), max_size=60))
def test_what_is_below_front_matter_is_the_same_whether_its_values_are_read_or_not(text):
    """The quick way, for summaries, cuts where the reader of values does."""
    found = read_front_matter(text)
    start = found.end if found else int(text.startswith("\ufeff"))
    assert without_front_matter(text) == text[start:]
