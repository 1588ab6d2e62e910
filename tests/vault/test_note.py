"""What stands where in a note."""

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.vault.note import Block, BlockKind, Note, parse, plain_text
from infold.vault.outline import MAX_PARTS

BLANK = " \t\r\n\ufeff"


def note(text: str, path: str = "folder/My note.md") -> Note:
    return parse(path, text)


def kinds(text: str) -> list[str]:
    return [block.kind.value for block in note(text).blocks]


def texts(text: str) -> list[str]:
    found = note(text)
    return [found.block_text(block) for block in found.blocks]


def check_blocks(found: Note) -> None:
    """Blocks are disjoint, in order, whole lines, and leave no non-blank line out."""
    text, position = found.text, 0
    for block in found.blocks:
        assert position <= block.start < block.end <= len(text)
        assert not text[position : block.start].strip(BLANK)
        assert text[block.start - 1 : block.start] in ("", "\n", "\r", "\ufeff")
        assert text[block.end : block.end + 1] in ("", "\n", "\r")
        position = block.end
    assert not text[position:].strip(BLANK)
    for link in found.links:
        assert text[link.start : link.end] == link.raw
        assert len(link.context) <= 300
    headings = [block.start for block in found.blocks if block.kind is BlockKind.HEADING]
    assert [heading.start for heading in found.headings] == headings
    plain_text(found)


@pytest.mark.parametrize("name", ["commonmark.json", "pulldown-cmark.json"])
def test_every_example_of_the_specifications_is_covered(shared_data, name):
    """Whatever the specification's examples hold: blocks in order, disjoint, and no line without a block."""
    for example in json.loads((shared_data / "markdown" / name).read_text(encoding="utf-8")):
        for text in (example["markdown"], example["markdown"].replace("\n", "\r\n"), "\ufeff" + example["markdown"]):
            check_blocks(note(text))


@given(st.text())
def test_any_text_is_a_note(text):
    """No text makes `parse` raise, or lose a line."""
    check_blocks(note(text))


@given(st.lists(st.sampled_from([*"[]()#%^`*_$|-+>!<&\\:.\"'~=\n\r\t aé👩", "[[", "]]", "%%", "---\n", "```", "\n\n"])))
def test_any_pile_of_marks_is_a_note(pieces):
    """Marks of every kind in every order are survived."""
    check_blocks(note("".join(pieces)))


def test_each_kind_of_block_is_told():
    """Front matter, heading, paragraph, list items, quote, code, table, HTML, comment, footnote, rule, definition."""
    text = (
        "---\na: b\n---\n# H\n\npara\nmore\n\n- one\n  - nested\n- two\n\n"
        "> [!note] callout\n> text\n\n```py\nx\n\ny\n```\n\n"
        "| a |\n|---|\n| b |\n\n<div>\nx\n</div>\n\n%% hidden %%\n\n[^1]: foot\n\n---\n\n[ref]: x.md\n"
    )
    first = ["front_matter", "heading", "paragraph", "list_item", "list_item", "quote", "code"]
    assert kinds(text) == [*first, "table", "html", "comment", "footnote", "rule", "definition"]
    assert texts(text)[3] == "- one\n  - nested"
    assert texts(text)[6] == "```py\nx\n\ny\n```"


def test_a_block_knows_its_lines_and_the_headings_above():
    """Lines count from 1 over the whole file; the trail is the titles above, not the heading's own."""
    found = note("---\na: b\n---\n\n# A\n\none\n\n## B *x*\n\ntwo\nlines\n\n# C\n\nthree")
    wanted = [(5, 5, ()), (7, 7, ("A",)), (9, 9, ("A",)), (11, 12, ("A", "B x")), (14, 14, ()), (16, 16, ("C",))]
    assert [(b.line, b.end_line, b.trail) for b in found.blocks[1:]] == wanted


