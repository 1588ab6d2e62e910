"""Notes as HTML: each thing that Obsidian shows is shown, and nothing of it can run."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from infold.web.markdown import note_html
from infold.web.maths import MAX_CHARACTERS, formula_html
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
