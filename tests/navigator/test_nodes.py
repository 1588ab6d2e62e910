"""Notes as nested nodes: levels, spans, ids that survive edits elsewhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from infold.navigator.nodes import NodeType, NoteNode, article_nodes
from infold.navigator.proximity import embedded_text
from infold.navigator.records import StoredNode
from infold.vault.note import parse

NOTE = """---
tags: [a]
---
# Engines

Opening words.

## Steam

Above the first sub-heading.

#### Boilers

- one
- two

```python
a = 1

b = 2
```

## Diesel

Last words.
"""


def nodes(text: str = NOTE, path: str = "a.md"):
    return article_nodes(parse(path, text))


def stored(node: NoteNode, summary: str) -> StoredNode:
    same = {name: getattr(node, name) for name in StoredNode.__slots__ if hasattr(node, name)}
    return StoredNode(**same, summary=summary, is_dirty=False, created_at="", updated_at="")


def test_headings_nest_and_blocks_are_paragraphs_of_the_innermost_section():
    """Skipped levels nest; text above the first sub-heading is a paragraph of its section; front matter is no node."""
    found = nodes()
    shape = [(node.type, node.title, node.trail) for node in found]
    assert shape == [
        ("article", "Engines", ()),
        ("section", "Engines", ("Engines",)),
        ("paragraph", "", ("Engines", "Engines")),
        ("section", "Steam", ("Engines", "Engines")),
        ("paragraph", "", ("Engines", "Engines", "Steam")),
        ("section", "Boilers", ("Engines", "Engines", "Steam")),
        ("paragraph", "", ("Engines", "Engines", "Steam", "Boilers")),
        ("paragraph", "", ("Engines", "Engines", "Steam", "Boilers")),
        ("section", "Diesel", ("Engines", "Engines")),
        ("paragraph", "", ("Engines", "Engines", "Diesel")),
    ]
    assert [node.ordinal for node in found] == list(range(len(found)))


def test_a_list_is_one_paragraph_and_a_fence_stays_whole():
    """Blank lines within code divide nothing; neighbouring items stay together."""
    texts = [node.text for node in nodes() if node.type is NodeType.PARAGRAPH]
    assert "- one\n- two" in texts
    assert "```python\na = 1\n\nb = 2\n```" in texts


def test_spans_lie_within_their_parents_and_say_the_text():
    """Each node's text is what the file says there, and lies within its parent."""
    note = parse("a.md", NOTE)
    found = {node.id: node for node in article_nodes(note)}
    for node in found.values():
        assert note.text[node.start : node.end] == node.text
        if node.parent_id is not None:
            above = found[node.parent_id]
            assert above.start <= node.start <= node.end <= above.end
            assert above.line <= node.line <= node.end_line <= above.end_line


def test_an_empty_note_is_an_article_without_children():
    """A note of front matter only, or of nothing, still is an article."""
    for text in ("", "---\ntags: a\n---\n", "\ufeff"):
        (article,) = nodes(text)
        assert (article.type, article.text) == (NodeType.ARTICLE, "")


def test_a_rename_keeps_what_summaries_are_kept_under():
    """The path is part of the id and not of the summary's key, also where the title is only the file's name."""
    for text in (NOTE, "No heading of its own.\n\n## Part\n\nMore."):
        here, there = nodes(text, "a.md"), nodes(text, "folder/b.md")
        assert not {node.id for node in here} & {node.id for node in there}
        assert [node.context_hash for node in here] == [node.context_hash for node in there]


def test_an_equal_paragraph_below_another_title_has_a_summary_of_its_own():
    """A contextual summary belongs to where it stands."""
    found = nodes("# A\n\nSame.\n\n# B\n\nSame.")
    hashes = [node.context_hash for node in found if node.type is NodeType.PARAGRAPH]
    assert len(set(hashes)) == len(hashes) == 2


def test_long_paragraphs_are_embedded_by_summary():
    """Spec 5, Ingestion: paragraphs of 1,000 tokens and more, sections and articles."""
    for text, expected in (("short " * 600, "short"), ("long " * 1000, "in short")):
        article, paragraph = (stored(node, "in short") for node in nodes(text))
        assert embedded_text(article, text) == "a\nin short"
        assert embedded_text(paragraph, text).split("\n")[1].startswith(expected)


WORDS = st.text(alphabet="abcdefgh ", min_size=1, max_size=12).filter(str.strip)
PARTS = st.lists(
    st.one_of(
        st.tuples(st.integers(1, 4), WORDS).map(lambda part: f"{'#' * part[0]} {part[1].strip()}"),
        WORDS.map(str.strip),
    ),
    min_size=1,
    max_size=14,
)


@given(PARTS, st.data())
def test_an_edit_of_one_paragraph_leaves_every_other_id(parts, data):
    """What was not touched keeps its id: only the edited block's is new, sections keep theirs."""
    blocks = [n for n, part in enumerate(parts) if not part.startswith("#")]
    if not blocks:
        return
    chosen = data.draw(st.sampled_from(blocks))
    edited = [*parts[:chosen], "quite another text", *parts[chosen + 1 :]]
    before, after = nodes("\n\n".join(parts)), nodes("\n\n".join(edited))
    assert len({node.id for node in before}) == len(before)
    equals = [part for part in parts if part == parts[chosen]]
    if len(equals) == 1:
        assert len({node.id for node in before} - {node.id for node in after}) == 1
    sections = {node.id for node in before if node.type is not NodeType.PARAGRAPH}
    assert sections <= {node.id for node in after}


@given(PARTS)
def test_every_block_is_in_one_paragraph_and_reading_order_holds(parts):
    """Nothing is lost between the nodes: each written block is in just one paragraph of the right section."""
    found = nodes("\n\n".join(parts))
    written = [part for part in parts if not part.startswith("#")]
    assert [" ".join(node.text.split()) for node in found if node.type is NodeType.PARAGRAPH] == [
        " ".join(part.split()) for part in written
    ]
    ids = [node.id for node in found]
    assert [node.parent_id in ids[:place] for place, node in enumerate(found)] == [False, *[True] * (len(found) - 1)]
