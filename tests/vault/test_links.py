"""Where links lead."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.settings import VaultParams
from infold.vault.files import decode, read_bytes
from infold.vault.links import LinkResolver, alias_table, is_attachment
from infold.vault.note import Note, parse
from infold.vault.scanning import scan


def resolver(*paths: str, **aliases: str) -> LinkResolver:
    return LinkResolver(paths, aliases)


def vault_notes(root: Path) -> list[Note]:
    limit = VaultParams().max_note_bytes
    return [
        parse(file.path, decode(read_bytes(root, file.path, limit), file.path))
        for file in scan(root, VaultParams()).files
    ]


def vault_resolver(notes: list[Note]) -> LinkResolver:
    return LinkResolver((note.path for note in notes), alias_table((note.path, note.aliases) for note in notes))


@pytest.mark.parametrize(
    "target", ["Note", "Note.md", "note", "NOTE.MD", "Folder/Note", "folder/note.md", "/Folder/Note"]
)
def test_a_note_is_found_by_name_or_path_in_any_case(target):
    """A name, a name with suffix, a path with or without either: one note."""
    assert resolver("Folder/Note.md", "Other.md").resolve(target, "Other.md") == "Folder/Note.md"


def test_unicode_forms_are_one_name():
    """A link in one Unicode form finds a file in the other, in any case."""
    path = unicodedata.normalize("NFD", "Café Ñandú.md")
    assert resolver(path).resolve(unicodedata.normalize("NFC", "CAFÉ ñandú"), "x.md") == path


def test_a_path_from_the_root_wins_over_the_same_name_nearby():
    """`[[Note]]` with a `Note.md` at the root means that one, wherever the link stands."""
    links = resolver("Note.md", "sub/Note.md")
    assert links.resolve("Note", "sub/a.md") == "Note.md"
    assert links.resolve("sub/Note", "a.md") == "sub/Note.md"


def test_of_several_the_nearest_then_the_shortest_then_the_alphabet():
    """Same folder, below it, fewest folders, shortest path, alphabet."""
    links = resolver("a/N.md", "b/N.md", "b/c/d/N.md", "e/f/g/h/N.md", "longer/N.md")
    assert links.resolve("N", "b/x.md") == "b/N.md"
    assert links.resolve("N", "b/c/x.md") == "b/c/d/N.md"
    assert links.resolve("N", "e/f/x.md") == "e/f/g/h/N.md"
    assert links.resolve("N", "z/x.md") == "a/N.md"


def test_the_end_of_a_path_is_enough():
    """`[[Folder/Note]]` finds `deep/Folder/Note.md`, but not `OtherFolder/Note.md`."""
    links = resolver("deep/Folder/Note.md", "OtherFolder/Note.md")
    assert links.resolve("Folder/Note", "x.md") == "deep/Folder/Note.md"
    assert links.resolve("Elsewhere/Note", "x.md") is None


def test_relative_links_count_from_their_source():
    """`./` and `../` are worked out from the folder of the source, and never beyond the vault."""
    links = resolver("a/b/N.md", "a/M.md", "M.md")
    assert links.resolve("./N", "a/b/x.md") == "a/b/N.md"
    assert links.resolve("../M.md", "a/b/x.md") == "a/M.md"
    assert links.resolve("../../M", "a/b/x.md") == "M.md"
    assert links.resolve("../../../M", "a/b/x.md") is None
    assert links.resolve("./M", "a/b/x.md") is None


def test_an_empty_target_is_the_note_itself():
    """`[[#Heading]]` stays in its note."""
    assert resolver("a.md").resolve("", "a.md") == "a.md"


def test_names_may_hold_dots():
    """`foo.bar` is a name, not a file of type `bar`; a note called `x.md.md` can be linked too."""
    links = resolver("foo.md", "foo.bar.md", "foo.bar.baz.md", "x.md.md")
    assert links.resolve("foo.bar", "foo.md") == "foo.bar.md"
    assert links.resolve("foo.bar.baz", "foo.md") == "foo.bar.baz.md"
    assert links.resolve("foo.qux", "foo.md") is None
    assert links.resolve("x.md", "foo.md") == "x.md.md"


def test_both_suffixes_are_notes():
    """`.markdown` files are found like `.md` files."""
    links = resolver("a/N.markdown")
    assert links.resolve("N", "x.md") == "a/N.markdown"
    assert links.resolve("a/N.markdown", "x.md") == "a/N.markdown"


def test_aliases_count_only_where_no_file_fits():
    """A front-matter alias leads to its note; a file of that name comes first."""
    links = resolver("a.md", "b.md", Alpha="a.md", b="a.md", **{"Two words": "a.md"})
    assert links.resolve("alpha", "x.md") == "a.md"
    assert links.resolve("TWO WORDS", "x.md") == "a.md"
    assert links.resolve("b", "x.md") == "b.md"


def test_an_alias_claimed_twice_is_the_first_note_s():
    """Two notes with one alias: the path that sorts first has it, whatever the order they come in."""
    assert alias_table([("b.md", ["X"]), ("a.md", ["X", "Y"])]) == {"X": "a.md", "Y": "a.md"}


def test_percent_signs_are_decoded_only_where_the_name_has_none():
    """A file `100%25.md` is found by its own name first, a wiki-link with `%20` by what it means."""
    links = resolver("100%25.md", "my note.md")
    assert links.resolve("100%25", "x.md") == "100%25.md"
    assert links.resolve("my%20note", "x.md") == "my note.md"


def test_reversed_links_of_dendron_take_the_right_side_where_the_left_leads_nowhere():
    """`[[label|target]]`: the label is shown, the target is on the right; files only, never aliases."""
    links = resolver("topic.vaults.md", "label.md", Shown="topic.vaults.md")
    for text, wanted in [
        ("[[Any label|topic.vaults]]", "topic.vaults.md"),
        ("[[Any label|topic.vaults#anchor]]", "topic.vaults.md"),
        ("[[Any label|dendron://main/topic.vaults#anchor]]", "topic.vaults.md"),
        ("[[dendron://main/topic.vaults]]", "topic.vaults.md"),
        ("[[label|topic.vaults]]", "label.md"),
        ("[[nowhere|Shown]]", None),
        ("[nowhere.md](topic.md)", None),
    ]:
        (link,) = parse("x.md", text).links
        assert links.resolve_link(link, "x.md") == wanted, text


@pytest.mark.parametrize(
    "target,is_wiki,wanted",
    [
        ("picture.png", True, True),
        ("folder/paper.PDF", True, True),
        ("board.canvas", True, True),
        ("Note", True, False),
        ("foo.bar", True, False),
        ("v1.2", True, False),
        ("Note.md", True, False),
        ("../src/main.rs", False, True),
        ("notes/", False, True),
        ("Note.markdown", False, False),
        ("Note", False, False),
    ],
)
def test_attachments_are_told_from_notes(target, is_wiki, wanted):
    """Attachments resolve to no note and do not dangle; names with dots are not mistaken for them."""
    assert is_attachment(target, is_wiki=is_wiki) is wanted
    assert resolver("other.md").resolve(target, "other.md") is None


PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "Note", "É", "x.y"]), min_size=1, max_size=3).map(
        lambda p: "/".join(p) + ".md"
    ),
    min_size=1,
    max_size=8,
    unique=True,
)


@given(PATHS, st.data())
def test_every_note_is_reached_by_its_path(paths, data):
    """A link written as the path of a note leads to it, from everywhere, with or without suffix."""
    links = LinkResolver(paths, {})
    path, source = data.draw(st.sampled_from(paths)), data.draw(st.sampled_from(paths))
    assert links.resolve(path, source) == path
    assert links.resolve(path.removesuffix(".md").upper(), source) == path


@given(PATHS, st.randoms())
def test_the_order_of_notes_does_not_matter(paths, random):
    """Links lead to the same notes however the vault is listed."""
    shuffled = random.sample(paths, len(paths))
    one, other = LinkResolver(paths, {}), LinkResolver(shuffled, {})
    for target in ("a", "Note", "é", "x.y", "a/b", "b/Note", "./a", "../Note"):
        for source in paths:
            assert one.resolve(target, source) == other.resolve(target, source)


@given(PATHS)
def test_many_notes_of_one_name_change_no_link(paths):
    """A path leads where it leads, also where so many notes have its name that they are not gone through."""
    names = sorted({path.rpartition("/")[2] for path in paths})
    crowd = [f"zz/{number}/{name}" for number in range(9) for name in names]
    few, many = LinkResolver(paths, {}), LinkResolver([*paths, *crowd], {})
    for path in paths:
        for target in (path, path.removesuffix(".md").upper(), f"/{path}"):
            assert few.resolve(target, path) == many.resolve(target, path)


@given(PATHS, st.text(max_size=12))
def test_any_target_leads_to_a_note_or_nowhere(paths, target):
    """No text makes the resolver raise, or name a file that is no note."""
    found = LinkResolver(paths, {}).resolve(target, paths[0])
    assert found is None or found in paths


def test_links_lead_where_an_exporter_of_obsidian_vaults_takes_them(shared_data):
    """In the vaults of obsidian-export, links lead to the files that its own expected output names."""
    data = shared_data / "markdown" / "obsidian-export" / "tests" / "testdata"
    compared = 0
    for vault in ("main-samples", "non-ascii", "same-filename-different-directories", "infinite-recursion"):
        notes = vault_notes(data / "input" / vault)
        links = vault_resolver(notes)
        expected_resolver = LinkResolver((note.path for note in notes), {})
        for note in notes:
            file = data / "expected" / vault / note.path
            if not file.is_file():
                continue
            found = {links.resolve_link(link, note.path) for link in note.links if not link.is_embed} - {None}
            exported = parse(note.path, file.read_text(encoding="utf-8"))
            wanted = {expected_resolver.resolve(f"./{link.target}", note.path) for link in exported.links}
            assert found <= wanted, note.path
            compared += len(found)
    assert compared >= 5


@pytest.mark.parametrize(
    "vault,least_links,most_dangling",
    [("foam-docs", 280, 7), ("quartz-docs", 215, 7), ("forgetful-notes", 210, 0), ("dendron-site", 3000, 160)],
)
def test_links_of_public_vaults_lead_to_their_notes(shared_data, vault, least_links, most_dangling):
    """Of the links of four public vaults none dangles that a person would find (their real dangling ones counted)."""
    notes = vault_notes(shared_data / "vaults" / vault)
    links = vault_resolver(notes)
    written = [(note, link) for note in notes for link in note.links]
    dangling = [
        f"{note.path}: {link.raw}"
        for note, link in written
        if links.resolve_link(link, note.path) is None and not is_attachment(link.target, is_wiki=link.is_wiki)
    ]
    assert len(written) >= least_links
    assert len(dangling) <= most_dangling, dangling
