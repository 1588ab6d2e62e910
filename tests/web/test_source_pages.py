"""The pages of sources: state, history with differences, and what can be done with each."""

from __future__ import annotations

import pytest

from infold.knowledge.reading.records import SourceText

URL = "https://example.org/heat"


@pytest.fixture
def source(vault):
    """A source that has had three texts."""
    for day, text in enumerate(("Pumps are loud.", "Pumps are quiet.", "Pumps are <b>quiet</b> now."), start=1):
        vault.sources.keep(URL, SourceText(title="Heat", text=text, kind="page"), f"2026-01-0{day}T00:00:00+00:00")
    return vault.sources.get(URL)


async def test_the_list_says_how_each_stands(client, vault, source):
    """Title, address, state, number of texts; one that is watched and old is due, with a button to look again."""
    async with client() as http:
        assert ">kept<" in (await http.get("/sources")).text
        vault.sources.watch(URL, is_watched=True)
        text = (await http.get("/sources")).text
    assert f'<a href="/{source.path}">Heat</a>' in text
    assert ">stale<" in text
    assert "1 watched source was not looked at" in text


async def test_a_source_shows_its_texts_and_what_changed_with_each(client, source):
    """The newest first; an older one with the difference from the one before it; the first has none; as text."""
    async with client() as http:
        newest = (await http.get(f"/{source.path}")).text
        second = (await http.get(f"/{source.path}?version=2")).text
        first = (await http.get(f"/{source.path}?version=1")).text
        none = await http.get(f"/{source.path}?version=9")
    assert "&lt;b&gt;quiet&lt;/b&gt; now." in newest
    assert '<span class="del">-Pumps are quiet.</span>' in newest
    assert '<span class="add">+Pumps are quiet.</span>' in second
    assert "What changed with this text" not in first
    assert none.status_code == 400
    assert "from outside" in newest


async def test_a_source_is_watched_and_forgotten(client, vault, source):
    """On the list, off it, and gone; of one that is not there a page says so."""
    async with client() as http:
        await http.post("/sources/watch", data={"source": source.path, "watch": "yes"})
        assert vault.sources.get(URL).is_watched
        await http.post("/sources/watch", data={"source": source.path, "watch": ""})
        assert not vault.sources.get(URL).is_watched
        gone = await http.post("/sources/forget", data={"source": source.path})
        assert gone.headers["location"] == "/sources"
        assert list(vault.sources) == []
        assert (await http.get(f"/{source.path}")).status_code == 404
