"""The report of a run: three forms, self-contained, safe to open."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest

from infold.inbox.run import Run, RunStatus, SkippedFile
from infold.inbox.run_store import RunStore
from infold.inbox.runs import apply_run, undo_run
from infold.librarian.spend import Usage
from tests.fakes.planned import PLACES, planned_vault

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>bold</b> {{ 7*7 }} javascript:alert(3) </style>"


def report(planned, name: str = "report.html") -> str:
    return (RunStore(planned.workspace.runs).path(planned.run.id) / name).read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("meta", "link", "br", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"


def test_the_three_forms_tell_every_paragraph_and_every_note(tmp_path):
    """Each paragraph's text and outcome, each changed note and the undo command stand in page and Markdown."""
    planned = planned_vault(tmp_path)
    apply_run(planned.workspace, planned.run.id)
    for name in ("report.html", "report.md"):
        text = html.unescape(report(planned, name))
        for paragraph, _, _ in PLACES:
            assert paragraph in text
        for part in ("food/bread.md", "tyres.md", f"infold undo {planned.run.id}", "no note was found for it"):
            assert part in text
    run = Run.model_validate_json(report(planned, "report.json"))
    assert run.status is RunStatus.PARTIAL


def test_a_plan_says_how_to_apply_and_an_undone_run_that_it_is(tmp_path):
    """The page follows the run: the command that is possible now, no other."""
    planned = planned_vault(tmp_path)
    assert f"infold apply {planned.run.id}" in report(planned)
    assert "infold undo" not in report(planned)
    apply_run(planned.workspace, planned.run.id)
    undo_run(planned.workspace, planned.run.id)
    assert "<b>Undone</b> 20" in report(planned)
    assert "was integrated, and taken back, in" in report(planned)
    assert "was integrated, and taken back, in" in report(planned, "report.md")
    assert "infold undo" not in report(planned)


def test_text_of_notes_is_never_markup(tmp_path):
    """Hostile text in paragraphs, notes, paths, reasons and quotes shows as text; no tag or attribute comes of it."""
    places = [
        (f"Paragraph {ATTACK}", "n.md", "anchor"),
        (f"Known {ATTACK}", "n.md", None),
        (f"Left {ATTACK}", None, None),
    ]
    planned = planned_vault(tmp_path, {"n.md": f"# N {ATTACK}\n\nanchor\n\n{ATTACK}\n"}, places, is_saved=False)
    from infold.inbox.runs import save_planned

    run = planned.run.model_copy(
        update={
            "warnings": (ATTACK,),
            "skipped": (SkippedFile(path=ATTACK, reason=ATTACK),),
            "librarian": ATTACK,
            "vault": ATTACK,
        }
    )
    run = save_planned(planned.workspace, run, {p: (planned.before[p], planned.after[p]) for p in planned.before})
    page = (RunStore(planned.workspace.runs).path(run.id) / "report.html").read_text(encoding="utf-8")
    seen = Tags(page)
    assert not {"script", "img"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert "<b>bold" not in page
    assert "{{ 7*7 }}" in page
    assert seen.open == []


def test_the_page_asks_nothing_of_the_network(tmp_path):
    """No address, no script, no external file; a policy forbids them as well."""
    planned = planned_vault(tmp_path)
    page = report(planned)
    seen = Tags(page)
    assert not [value for name, value in seen.attributes if name in ("src", "srcset", "action", "data")]
    assert all(value.startswith(("#", "file://")) for name, value in seen.attributes if name == "href")
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|@import|url\(", page)


def test_what_wants_the_reader_comes_first(tmp_path):
    """What stays in the inbox stands above all that went well; each hunk stands under its heading."""
    page = report(planned_vault(tmp_path))
    assert page.index("Would stay in the inbox") < page.index("What would change") < page.index("Where each paragraph")
    assert page.count('class="place"') >= 1
    markdown = report(planned_vault(tmp_path / "again"), "report.md")
    assert markdown.index("## Left in the inbox") < markdown.index("## Paragraphs")


@pytest.mark.parametrize(
    "usage, said",
    [
        (Usage(), "no model was asked"),
        (Usage(calls=3, prompt_tokens=1234, completion_tokens=56, usd=0.0123), "$0.0123"),
        (Usage(calls=3, prompt_tokens=1234, completion_tokens=56, usd=None), "price unknown"),
    ],
)
def test_the_cost_is_said(tmp_path, usage, said):
    """Nothing, an amount, or that the price is not known."""
    from infold.inbox.report import write_report

    planned = planned_vault(tmp_path)
    write_report(RunStore(planned.workspace.runs).path(planned.run.id), planned.run.model_copy(update={"usage": usage}))
    assert said in report(planned)
    assert said in report(planned, "report.md")


def test_backticks_in_notes_do_not_end_the_fences_of_the_markdown_report(tmp_path):
    """A diff of a note with code is still one code block."""
    planned = planned_vault(tmp_path, {"n.md": "```\ncode\n```\n\nanchor\n"}, [("New ````` ticks.", "n.md", "anchor")])
    assert "``````diff" in report(planned, "report.md")
