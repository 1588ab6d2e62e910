"""Documents as trees (spec 2, Import: "Import operations MUST preserve the hierarchical structure")."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.docmem.documents import markdown_draft, text_draft
from infold.docmem.tree_builder import TreeDraft, shortened
from infold.text import words

NOTE = """---
tags: [garden]
---
Before any heading.

# Beds

The bed by the wall.

- Sun until noon
  - less in winter
- Heavy soil

### Deep

```sh
# no heading
make bed
```

## Tools

| tool | place |
|---|---|
| rake | shed |

Paths
=====

%% a comment %%
"""
PIECES = (
    "# One", "## Two", "### Three", "Under\n---", "- item", "  - nested", "1. first", "> quote", "```", "~~~", "    code",
    "| a | b |\n|---|---|\n| c | d |", "---", "%% said", "%%", "<!-- x", "-->", "<div>", "[^1]: foot", "[ref]: http://a.b",
    "prose goes on", "word", "\t", "", "", "\r", "É́tude 漢字", "#tag", "#", "[[link]]", "* * *", "====",
)  # fmt: skip


def outline(draft: TreeDraft, depth: int = 0) -> list[str]:
    """Context and first line of each node, indented."""
    lines = [f"{'  ' * depth}{draft.context} | {draft.text.partition(chr(10))[0]}".rstrip()]
    return lines + [line for child in draft.children for line in outline(child, depth + 1)]


def document(draft: TreeDraft) -> str:
    """What serialising the tree gives."""
    return "\n\n".join(part.text for part in draft.walk() if part is not draft and part.text.strip())


def test_markdown_by_its_headings():
    """Spec 2, Import: "MUST preserve the hierarchical structure of the source document": sections below sections."""
    assert outline(markdown_draft(NOTE, "beds.md")) == [
        "root:markdown:beds.md |",
        "  metadata:front_matter:yaml | ---",
        "  memory:paragraph:L4 | Before any heading.",
        "  section:h1:Beds | # Beds",
        "    memory:paragraph:L8 | The bed by the wall.",
        "    memory:list_item:L10 | - Sun until noon",
        "      memory:list_item:L11 |   - less in winter",
        "    memory:list_item:L12 | - Heavy soil",
        "    section:h3:Deep | ### Deep",
        "      memory:code:L16-19 | ```sh",
        "    section:h2:Tools | ## Tools",
        "      memory:table:L23-25 | | tool | place |",
        "  section:h1:Paths | Paths",
        "    memory:comment:L30 | %% a comment %%",
    ]


NESTED = """- parent
  more of it
  - child
    - grandchild

      on another line
  - second child
    ```
    - no item
    ```

  the parent goes on
- alone. It has two sentences.

1. one
   * two
"""


def test_nested_lists_and_sentences():
    """Spec 2, Import, Memory: items below their items; a paragraph's sentences are memories, links and code are whole."""
    assert outline(markdown_draft(NESTED, "a.md"))[1:] == [
        "  memory:list_item:L1-2 | - parent",
        "    memory:list_item:L3 |   - child",
        "      memory:list_item:L4-6 |     - grandchild",
        "    memory:list_item:L7-10 |   - second child",
        "    memory:paragraph:L12 |   the parent goes on",
        "  memory:list_item:L13 | - alone. It has two sentences.",
        "  memory:list_item:L15 | 1. one",
        "    memory:list_item:L16 |    * two",
    ]
    text = "One ends. Two has `a. B` and\n[a. Link](x.md) in it. Three."
    assert outline(markdown_draft(text, "a.md"))[1:] == [
        "  paragraph:sentences:L1-2 |",
        "    memory:sentence:L1 | One ends.",
        "    memory:sentence:L1-2 | Two has `a. B` and",
        "    memory:sentence:L2 | Three.",
    ]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans())
def test_markdown_keeps_every_word(pieces, line_end, has_bom):
    """Spec 2, Memory: "MUST preserve ground truth": each word of the note is in the document, in its order."""
    text = ("\ufeff" if has_bom else "") + line_end.join(pieces)
    draft = markdown_draft(text, "a.md")
    assert words(document(draft)) == words(text)
    assert all(part.text in text for part in draft.walk())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB. !?…\n\r\t\"'”)。」漢*_-é"), max_size=60))
def test_text_keeps_every_sign(text):
    """Each sign that is no white space is in the document, in its order; nodes are pieces of the text."""
    draft = text_draft(text, "a.txt")
    assert "".join(document(draft).split()) == "".join(text.split())
    assert all(part.text in re.sub(r"\r\n?", "\n", text) for part in draft.walk())


def test_text_by_paragraphs_and_sentences():
    """Blank lines part paragraphs; one of several sentences stands over them, without text of its own."""
    text = 'One alone\n\nDr. Who said "Go!" Then\nhe left. (All did.) etc. etc.\n \n晴れ。「雨。」雪'
    assert outline(text_draft(text, "weather report of the whole year.txt")) == [
        "root:text:weather report of the… |",
        "  memory:paragraph:L1 | One alone",
        "  paragraph:sentences:L3-4 |",
        '    memory:sentence:L3 | Dr. Who said "Go!"',
        "    memory:sentence:L3-4 | Then",
        "    memory:sentence:L4 | (All did.) etc. etc.",
        "  paragraph:sentences:L6 |",
        "    memory:sentence:L6 | 晴れ。",
        "    memory:sentence:L6 | 「雨。」",
        "    memory:sentence:L6 | 雪",
    ]


@pytest.mark.parametrize(
    "long, short",
    [
        ("twenty-four characters!!", "twenty-four characters!!"),
        ("The bed by the wall gets sun", "The bed by the wall…"),
        ("The bed by the old walls too", "The bed by the old…"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrtsg…"),
        ("two\nlines\tof  it", "two lines of it"),
        ("", ""),
    ],
)
def test_names_are_cut_at_a_word(long, short):
    """Spec 2, Context Fields: "0 to 24 characters": cut where a word ends, on one line, and said so."""
    assert shortened(long) == short


@given(st.text(max_size=80))
def test_names_always_fit(name):
    """Whatever the name, what is left of it may stand in a context field."""
    assert len(shortened(name)) <= 24