def test_headings_keep_the_line_as_written():
    """`raw` is the line; an underlined heading is shown in its `#` form, because the line alone tells no level."""
    found = note("## A `b` [[c|d]] #tag ^id\n\nOver\nlines\n---\n\n# Closed #\n")
    assert [(h.level, h.title, h.raw) for h in found.headings] == [
        (2, "A b d #tag", "## A `b` [[c|d]] #tag ^id"),
        (2, "Over lines", "## Over lines"),
        (1, "Closed", "# Closed #"),
    ]


def test_marks_in_code_are_no_headings():
    """A `#` in a fence, and a tag at the start of a line, are no headings."""
    assert note("```sh\n# comment\n```\n\n#tag text\n\n    # code\n").headings == ()


def test_rules_and_metadata_in_the_middle_are_not_front_matter():
    """Only the very top has front matter; further down `---` is a rule or underlines a heading."""
    assert kinds("text\n\n---\n\nmore\n\n---\na: b\n\n---\n") == [
        "paragraph",
        "rule",
        "paragraph",
        "rule",
        "paragraph",
        "rule",
    ]


def test_offsets_count_characters_not_bytes():
    """Letters of any width before a link or block do not move it."""
    text = "# é👩‍👩‍👧 中文\n\n" + "naïve 中文 " * 400 + "[[Zïel|日本]] end\n\n- ü [[b]]\n"
    found = note(text)
    assert [link.raw for link in found.links] == ["[[Zïel|日本]]", "[[b]]"]
    assert [found.text[link.start : link.end] for link in found.links] == ["[[Zïel|日本]]", "[[b]]"]
    check_blocks(found)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind_are_line_ends(end):
    """LF, CRLF and a lone CR give the same blocks, lines and links."""
    found = note(end.join(["---", "title: T", "---", "# H", "", "a [[x]]", "b", "", "- c", "- d", ""]))
    assert found.title == "T"
    assert [(b.kind.value, b.line, b.end_line) for b in found.blocks] == [
        ("front_matter", 1, 3),
        ("heading", 4, 4),
        ("paragraph", 6, 7),
        ("list_item", 9, 9),
        ("list_item", 10, 10),
    ]
    assert found.links[0].line == 6
    assert found.block_text(found.blocks[2]) == f"a [[x]]{end}b"


def test_a_byte_order_mark_stays_outside_every_block():
    """A BOM is kept in the text and hides neither front matter nor a first heading."""
    found = note("\ufeff---\ntitle: B\n---\n# H\n")
    assert (found.title, found.text[0], found.blocks[0].start) == ("B", "\ufeff", 1)
    assert note("\ufeff# H\n").title == "H"
    assert note("\ufeff  - a\n").blocks[0].start == 1


def test_the_title_is_of_front_matter_then_heading_then_name():
    """The first of: `title` in front matter, the first level-1 heading, the file's stem."""
    assert note("---\ntitle: One\n---\n# Two\n").title == "One"
    assert note("## Not this\n\n# Two\n").title == "Two"
    assert note("text", "a/foo.bar.md").title == "foo.bar"


@pytest.mark.parametrize(
    "written,target,anchor,alias",
    [
        ("[[Note]]", "Note", "", None),
        ("[[ Note ]]", "Note", "", None),
        ("[[Folder/Note.md]]", "Folder/Note.md", "", None),
        ("[[Note|shown **so**]]", "Note", "", "shown so"),
        ("[[Note#Heading]]", "Note", "Heading", None),
        ("[[Note#H1#H2|x]]", "Note", "H1#H2", "x"),
        ("[[Note#^block-1]]", "Note", "^block-1", None),
        ("[[#Heading]]", "", "Heading", None),
        ("[[foo.bar]]", "foo.bar", "", None),
        ("[[Note\\|esc]]", "Note", "", "esc"),
        ("[[Note#]]", "Note", "", None),
        ("[text](My%20note.md#A%20b)", "My note.md", "A b", "text"),
        ("[text](<My note.md>)", "My note.md", "", "text"),
        ('[text](n.md "title")', "n.md", "", "text"),
        ("[n.md](n.md)", "n.md", "", None),
        ("[text](#A-b)", "", "A-b", "text"),
        ("[a%23b](a%23b.md)", "a#b.md", "", "a%23b"),
    ],
)
def test_links_are_read_as_they_are_written(written, target, anchor, alias):
    """Target, anchor and shown text of each form of link, decoded where the form decodes."""
    (link,) = note(f"before {written} after\n").links
    assert (link.target, link.anchor, link.alias, link.raw) == (target, anchor, alias, written)
    assert link.is_wiki == written.startswith("[[")
    assert link.context == f"before {written} after"


