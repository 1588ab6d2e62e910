"""Edits always keep the rules, and put a paragraph where it reads on."""

from __future__ import annotations

import asyncio
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from infold.librarian.answers import NO_NOTE, Chunk, LookRequest, Paragraph
from infold.librarian.edit_answers import Edits
from infold.librarian.offline import OfflineLibrarian
from infold.librarian.offline.editing import Editing
from infold.librarian.offline.librarian import homes_of
from infold.librarian.rules import check_edits
from infold.vault.edits import apply_edits
from tests.librarian.offline.support import edit_request, evidence_in, librarian_in

GARDEN = """---
title: Garden
---
# Garden

The garden lies on a slope and gets sun until noon.

## Soil

The soil is heavy clay; compost and sand make it lighter.
Worms do the rest.

## Tools

- A spade with a long handle for the clay
- A rake for the paths

```
spade --long
```

## Harvest
"""

SEASONS = {
    f"{season}.md": f"# {season}\n\nWhat to plant in {season}, and what to prune.\n"
    for season in (f"season{n}" for n in range(12))
}
UNSURE, SURE = "What to plant, and what to prune?", "What to plant in season3, and what to prune: apples."
TOO_UNLIKELY = r"the likeliest note that speaks of this text is season\d+\.md with \d+%, below editing\.min_confidence"

BLOCKS = st.sampled_from(
    [
        "# Title",
        "## Soil",
        "## Soil and water",
        "Same words here.",
        "Soil is clay, and compost makes it light.",
        "Leads in:",
        "- item one\n- item two\n  - nested",
        "1. first\n2. second",
        "```python\ncode = 1\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> a quote\n> goes on",
        "$$\nx\n$$",
        "%% a comment %%",
        "<div>\nhtml\n</div>",
        "---",
        "Setext\n======",
        "[ref]: https://example.org",
        "Hard break  \nin a paragraph",
        "これは文です。",
        "![[embed]]",
    ]
)
NOTES = st.tuples(
    st.lists(BLOCKS, max_size=12), st.sampled_from(["\n\n", "\n", "\r\n\r\n"]), st.sampled_from(["", "\n"])
)
PARAGRAPHS = st.sampled_from(
    [
        "Soil wants compost every spring, and water when it is dry.",
        "- an item about soil",
        "This goes on from what was said of the soil before.",
        "Same words here.",
        "Here is what soil needs:",
        "```\nunclosed soil",
        "<!-- soil",
        "| soil | clay |",
        "完全に違う文です。",
        "> soil quoted",
        "$$ soil",
        "soil\n---",
    ]
)


def answered(texts: dict[str, str], *paragraphs: str) -> Edits:
    """The librarian's edits of these notes."""
    request = edit_request(texts, *paragraphs)
    librarian = librarian_in(texts)
    return asyncio.run(librarian.conversation(request.chunk).edit(request))


def applied(text: str, answer: Edits) -> str:
    """The note with the edits made."""
    return apply_edits(text, [(e.find, e.replace or "") for e in answer.edits if not e.is_duplicate])


@settings(max_examples=250, deadline=None)
@given(NOTES, st.lists(PARAGRAPHS, min_size=1, max_size=4))
def test_edits_keep_every_rule_and_every_line(note, paragraphs):
    """Whatever the note, the answer passes the rules, and the note's own lines stay, in order, byte for byte."""
    blocks, between, end = note
    texts = {"a.md": between.join(blocks) + end, "Soil.md": "# Soil\n\nSoil is clay, sand and humus.\n"}
    answer = answered(texts, *paragraphs)
    check_edits(answer, edit_request(texts, *paragraphs))
    for path, text in texts.items():
        mine = answer.model_copy(update={"edits": [e for e in answer.edits if e.file == path]})
        rest = iter(applied(text, mine).splitlines())
        assert all(line in rest for line in text.splitlines())


def test_a_paragraph_goes_under_its_heading_after_the_nearest_text():
    """It stands in the section that speaks of its matter, not at the end of the note."""
    answer = answered({"Garden.md": GARDEN}, "Clay soil cracks in summer, so compost is dug into the soil each autumn.")
    after = applied(GARDEN, answer)
    assert after.index("Worms do the rest.") < after.index("Clay soil cracks") < after.index("## Tools")


def test_a_paragraph_stands_above_the_table_of_its_section():
    """What a section shows comes after what is said of it, where no prose stands there yet."""
    note = "# Garden\n\nThe garden lies on a slope.\n\n## Soil\n\n| soil | clay |\n|---|---|\n| bed | much |\n"
    after = applied(note, answered({"Garden.md": note}, "The soil of the bed holds much clay, and it wants compost."))
    assert after.index("## Soil") < after.index("wants compost") < after.index("| soil | clay |")


def test_what_a_paragraph_links_to_is_in_its_note_and_is_not_its_section():
    """`[[#Heading]]` is a heading of the paragraph's own note, and another one than its own."""
    pond = "# Pond\n\nThe pond is deep.\n\n## Clearing the pond\n\nIt is cleared of leaves.\n\n## Frogs\n\nThey come in May.\n"
    lake = "# Lake\n\nThe lake is deep, and cleared of leaves.\n\n## Fish\n\nThey come in May.\n"
    texts = {"Pond.md": pond, "Lake.md": lake}
    answer = answered(texts, "Fish and frogs come in May to the lake, after [[#Clearing the pond]].")
    assert [edit.file for edit in answer.edits] == ["Pond.md"]
    after = applied(pond, answer)
    assert not after.index("## Clearing") < after.index("Fish and frogs") < after.index("## Frogs")


