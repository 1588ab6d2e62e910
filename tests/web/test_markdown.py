"""Notes as HTML: each thing that Obsidian shows is shown, and nothing of it can run."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from infold.web.markdown import note_html
from infold.web.maths import MAX_CHARACTERS, formula_html
from infold.web.properties import properties
from tests.web.test_pages import Elements


def html(text: str, **texts: str) -> str:
    """A note `n/a.md`; the notes that links find, by name."""
    known = {name: f"n/{name}.md" for name in texts}
    return note_html(text, "n/a.md", lambda name, _: known.get(name), lambda path: texts[path[2:-3]])


def test_callouts_have_their_title_and_fold_where_they_say_so():
    """A callout is a box with its kind; with a minus it is folded, with a plus open."""
    assert '<div class="callout" data-callout="tip">\n<div class="callout-title">Mind</div>' in html(
        "> [!tip] Mind\n> x"
    )
    assert '<details class="callout" data-callout="note">' in html("> [!note]- Later\n> x")
    assert '<details class="callout" data-callout="note" open="">' in html("> [!note]+ Now\n> x")
    assert 'href="/note/n/b.md"' in html("> [!tip] Mind\n> see [[b]]", b="")


def test_wiki_links_lead_to_pages_and_to_headings():
    """By name, with an alias, to a heading there and here, within a table; what is missing leads to a search."""
    assert '<a class="wiki" href="/note/n/b.md"' in html("[[b]]", b="")
    assert 'href="/note/n/b.md#at-two-words-more" rel="noopener noreferrer">this</a>' in html(
        "[[b#Two words, more|this]]", b=""
    )
    assert '<h2 id="at-two-words-more">' in html("## Two words, more")
    assert 'href="#at-here"' in html("[[#Here]]\n\n# Here")
    assert ">them</a>" in html("|a|\n|-|\n|[[b\\|them]]|", b="")
    assert 'class="wiki missing" href="/search?q=nowhere"' in html("[[nowhere]]")


def test_embeds_show_what_they_name():
    """A note is shown within, not endlessly; a picture with its width; of another site a link alone."""
    assert '<div class="embedded">' in html("![[b]]", b="inside ![[a]]", a="x")
    assert "inside" in html("![[b]]", b="inside")
    assert html("![[a]]", a="![[a]]").count("embedded") == 0
    assert html("![[b]]", b="![[c]]", c="![[b]]").count('"embedded"') == 2
    assert '<img src="/file/x.png?from=n" alt="x.png" width="300">' in html("![[x.png|300]]")
    away = html("![seen](https://example.org/x.png)")
    assert "<img" not in away
    assert 'href="https://example.org/x.png"' in away


def test_marks_within_a_line_are_shown():
    """Tags, highlights, bare addresses, tasks; a comment is not shown; code is left as it is."""
    shown = html("#a/b ==hi== https://example.org/x. %%gone%% `#c ==d==`\n\n- [x] done")
    assert 'href="/search?tag=a/b"' in shown
    assert "<mark>hi</mark>" in shown
    assert 'href="https://example.org/x" rel' in shown
    assert "gone" not in shown
    assert "<code>#c ==d==</code>" in shown
    assert 'aria-label="done"' in shown
    assert '<td align="right">' in html("|a|\n|-:|\n|1|")


def test_callouts_stand_in_callouts_and_fold_each_for_itself():
    """Links in a title lead somewhere; what follows the inner one belongs to the outer."""
    shown = html("> [!note]- Out [[b]]\n> > [!tip]+ In\n> > deep\n>\n> after", b="")
    outer, inner = shown.split('<details class="callout" data-callout="tip" open="">')
    assert '<summary class="callout-title">Out <a class="wiki" href="/note/n/b.md"' in outer
    assert inner.index("deep") < inner.index("</details>") < inner.index("after") < inner.rindex("</details>")


def test_footnotes_are_numbered_as_they_are_named_and_lead_there_and_back():
    """With a text of several paragraphs, where they stand, twice, and none that nobody wrote."""
    shown = html(
        "One[^b] two[^a] again[^b] and^[so *it* is] not[^q].\n\n[^a]: A [[b]].\n[^b]: B\n\n    more\n\nend", b=""
    )
    body, notes = shown.split('<div class="footnotes">')
    assert re.findall(r'id="at-footnote-([^"]+)"', body) == ["1-from", "2-from", "1-from-2", "3-from"]
    assert re.findall(r'href="#at-footnote-([^"]+)"', body) == ["1", "2", "1", "3"]
    first, second, third = re.split(r'<li id="at-footnote-[123]">', notes)[1:]
    assert ["<p>more</p>" in first, '/note/n/b.md"' in second, "<em>it</em>" in third] == [True] * 3
    assert 'href="#at-footnote-1-from"' in first
    assert "not[^q]" in body
    assert "[^a]" not in shown
    assert "footnotes" not in html("`[^a]`\n\n[^a]: never named")
    assert html("[^a]\n\n[^a]: see [^a] ^[and ^[more]]").count("<li") == 3


def test_footnotes_named_in_a_callout_lead_there_and_back():
    """In its title and in its first lines, each is counted once, in the order in which one reads."""
    shown = html("> [!note]- Of[^t]\n> first[^a] ^[here]\n\nafter[^a]\n\n[^a]: A\n[^t]: T")
    body, notes = shown.split('<div class="footnotes">')
    assert re.findall(r'id="at-footnote-([^"]+)"', body) == ["1-from", "2-from", "3-from", "2-from-2"]
    assert re.search(r'<summary class="callout-title">Of<sup class="footnote" id="at-footnote-1-from">', body)
    assert set(re.findall(r'href="#([^"]+-from)"', notes)) < set(re.findall(r'id="([^"]+)"', body))


def test_footnotes_of_an_embedded_note_are_its_own():
    """Two notes on a page have no place of the same name."""
    shown = html("x[^1]\n\n![[b]]\n\n[^1]: of a", b="y[^1]\n\n[^1]: of b")
    places = re.findall(r'id="(at-footnote-[^"]+)"', shown)
    assert len(places) == len(set(places)) == 4


def test_blocks_have_names_that_links_lead_to():
    """Paragraphs, items of lists, headings, and what a name on a line of its own stands below; names are not shown."""
    shown = html(
        "[[b#^in-b|there]] [[#^here]]\n\nText ^here\n\n- item ^it\n- two\n\n|a|\n|-|\n|1|\n\n^tab\n\n# H ^h", b=""
    )
    assert 'href="/note/n/b.md#at-block-in-b"' in shown
    assert 'href="#at-block-here"' in shown
    assert '<p id="at-block-here">Text</p>' in shown
    assert '<li id="at-block-it">item</li>' in shown
    assert '<table id="at-block-tab">' in shown
    assert '<h1 id="at-block-h">H</h1>' in shown
    assert ">^" not in re.sub("<a[^>]*>", "", shown)
    assert "<p>2^x</p>" in html("2^x")


def test_a_section_or_a_block_is_embedded_alone():
    """Up to the next heading of its level; what is not there is a link; a note may embed a part of itself."""
    other = (
        "# B\n\nintro ^in\n\n## Deep one\n\ninside\n\n### Below\n\ntoo\n\n## Next\n\nnot this\n\n- item ^it\n- two\n"
    )
    section = html("![[b#Deep one]]", b=other)
    assert all(word in section for word in ("inside", "too"))
    assert not any(word in section for word in ("intro", "not this"))
    item = html("![[b#^it]]", b=other)
    assert "item" in item
    assert "two" not in item
    assert "embedded" not in html("![[b#^none]]", b=other)
    assert html("Own ^own\n\n![[a#^own]]", a="Own ^own\n\n![[a#^own]]").count(">Own<") == 2


def test_comments_over_several_blocks_are_not_shown():
    """Whatever stands in them; one that never ends is text, and marks within marks are shown."""
    assert html("%%\nno\n\n# nor this\n%%\n\nyes") == "<p>yes</p>\n"
    assert "all of it" in html("%%\nall of it\n\nis text")
    assert "<mark>a <strong>b</strong></mark>" in html("==a **b**==")


def test_front_matter_is_shown_as_properties():
    """Names in their order, tags and links as links; nothing in it is markup of its own."""
    text = "---\ntags: [garden, '#work/deep']\nup: '[[b]]'\ndone: true\ndue: 2026-11-22\nempty:\nbad: '<script>x</script>'\n---\nText"
    shown = dict(properties(text, "n/a.md", lambda name, _: f"n/{name}.md"))
    assert list(shown) == ["tags", "up", "done", "due", "empty", "bad"]
    assert shown["tags"][1] == '<a class="tag" href="/search?tag=work/deep">#work/deep</a>'
    assert 'href="/note/n/b.md"' in shown["up"][0]
    assert [shown["done"], shown["due"], shown["empty"]] == [["yes"], ["2026-11-22"], []]
    assert "<script" not in str(shown["bad"])
    assert properties("no front matter", "a.md", lambda *_: None) == []


def test_a_long_note_of_marks_that_never_end_is_shown_in_time():
    """No mark makes the time grow with the square of a note's length."""
    began = time.process_time()
    for mark in ("%%\n\n", "^[", "[^1] ", "==a ", "x ^y\n\n"):
        html(mark * 4000)
    assert time.process_time() - began < 10