def test_a_wiki_link_in_a_table_loses_its_escape():
    """The bar of an alias is escaped in a cell; the backslash is no part of the name."""
    (link,) = note("| a |\n|---|\n| [[c\\|d]] |\n").links
    assert (link.target, link.alias) == ("c", "d")


def test_embeds_are_told_from_links():
    """`![[…]]` and images are embeds; a picture's size is no text of the note."""
    found = note("![[Note#H]] ![[p.png|200]] ![alt](p.png) [[x]]\n")
    assert [(link.target, link.is_embed) for link in found.links] == [
        ("Note", True),
        ("p.png", True),
        ("p.png", True),
        ("x", False),
    ]
    assert plain_text(found).split() == ["alt", "x"]


def test_reference_links_lead_where_their_definition_says():
    """`[text][ref]` with `[ref]: note.md` is a link to the note."""
    (link,) = note("[text][ref]\n\n[ref]: note.md\n").links
    assert (link.target, link.alias, link.raw) == ("note.md", "text", "[text][ref]")


@pytest.mark.parametrize(
    "text",
    [
        "[web](https://example.org/a.md)",
        "<https://example.org>",
        "[mail](mailto:a@b.c)",
        "[[https://example.org]]",
        "[app](obsidian://open?vault=x)",
        "[proto](//example.org/x)",
        "`[[code]]`",
        "```\n[[code]]\n```",
        "    [[code]]",
        "$[[math]]$",
        "%% [[comment]] %%",
        "<!-- [[comment]] -->",
        "\\[[escaped]]",
        "[[]] [[ ]] [[#]] [[|x]] []()",
        "[[two\nlines]]",
    ],
)
def test_what_is_no_link_within_the_vault_gives_none(text):
    """External addresses, code, math, comments, escapes and empty links are no links of the vault."""
    assert note(text + "\n").links == ()


def test_links_in_quoted_properties_count():
    """Obsidian's properties hold links as quoted text; an unquoted `[[x]]` is a list in a list."""
    found = note('---\nup: "[[Index|home]]"\nsee:\n  - "[[A]]"\nraw: [[B]]\n---\n[[C]]\n')
    assert [(link.target, link.line) for link in found.links] == [("Index", 2), ("A", 4), ("C", 7)]


def test_the_context_of_a_link_on_a_long_line_holds_the_link():
    """Of a line over 300 characters the part around the link is kept."""
    (link,) = note("x" * 5000 + " [[Here]] " + "y" * 5000).links
    assert len(link.context) <= 300
    assert "[[Here]]" in link.context


def test_tags_come_from_front_matter_and_text():
    """Lists, comma or space separated text, and inline tags; not from code, links, addresses, or digits alone."""
    found = note(
        "---\ntags: [one, '#two']\n---\n#three/sub (#vier) `#no` [#no](x.md) [[a#no]] http://x.y/#no #123 a#no #1a\n\n"
        "- #five\n"
    )
    assert found.tags == ("one", "two", "three/sub", "vier", "1a", "five")
    assert note("---\ntags: a, b c\n---\n").tags == ("a", "b", "c")


