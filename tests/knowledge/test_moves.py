"""Links after notes were renamed or moved."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.knowledge.moves import LinkName, MovePlan, plan_moves
from infold.vault.links import LinkResolver, alias_table
from infold.vault.note import parse


def _notes(texts: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in texts.items() if path.endswith(".md")}


def _move(texts: Mapping[str, str], moves: Mapping[str, str]) -> tuple[MovePlan, dict[str, str]]:
    """The plan, and the vault after it."""
    notes = {path: parse(path, text) for path, text in _notes(texts).items()}
    links = [LinkName(p, link.target, link.alias, link.is_wiki) for p, note in notes.items() for link in note.links]
    canvases = [path for path in texts if path.endswith(".canvas")]
    files = [path for path in texts if path not in notes]
    aliases = {path: note.aliases for path, note in notes.items()}
    plan = plan_moves(moves, aliases, links, texts.__getitem__, files=files, canvases=canvases)
    return plan, {moves.get(path, path): plan.texts.get(path, text) for path, text in texts.items()}


def _leads(texts: Mapping[str, str]) -> list[tuple[str, list[str | None]]]:
    """For each note where its links lead, in order."""
    notes = {path: parse(path, text) for path, text in _notes(texts).items()}
    resolver = LinkResolver(notes, alias_table((path, note.aliases) for path, note in notes.items()))
    return [(path, [resolver.resolve_link(link, path) for link in note.links]) for path, note in notes.items()]


FORMS = [
    ("[[Old]]", "[[New name]]"),
    ("[[Old|shown]]", "[[New name|shown]]"),
    ("[[Old#Heading]]", "[[New name#Heading]]"),
    ("[[Old#H1#H2|x]]", "[[New name#H1#H2|x]]"),
    ("[[Old#^block]]", "[[New name#^block]]"),
    ("![[Old]]", "![[New name]]"),
    ("![[Old#Heading|200]]", "![[New name#Heading|200]]"),
    ("[[ old ]]", "[[ New name ]]"),
    ("[[Old.md]]", "[[New name.md]]"),
    ("[[sub/Old]]", "[[sub/New name]]"),
    ("[[./sub/Old]]", "[[./sub/New name]]"),
    ("[[/sub/Old]]", "[[/sub/New name]]"),
    ("[label](sub/Old.md)", "[label](sub/New%20name.md)"),
    ("[label](<sub/Old.md>)", "[label](<sub/New name.md>)"),
    ('[label](sub/Old.md "a title")', '[label](sub/New%20name.md "a title")'),
    ("[label](sub/Old.md#part-one)", "[label](sub/New%20name.md#part-one)"),
    ("[label](./sub/Old.md)", "[label](./sub/New%20name.md)"),
    ("[![alt](picture.png)](sub/Old.md)", "[![alt](picture.png)](sub/New%20name.md)"),
    (
        "see [label][ref] and [ref].\n\n[ref]: sub/Old.md 'x'\n",
        "see [label][ref] and [ref].\n\n[ref]: sub/New%20name.md 'x'\n",
    ),
    ("| a | b |\n|---|---|\n| [[Old\\|x]] | y |\n", "| a | b |\n|---|---|\n| [[New name\\|x]] | y |\n"),
    (
        "---\nup: '[[Old]]'\nmore: \"[[Old|x]]\"\n---\ntext\n",
        "---\nup: '[[New name]]'\nmore: \"[[New name|x]]\"\n---\ntext\n",
    ),
    ("[[the label|Old]]", "[[the label|New name]]"),
    ("`[[Old]]` and <!-- [[Old]] -->", "`[[Old]]` and <!-- [[Old]] -->"),
    ("[[Older]] [[Old news]]", "[[Older]] [[Old news]]"),
    ("a\r\n[[Old]]\r\nb", "a\r\n[[New name]]\r\nb"),
]


@pytest.mark.parametrize("before, after", FORMS)
def test_each_form_of_link_names_the_new_note_and_nothing_else_changes(before, after):
    """Alias, heading, block, embed, path, encoding, title, definition and every byte around them stay."""
    texts = {"note.md": before, "sub/Old.md": "# Old\n", "Older.md": "", "Old news.md": ""}
    plan, vault = _move(texts, {"sub/Old.md": "sub/New name.md"})
    assert vault["note.md"] == after
    assert not plan.unkept
    assert not plan.caught


def test_an_alias_goes_on_leading_to_its_note_and_reads_as_before():
    """A link by alias needs no change; where a new name takes it away, it names the note and shows the alias."""
    texts = {"note.md": "[[Boss]] [[Boss#Part]]", "anna.md": "---\naliases: [Boss]\n---\n", "x.md": ""}
    assert _move(texts, {"anna.md": "bella.md"})[1]["note.md"] == "[[Boss]] [[Boss#Part]]"
    assert _move(texts, {"x.md": "boss.md"})[1]["note.md"] == "[[anna|Boss]] [[anna#Part|Boss]]"


def test_a_link_is_not_caught_by_another_note_that_comes_nearer():
    """A note moved beside a link would win over the one it led to, so the link says which it means."""
    texts = {"a/note.md": "[[Plan]]", "b/Plan.md": "", "c/Draft.md": ""}
    plan, vault = _move(texts, {"c/Draft.md": "a/Plan.md"})
    assert vault["a/note.md"] == "[[b/Plan]]"
    assert _leads(vault)[0] == ("a/note.md", ["b/Plan.md"])
    assert plan.rewritten[0].before == "Plan"


def test_a_link_that_led_nowhere_and_is_caught_is_told():
    """It is not changed: whether that note was meant is for a person to say."""
    plan, vault = _move({"note.md": "one\n[[Future]]", "old.md": ""}, {"old.md": "Future.md"})
    assert vault["note.md"] == "one\n[[Future]]"
    assert [(link.path, link.line, link.note) for link in plan.caught] == [("note.md", 2, "Future.md")]


def test_a_moved_note_takes_its_relative_links_along():
    """Its own links to notes and to pictures count from its new folder."""
    texts = {
        "a/note.md": "[x](other.md) ![p](img/p.png) [[./other]] [[other]]",
        "a/other.md": "",
        "a/img/p.png": "",
        "b/deep/other.md": "",
    }
    plan, vault = _move(texts, {"a/note.md": "b/deep/note.md"})
    assert vault["b/deep/note.md"] == "[x](../../a/other.md) ![p](../../a/img/p.png) [[../../a/other]] [[a/other]]"
    assert not plan.unkept


def test_a_canvas_keeps_its_cards():
    """Cards that name the file, and links in cards of text, follow; every other byte stays."""
    canvas = '{"nodes":[\n  {"id":"1","type":"file", "file" : "sub\\/Old.md","subpath":"#H"},\n  {"type":"text","text":"see [[Old]] \\u00e9"}],\n"edges":[]}'
    _, vault = _move({"c.canvas": canvas, "sub/Old.md": ""}, {"sub/Old.md": "sub/Näu.md"})
    cards = json.loads(vault["c.canvas"])["nodes"]
    assert cards[0] == {"id": "1", "type": "file", "file": "sub/Näu.md", "subpath": "#H"}
    assert cards[1]["text"] == "see [[Näu]] é"
    assert vault["c.canvas"].startswith('{"nodes":[\n  {"id":"1","type":"file", "file" : "')
    assert _move({"c.canvas": "{no json", "Old.md": ""}, {"Old.md": "New.md"})[1]["c.canvas"] == "{no json"


NAMES = st.sampled_from(["a", "B", "plan", "Plan b", "x.y", "ünï", "100%", "it's", "a+b", "(c)", "c&d"])
FOLDERS = st.sampled_from(["", "one/", "one/two/", "three/"])
PATHS = st.builds(lambda folder, name: f"{folder}{name}.md", FOLDERS, NAMES)


@st.composite
def vaults(draw):
    """A small vault with links of every form between its notes, and names that clash by design."""
    paths = draw(st.lists(PATHS, min_size=2, max_size=7, unique_by=str.casefold))
    texts = {}
    for path in paths:
        lines = []
        for _ in range(draw(st.integers(0, 5))):
            target = draw(st.sampled_from(paths))
            stem = target.removesuffix(".md")
            name = draw(
                st.sampled_from(
                    [stem.rpartition("/")[2], stem, target, f"/{stem}", "nowhere", "Alias one", "alias TWO"]
                )
            )
            encoded = name.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29")
            form = draw(
                st.sampled_from(
                    ["[[{n}]]", "[[{n}|x]]", "![[{n}#H]]", "[[{n}#^b]]", "[y]({e})", "[y](<{b}#part>)", "[y]({e} 't')"]
                )
            )
            lines.append(form.format(n=name, e=encoded, b=name.replace("%", "%25")))
        aliases = draw(st.sampled_from(["", "", "Alias one", "alias two"]))
        up = draw(st.sampled_from([None, *[p.removesuffix(".md") for p in paths if "'" not in p]]))
        front = (
            "---\n" + (f"aliases: ['{aliases}']\n" if aliases else "") + (f"up: '[[{up}]]'\n" if up else "") + "---\n"
        )
        texts[path] = (front if aliases or up else "") + "\n\n".join(lines)
    return texts, draw(st.lists(st.tuples(st.integers(0, 99), PATHS), min_size=4, max_size=4))


@settings(max_examples=1000, deadline=None)
@given(vaults())
def test_every_link_that_resolved_still_resolves_to_its_note(case):
    """Whatever is renamed to whatever, four times over: each link leads where it led; what is caught is told."""
    vault, renames = case
    for number, new in renames:
        old = sorted(vault)[number % len(vault)]
        if new.casefold() not in {path.casefold() for path in vault if path != old}:
            vault = _renamed(vault, old, new)


def _renamed(texts: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    before = _leads(texts)
    plan, vault = _move(texts, {old: new})
    assert not plan.unkept
    caught = {(link.path, link.note) for link in plan.caught}
    for (path, was), (_, now) in zip(before, _leads(vault), strict=True):
        for target, found in zip(was, now, strict=True):
            if target is None:
                assert found is None or (path, found) in caught
            else:
                assert found == (new if target == old else target)
    return vault