def test_formulas_are_mathml():
    """Within a line and on their own; two prices are none; what is no formula is shown as it is written."""
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html("so $x^2$ is")
    assert '<math display="block">' in html("$$\n\\frac{a}{b}\n$$")
    assert "<math" not in html("from $5 to $6 each")
    assert '<code class="no-formula">\\frac{</code>' in html("$\\frac{$")
    assert formula_html("x" * (MAX_CHARACTERS + 1), is_block=False).startswith("<code")


PIECES = ["\\frac", "{", "}", "^", "_", "\\left", "\\right", "(", "[", "&", "\\\\", "x", "\\sqrt", "\\text", "<script>"]
PIECES += [
    "\\begin{matrix}",
    "\\end{matrix}",
    "\\href{javascript:a}{b}",
    "\\style{a:b}{c}",
    "&lt;img onerror=x&gt;",
    "\\color",
]


@given(st.lists(st.sampled_from(PIECES), max_size=10))
def test_no_formula_fails_or_brings_markup_of_its_own(pieces):
    """Whatever is written between the signs: MathML alone comes out, without a link, a style or a script."""
    shown = formula_html("".join(pieces), is_block=False)
    Elements(shown).assert_harmless()
    tags = {tag for tag, _ in Elements(shown).found}
    assert all(tag == "code" or re.fullmatch("m[a-z]+|none", tag) for tag in tags)
    assert not any("href" in attributes for _, attributes in Elements(shown).found)


def test_no_note_gives_an_id_that_a_script_looks_for():
    """Only headings that were made here have ids, with a beginning of their own."""
    assert 'id="results"' not in html('<h2 id="results">x</h2>\n\n<div id="job">y</div>')