def test_aliases_are_lists_or_text():
    """`aliases` as a list, as text with commas, or under the name `alias`."""
    assert note("---\naliases:\n  - A b\n  - C\n---\n").aliases == ("A b", "C")
    assert note("---\naliases: A b, C\n---\n").aliases == ("A b", "C")
    assert note("---\nalias: D\naliases:\n---\n").aliases == ("D",)
    assert note("---\naliases: [2020, null, [x]]\n---\n").aliases == ("2020",)


def test_block_ids_stand_at_the_end_of_blocks():
    """` ^id` ends a paragraph, heading or list line; not in code, not in the middle."""
    found = note(
        "para ^a\n\n# H ^b\n\n- x ^c\n  - y ^d\n\nmid ^no\nline\n\n```\nx ^no\n```\n\n| t |\n|---|\n| u |\n\n^e\n"
    )
    assert found.block_ids == ("a", "b", "c", "d", "e")


def test_plain_text_reads_as_the_note_is_shown():
    """Front matter, comments and tags of HTML go; links become the text they show; structure stays."""
    text = "---\na: b\n---\n# H\n\n- [[A/B|the b]] and [[C]] %%no%% <b>x</b> [w](http://x.y/(z)) ![[e]]\n\n`%%code%%`\n"
    assert " ".join(plain_text(note(text)).split()) == "# H - the b and C x w `%%code%%`"


def test_links_in_links_are_each_found_once():
    """A picture that links to a note is two links, in the order they begin."""
    found = note("[![pic](p.png)](note.md) end\n")
    assert [link.target for link in found.links] == ["note.md", "p.png"]
    assert plain_text(found).strip() == "pic end"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000 + "]" * 50_000,
        "[[" * 50_000,
        "![" * 20_000 + "x" + "](y.md)" * 20_000,
        ">" * 20_000 + "a",
        "- " * 20_000 + "a",
        "\n".join("  " * level + "- a" for level in range(600)),
        "*a_ " * 30_000,
        "`" * 30_000 + " " + "`a" * 20_000,
        "%%" * 50_000,
        "%% a\n\n" * 20_000,
        "%%a%%\n\n" * 20_000,
        "$a$$" * 20_000,
        "[a]: <" * 20_000,
        "---\n" * 20_000,
        "---\n" + "a: b\n" * 12_000 + "---\n",
        "---\na: " + "[" * 30_000 + "\n---\n",
        "<a href='" * 20_000,
        "[[x]]" * 20_000,
        "# h\n" * 20_000,
        "^a\n\n" * 20_000,
        "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|b|\n" * 20,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_notes_take_no_time(text):
    """Depth and repetition that ruin naive parsers cost what their length does."""
    started = time.process_time()
    check_blocks(note(text))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "rest, tags",
    [
        ("and no more", ()),
        ("é #tag", ("tag",)),
        ("`#code` <b> #tag", ("tag",)),
        ("[a #link](b.md) #tag", ("tag",)),
    ],
)
def test_a_paragraph_of_too_many_links_is_read_to_its_end(rest: str, tags: tuple[str, ...]):
    """Links are taken up to their bound; of the same paragraph tags still are, and what follows it is plain text."""
    paragraph = "[[x]] " * (MAX_PARTS + 5) + rest
    found = note(f"{paragraph}\n\n# [[y]] #late\n\nend\n")
    assert len(found.links) == MAX_PARTS
    assert found.tags == tags
    assert found.plain_from == len(paragraph) + 1
    assert [block.kind for block in found.blocks] == [BlockKind.PARAGRAPH] * 2
    check_blocks(found)


@given(st.text(alphabet="#[]^- \n%é`>=ab"))
def test_a_note_without_blocks_is_the_same_note_otherwise(text):
    """Leaving blocks out changes nothing else."""
    whole = note(text)
    assert parse(whole.path, text, with_blocks=False) == replace(whole, blocks=(), block_ids=())


def test_a_block_is_a_plain_record():
    """Blocks of equal texts are equal: they can be compared and kept."""
    assert note("a\n").blocks == note("a\n").blocks == (Block(BlockKind.PARAGRAPH, 0, 1, 1, 1, ()),)
