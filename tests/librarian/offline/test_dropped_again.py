"""The same inbox dropped again and again: what is there already is known in every form."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.inbox.paragraphs import number_paragraphs
from infold.vault.differences import line_splices
from infold.vault.edits import apply_edits
from infold.vault.structure import structure_problems
from tests.librarian.offline.support import edit_request, librarian_in
from tests.librarian.offline.test_editing import GARDEN

JOTTED = [
    "- compost for the soil\n- a rake for the paths\n- seeds",
    "* [ ] dig the soil\n* [x] sharpen the spade",
    "- soil wants\n  - compost\n  - water\n    1. at noon\n- and worms",
    "What the soil wants:\n- compost\n- sand\n- worms\n- water\n- rest\n- time\n- more time",
    "The order of work:\n\n1. Dig.\n2. Rake.\n3. Sow.",
    "1. Spade out.\n2. Soil over.\n3. Spade away.",
    "So one calls the spade:\n\n```sh\nspade --deep\n\nrake\n```",
    "Clay soil cracks in summer, so compost is dug in.",
    "Clay soil cracks\nwhere it is dry:\n+ in summer\n+ on the slope",
    "- the slope wants a wall\n\n- and the soil a rest\n\n  with straw on it",
    "| soil | water |\n|---|---|\n| clay | little |",
    "> [!note] Soil\n> Heavy, but good.",
    "- see how:\n```\nsoil --turn\n```",
    "![[soil.png]]",
    "土は重い粘土です。",
    "- 土",
]
NOTES = st.sampled_from(
    [
        GARDEN,
        "# Soil\n\n- clay\n- sand\n\n1. Dig.\n2. Sow.\n",
        "Soil is clay.\n",
        "# Soil\n\nSoil needs:\n\n* clay\n\n* sand\n\n```\nsoil\n```\n\n> soil\n",
        "---\nx: 1\n---\nSoil, water and compost.\n\n## Tools\n\n- [ ] spade\n- [ ] rake\n",
        "# Soil\r\n\r\nClay:\r\n- heavy\r\n- wet\r\n",
    ]
)


def dropped(texts: dict[str, str], inbox: str) -> tuple[dict[str, str], list[str]]:
    """The notes after the inbox was filed in them, and the paragraphs that went in."""
    paragraphs = [p.paragraph.text for p in number_paragraphs(inbox)]
    request = edit_request(texts, *paragraphs)
    answer = asyncio.run(librarian_in(texts).conversation(request.chunk).edit(request))
    edits = [edit for edit in answer.edits if not edit.is_duplicate]
    after = {
        path: apply_edits(text, [(e.find, e.replace or "") for e in edits if e.file == path])
        for path, text in texts.items()
    }
    return after, [paragraphs[n - 1] for edit in edits for n in edit.paragraphs]


@settings(max_examples=150, deadline=None)
@given(
    NOTES,
    NOTES,
    st.lists(st.sampled_from(JOTTED), min_size=1, max_size=4, unique=True),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_went_in_once_never_goes_in_again(one, other, jotted, line_end):
    """Of any mix of lists, paragraphs and code, dropped three times, there is one copy; nothing of a note is parted."""
    first = {"Garden.md": one, "Soil.md": other}
    inbox = ("\n\n".join(jotted) + "\n").replace("\n", line_end)
    second, went_in = dropped(first, inbox)
    for path, text in first.items():
        assert not list(structure_problems(text, line_splices(text, second[path])))
    known, texts = set(went_in), second
    for _ in range(2):
        texts, again = dropped(texts, inbox)
        assert not known & set(again)
        known |= set(again)


@pytest.mark.parametrize("jotted", JOTTED)
def test_each_form_is_known_again_alone(jotted):
    """One jotting at a time: the second drop changes no byte."""
    after, went_in = dropped({"Garden.md": GARDEN}, jotted)
    if went_in:
        assert after["Garden.md"] != GARDEN
        assert dropped(after, jotted) == (after, [])
