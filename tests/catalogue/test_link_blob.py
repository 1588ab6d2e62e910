"""Links as they are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.catalogue.link_blob import (
    NO_NOTE,
    NOTHING,
    LinkRow,
    led_before,
    names_of,
    pack_links,
    pack_targets,
    unpack_links,
    unpack_targets,
)
from infold.errors import CatalogueFault

names = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.integers(0, 2**31)
rows = st.builds(
    LinkRow,
    names,
    names,
    names.filter(bool) | st.none(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    numbers,
    numbers,
    numbers,
)


@given(st.lists(rows, max_size=8))
def test_links_come_back_as_they_were(links):
    """Whatever a link says, a NUL too, and wherever it stands."""
    assert unpack_links(*pack_links(links)) == links


@given(st.lists(st.integers(1, 2**32 - 2) | st.sampled_from([NOTHING, NO_NOTE])))
def test_targets_come_back_as_they_were(targets):
    """Four bytes a link."""
    packed = pack_targets(targets)
    assert (len(packed), list(unpack_targets(packed))) == (4 * len(targets), targets)


def link(name: str, *, start: int = 0, line: int = 1, is_attachment: bool = False) -> LinkRow:
    flags = {"is_wiki": True, "is_embed": False, "is_attachment": is_attachment}
    return LinkRow(name, "", None, **flags, start=start, end=start + 1, line=line)


def test_links_lead_where_equal_ones_led():
    """What stands elsewhere in a note leads where it led; what is new leads nowhere yet, and is said to be unknown."""
    known = pack_targets([5, 6]), pack_links([link("a"), link("b")])[0]
    moved, _ = pack_links([link("b", start=9), link("a", line=7), link("a")])
    found, is_known = led_before(pack_targets([NOTHING] * 3), moved, *known)
    assert (list(unpack_targets(found)), is_known) == ([6, 5, 5], True)
    more, _ = pack_links([link("b"), link("c.png", is_attachment=True)])
    found, is_known = led_before(pack_targets([NOTHING, NO_NOTE]), more, *known)
    assert (list(unpack_targets(found)), is_known) == ([6, NO_NOTE], False)
    assert led_before(b"", b"", *known) == (b"", True)


@pytest.mark.parametrize("damage", [b"x", pack_links([link("a")])[0][:-2]])
def test_damaged_links_are_a_fault_of_the_catalogue(damage):
    """So that it is made anew."""
    with pytest.raises(CatalogueFault):
        list(names_of(damage))
