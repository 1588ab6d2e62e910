"""Cases: what is cut out, what is copied, and vaults of every kind."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from infold.errors import TooFewParagraphs
from infold.evaluation.cases import Sizes, load_notes, make_case
from infold.evaluation.rewording import other_names, reworded
from infold.inbox.paragraphs import number_paragraphs
from infold.settings import VaultParams
from infold.text import collapse_spaces
from infold.vault.note import parse
from tests.evaluation.conftest import note_text, write_vault

DEMO = Path(__file__).resolve().parents[2] / "data" / "vault"
SIZES = Sizes.of(6)


def notes_of(vault: Path):
    return load_notes(vault, VaultParams())


def test_a_case_is_what_it_says(vault):
    """Cuts stand nowhere in their notes any more, copies still do, each text comes once, and no note is emptied."""
    notes = notes_of(vault)
    case = make_case("vault", notes, 0, SIZES)
    kinds = [item.kind for item in case.inbox]
    assert (kinds.count("cut"), kinds.count("copy"), kinds.count("reworded")) == (6, 2, 2)
    for item in case.inbox:
        stands = item.text in case.notes[item.path]
        assert stands == (item.kind == "copy")
        assert item.kind == "reworded" or item.text in notes[item.path].text
    assert len({collapse_spaces(item.text) for item in case.inbox}) == len(case.inbox)
    cut = [item.path for item in case.inbox if item.kind == "cut"]
    assert set(cut) == case.changed
    assert all(cut.count(path) <= 2 for path in cut)


def test_equal_seeds_give_equal_cases_and_others_do_not(vault):
    """Seed and notes decide, and nothing else: not the name of the folder, not the order in which files are read."""
    notes = notes_of(vault)
    case = make_case("vault", notes, 3, SIZES)
    again = make_case("vault", dict(reversed(notes.items())), 3, SIZES)
    assert (again.inbox, dict(again.notes), again.identity) == (case.inbox, dict(case.notes), case.identity)
    assert make_case("vault", notes, 4, SIZES).identity != case.identity
    elsewhere = make_case("snapshot", notes, 3, SIZES)  # a copy in a folder of another name is the same vault
    assert (elsewhere.notes, elsewhere.inbox) == (case.notes, case.inbox)


@pytest.mark.parametrize("seed", range(4))
def test_the_inbox_reads_as_the_paragraphs_it_holds(seed):
    """What the product numbers in the inbox of a case is each of its paragraphs, in order."""
    case = make_case("demo", notes_of(DEMO), seed, Sizes.of(24))
    numbered = [collapse_spaces(entry.paragraph.text) for entry in number_paragraphs(case.inbox_text)]
    assert numbered == [collapse_spaces(item.text) for item in case.inbox]


def test_a_small_vault_gives_what_it_has_and_says_so(tmp_path):
    """One note of four paragraphs gives two cuts, and the shortfall is said in figures."""
    notes = notes_of(write_vault(tmp_path, {"bees.md": note_text("bees")}))
    case = make_case("one", notes, 0, Sizes.of(24))
    assert sum(item.kind == "cut" for item in case.inbox) == 2
    assert "2 of 24 cut paragraphs" in case.shortfall(Sizes.of(24))
    assert make_case("one", notes, 0, Sizes(2, 1, 0)).shortfall(Sizes(2, 1, 0)) is None


@pytest.mark.parametrize("notes", [{"a.md": "# A\n\nShort.\n"}, {"a.txt": "no note"}], ids=["short", "none"])
def test_a_vault_without_prose_is_refused_with_the_reason(tmp_path, notes):
    """Nothing can be cut: an error that says what a note must have, not a division by zero."""
    with pytest.raises(TooFewParagraphs, match="25 to 180 words"):
        make_case("tiny", notes_of(write_vault(tmp_path, notes)), 0, SIZES)


def test_line_ends_and_marks_stay(tmp_path):
    """In a note with CRLF and a byte order mark only the cut paragraph and the blank line after it are gone."""
    text = "\ufeff" + note_text("boats").replace("\n", "\r\n")
    notes = notes_of(write_vault(tmp_path, {"boats.md": text.encode(), "bees.md": note_text("bees")}))
    case = make_case("crlf", notes, 1, Sizes(4, 0, 0))
    cut = [item.text for item in case.inbox if item.path == "boats.md"]
    assert len(cut) == 2
    for piece in cut:
        text = text.replace(f"{piece}\r\n\r\n", "").replace(f"{piece}\r\n", "")
    assert case.notes["boats.md"] == text


def test_any_script_will_do(tmp_path):
    """A vault in Japanese and one in Greek give cases too; their copies are reworded by their own punctuation."""
    japanese = "# 茶\n\n" + "\n\n".join(
        f"## 第{n}\n\n緑茶は八十度の湯で淹れるのがよい。紅茶は、沸いた湯で、三分だけ、静かに待つ。第{n}の茶は別である。"
        for n in range(4)
    )
    greek = "# Τσάι\n\n" + "\n\n".join(
        f"## Μέρος {n}\n\n"
        + f"Το τσάι αριθμός {n} θέλει νερό, όχι πολύ ζεστό, και λίγη υπομονή. Μετά σερβίρεται αμέσως σε μικρά φλιτζάνια. "
        * 3
        for n in range(4)
    )
    notes = notes_of(write_vault(tmp_path, {"茶.md": japanese, "τσάι.md": greek}))
    case = make_case("scripts", notes, 0, Sizes(4, 1, 2))
    assert {item.path for item in case.inbox if item.kind == "cut"} == {"茶.md", "τσάι.md"}
    assert all(item.how for item in case.inbox if item.kind == "reworded")


def test_other_names_come_from_the_vaults_links_titles_and_aliases():
    """Links, titles and aliases name a note; what names two notes, or one section, names none."""
    notes = [
        parse("tyre pressures.md", "---\naliases: [inflation]\n---\n# Tyre pressures\n"),
        parse("winter.md", "# Winter riding\n\nSee [[tyre pressures|how hard to pump]], and [[soil|the ground]].\n"),
        parse("soil.md", "# Soil\n\nSee [[winter|the ground]], [[tyre pressures#Pumps|which pump]].\n"),
    ]
    names = other_names(notes)
    assert names["inflation"] == ("Tyre pressures", "how hard to pump")
    assert "the ground" not in names
    assert "winter riding" not in names
    assert "which pump" not in names


def test_a_reworded_copy_says_the_same_otherwise():
    """Another order, a middle clause less, another name; the link's target stays, and so do all other words."""
    text = "Pumps lie. The gauge, which is old, reads high, so the [[tyres|inflation]] is less. Check how hard to pump."
    names = {"inflation": ("tyre pressures",), "how hard to pump": ("tyre pressures",)}
    changed = reworded(text, names, random.Random(0))
    assert changed.how == ("order", "clause", "names")
    assert changed.text.startswith("The gauge,")
    assert changed.text.endswith("Pumps lie.")
    assert "[[tyres|tyre pressures]]" in changed.text
    assert "Check how hard to pump." in changed.text  # one name is enough
    assert sum(clause in changed.text for clause in ("which is old", "reads high")) == 1


def test_only_prose_is_reworded():
    """A name in code, in an address or in the target of a link stays; a word that many notes hold is no name."""
    names = {"soil": ("the ground",)}
    kept = "See `soil` <b soil> https://soil.example and [here](notes/soil.md) x.soil.y and [[soil#a]]"
    changed = reworded(f"{kept} and soil is dark.", names, random.Random(0))
    assert changed.text == f"{kept} and the ground is dark."
    assert changed.how == ("names",)
    notes = [parse(f"{n}.md", f"# Note {n}\n\nOf plugins: [[0|plugins]].\n") for n in range(9)]
    assert "plugins" not in other_names(notes)


def test_what_cannot_be_said_otherwise_is_no_reworded_copy():
    """One sentence without clauses and without a note's name stays out."""
    assert reworded("The pump hums at night.", {"boiler": ("heater",)}, random.Random(0)) is None