def test_an_item_joins_the_list():
    """A bullet becomes an item beside the others, without a blank line between."""
    after = applied(GARDEN, answered({"Garden.md": GARDEN}, "- A hoe with a short handle for the weeds in the clay"))
    assert "\n- A hoe with a short handle for the weeds in the clay\n" in after
    assert "handle for the clay\n- A hoe" in after or "rake for the paths\n- A hoe" in after


def test_a_paragraph_fills_the_empty_section_it_belongs_to():
    """A heading with nothing below it is a place that waits."""
    answer = answered(
        {"Garden.md": GARDEN}, "The harvest of beans in the garden begins in July and lasts until the frost."
    )
    assert applied(GARDEN, answer).rstrip().endswith("until the frost.")


def test_equal_paragraphs_are_put_in_once():
    """The same paragraph twice in a chunk is one insertion that takes care of both."""
    text = "Clay soil cracks in summer, so compost is dug into the soil each autumn."
    answer = answered({"Garden.md": GARDEN}, text, text)
    assert applied(GARDEN, answer).count(text) == 1
    assert sorted(n for edit in answer.edits for n in edit.paragraphs) == [1, 2]


def test_what_the_note_says_already_is_marked_with_the_text_that_says_it():
    """A copy becomes a duplicate marker that quotes the note."""
    answer = answered(
        {"Garden.md": GARDEN}, "The soil is heavy clay; compost and sand make it lighter. Worms do the rest."
    )
    assert [edit.is_duplicate for edit in answer.edits] == [True]
    assert "heavy clay" in answer.edits[0].find


def test_what_fits_nowhere_is_left_with_a_reason():
    """A paragraph of which the open notes say nothing stays in the inbox."""
    answer = answered(
        {"Garden.md": GARDEN}, "Quarterly invoices remit electronically through accounting portals overseas."
    )
    assert answer.edits == []
    assert answer.left[0].reason


def test_a_reason_names_no_word_that_tells_of_nothing():
    """In a vault where hardly a note has them, "The" and "with" are as rare as any word, and still say nothing."""
    texts = {"Garden.md": GARDEN, "Songs.md": "# Songs\n\nLoud.\n"}
    reasons = [edit.reason for edit in answered(texts, "The rake is for clay. With the spade and a sieve.").edits]
    shared = {word for reason in reasons for word in reason.partition("shares ")[2].partition(";")[0].split(", ")}
    assert shared & {"rake", "clay", "spade"}
    assert not {word.casefold() for word in shared} & {"the", "with", "and", "it"}


def test_the_same_request_gives_the_same_answer():
    """Decisions depend on nothing but what is asked."""
    texts = {"Garden.md": GARDEN, "Soil.md": "# Soil\n\nSoil is clay, sand and humus.\n"}
    one, other = (answered(texts, "Compost feeds the soil.", "Rakes are for paths.") for _ in range(2))
    assert one == other


def test_what_many_notes_may_take_stays_in_the_inbox():
    """Below `min_confidence` no note takes it, not even one opened for others of its chunk; what is likely goes in."""
    bold, careful = evidence_in(SEASONS), evidence_in(SEASONS, least_chance=0.15)
    assert homes_of(UNSURE, bold)
    assert not homes_of(UNSURE, careful)
    assert list(homes_of(SURE, careful)) == ["season3.md"]
    given = edit_request({"season3.md": SEASONS["season3.md"]}, UNSURE, SURE)
    edits = Editing(given, careful).answer()
    assert [edit.paragraphs for edit in edits.edits] == [[2]]
    assert [left.paragraph for left in edits.left] == [1]
    assert re.fullmatch(rf"{TOO_UNLIKELY} \(15%\)", edits.left[0].reason)


async def why_nowhere(librarian: OfflineLibrarian, *texts: str) -> str:
    """Why nothing is checked out for a chunk, where no note can be viewed any more."""
    chunk = Chunk(1, tuple(Paragraph(n, text) for n, text in enumerate(texts, start=1)))
    answer = await librarian.conversation(chunk).look(LookRequest(chunk, (), (), {}, 1, 0, 0, 3))
    assert not answer.files
    return answer.reason


async def test_the_likeliest_note_is_named_where_all_are_too_unlikely():
    """Alone or beside what no note speaks of, which by itself is told as such."""
    librarian = OfflineLibrarian(evidence_in(SEASONS, least_chance=0.155))
    assert re.fullmatch(rf"{TOO_UNLIKELY} \(15\.5%\)", await why_nowhere(librarian, UNSURE))
    assert re.fullmatch(rf"{TOO_UNLIKELY} \(15\.5%\)", await why_nowhere(librarian, UNSURE, "Quarterly invoices."))
    assert await why_nowhere(librarian, "Quarterly invoices.") == NO_NOTE


def test_what_another_note_speaks_of_is_told_with_that_note():
    """The likely note was not opened: nobody says that no note speaks of it."""
    given = edit_request({"season5.md": SEASONS["season5.md"]}, SURE)
    answer = Editing(given, evidence_in(SEASONS, least_chance=0.15)).answer()
    assert [left.reason for left in answer.left] == [
        "season3.md speaks of it, and was not opened with the others of its chunk"
    ]
