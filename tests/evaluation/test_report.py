"""What a person reads: kinds of misses with what to try, text of notes escaped, figures held to accepted ones."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from infold.errors import UsageError
from infold.evaluation.committed import as_file, falls, metrics
from infold.evaluation.error_analysis import grouping_trials, kind_of, misses, why
from infold.evaluation.findings import find
from infold.evaluation.history import earlier, report_folder, trend
from infold.evaluation.records import Evaluation
from infold.evaluation.report import FILES, write_report
from infold.settings import Params
from infold.workspace import Workspace
from tests.evaluation.conftest import arm, result, verdict

SETTINGS = Params().model_dump(mode="json")
NASTY = '<script>alert(1)</script> & [[x]] | "quoted" ```'


def evaluation(*arms, **more) -> Evaluation:
    values = {
        "vault": "v", "created_at": "2026-01-02T03:04:05+00:00", "version": "1", "seeds": (0,), "paragraphs": 2,
        "resamples": 200, "notes": 3, "settings": SETTINGS, **more,
    }  # fmt: skip
    return Evaluation(arms=arms, **values)


@pytest.mark.parametrize(
    "found, kind, said",
    [
        (verdict(1, "home"), None, "Back in a.md."),
        (verdict(1, "elsewhere", file="b.md", landed=("B",)), "unseen", "Went into b.md, under “B”. a.md was never looked at."),
        (verdict(1, "elsewhere", file="b.md", viewed=("a.md",)), "unopened", "a.md was looked at, but not opened."),
        (verdict(1, "elsewhere", file="b.md", checked_out=("a.md",)), "outchosen", "a.md was open."),
        (verdict(1, "left", reason="no note.", checked_out=("a.md",)), "left", "Stayed in the inbox: no note. a.md was open."),
        (verdict(1, "other section", landed=()), "heading", "but under no heading."),
        (verdict(1, "false duplicate", file="b.md"), "taken", "Taken for a duplicate of what b.md says."),
        (verdict(1, "repeat", file="b.md"), "repeat", "b.md says it word for word."),
        (verdict(1, "left", kind="copy", reason="x"), "copy", "Stayed in the inbox: x."),
        (verdict(1, "elsewhere", kind="reworded", file="b.md"), "reworded", "Went into b.md"),
        (verdict(1, "missing"), "missing", "Is not named"),
        (verdict(1, "left", reason="x", chunk_mates=("b.md", "c.md")), "unseen", "Its chunk held 2 more, all out of other notes."),
    ],
)  # fmt: skip
def test_a_miss_is_told_by_the_step_at_which_it_happened(found, kind, said):
    """Each ending has its kind, and one or two sentences that a person can act on."""
    assert kind_of(found) == kind
    assert said in why(found)


def test_kinds_come_by_frequency_with_settings_to_try():
    """The most frequent first; what is to be tried is a setting that exists, with another value than now."""
    kinds = misses(
        arm(result(*(verdict(n, "elsewhere", file="b.md", path=f"{n % 2}.md") for n in range(4)), verdict(5, "other section"))),
        SETTINGS,
    )  # fmt: skip
    assert [(kind.name, len(kind.misses)) for kind in kinds] == [("unseen", 4), ("heading", 1)]
    assert len({miss.verdict.path for miss in kinds[0].examples}) == len(kinds[0].examples) == 2
    assert kinds[0].trials == ("librarian.kind=model",)
    assert kinds[1].trials == ("librarian.kind=model",)


def test_grouping_is_named_as_a_cause_where_misses_were_among_strangers():
    """Most of the misses shared a chunk with paragraphs of other notes: smaller chunks are worth trying."""
    strangers = misses(arm(result(*(verdict(n, "left", chunk_mates=("b.md",)) for n in range(3)))), SETTINGS)
    by_model = SETTINGS | {"librarian": {"kind": "model"}}
    assert grouping_trials(strangers, by_model) == (3, ("chunking.max_chunk_words=200",))
    assert grouping_trials(strangers, by_model, ["chunking.max_chunk_words=200"]) == (3, ())
    assert grouping_trials(strangers, SETTINGS) == (3, ())


def test_advice_is_of_use_to_this_librarian_and_not_known_already():
    """Limits of the walk change nothing offline; what stands beside in the report is not advised again."""
    unseen = arm(result(*(verdict(n, "elsewhere", file="b.md") for n in range(3))))
    by_model = SETTINGS | {"librarian": {"kind": "model"}}
    (offline,), (model,) = misses(unseen, SETTINGS), misses(unseen, by_model)
    assert offline.trials == ("librarian.kind=model",)
    assert model.trials == ("exploration.search_candidates=16", "exploration.max_files_viewed_per_round=8")
    (measured,) = misses(unseen, by_model, ["exploration.search_candidates=16"])
    assert measured.trials == ("exploration.max_files_viewed_per_round=8",)
    alone = misses(arm(result(verdict(1, "left"))), SETTINGS)
    assert grouping_trials(alone, SETTINGS) == (0, ())


@pytest.mark.parametrize(
    "embedding, better", [("none", "static"), ("static", "onnx"), ("auto", None), ("service", None)]
)
def test_the_next_better_embeddings_are_worth_a_trial(embedding, better):
    """As their provider says; what takes the best at hand, or is paid for, has none above it."""
    unseen = arm(result(verdict(1, "elsewhere", file="b.md")))
    (kind,) = misses(unseen, SETTINGS | {"search": {"embedding": embedding}})
    assert kind.trials == (*([f"search.embedding={better}"] if better else []), "librarian.kind=model")


def test_text_of_notes_is_never_markup(tmp_path):
    """Markup in a paragraph, a path or a reason is shown, not obeyed; the page has no script and asks for nothing."""
    nasty = verdict(1, "left", text=NASTY, path=f"{NASTY}.md", reason=NASTY, viewed=(NASTY,), guesses={"bm25": NASTY})
    other = arm(result(nasty.model_copy(update={"ending": "home"})), name=NASTY)
    found = find(evaluation(arm(result(nasty)), other, warnings=(NASTY,), stopped=NASTY, vault=NASTY))
    write_report(tmp_path, found)
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http" not in page.replace("http-equiv", "")
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    lines = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    assert [(line["text"], line["miss"]) for line in lines] == [(NASTY, "unseen"), (NASTY, None)]
    assert "was never looked at" in (tmp_path / "cases.md").read_text()
    assert "Not finished" in (tmp_path / "report.md").read_text()


@pytest.mark.browser
def test_the_page_fits_and_opens_in_a_browser(tmp_path):
    """A real browser lays it out: nothing is wider than the window, and it prints as a page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    cases = result(*(verdict(n, "elsewhere", file="b.md", text="word " * 80 + "x" * 300) for n in range(6)))
    write_report(tmp_path, find(evaluation(arm(cases), arm(cases, name="exploration.search_candidates=0"))))
    page = tmp_path / "report.html"
    shot = tmp_path / "page.png"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={shot}", "--window-size=500,2000"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True, timeout=60)
    assert shot.stat().st_size > 10_000


def test_a_fall_below_what_was_accepted_names_the_figure(tmp_path):
    """Half of the paragraphs came home, now none do: that fails by name; a little less, and more of what is good, do not."""
    good = evaluation(arm(result(*(verdict(n) for n in range(20)))))
    accepted = tmp_path / "evaluation.json"
    accepted.write_bytes(as_file(metrics(good)))
    assert falls(good, accepted, 0.05) == []
    little = evaluation(arm(result(*(verdict(n) for n in range(19)), verdict(19, "left"))))
    assert falls(little, accepted, 0.05) == []
    worse = evaluation(arm(result(*(verdict(n) for n in range(10)), *(verdict(n, "left") for n in range(10)))))
    assert [str(fall) for fall in falls(worse, accepted, 0.05)] == ["home: 0.5, accepted 1", "left: 0.5, accepted 0"]
    lost = evaluation(arm(result(*(verdict(n, is_lost=n == 0) for n in range(20)), damaged=("a.md",))))
    assert [fall.name for fall in falls(lost, accepted, 0.05)] == ["lost", "damaged"]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"figures": {}}', b"{"])
def test_accepted_figures_that_cannot_be_read_are_an_error(tmp_path, content):
    """Not a pass: a check against nothing would hold for ever."""
    (tmp_path / "accepted.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"accepted\.json"):
        falls(evaluation(arm(result(verdict(1)))), tmp_path / "accepted.json", 0.05)


def test_figures_of_something_else_are_not_compared(tmp_path):
    """Accepted on other seeds: an error that says both, for the figures would say nothing."""
    accepted = tmp_path / "accepted.json"
    accepted.write_bytes(as_file(metrics(evaluation(arm(result(verdict(1)))))))
    with pytest.raises(UsageError, match="seeds 1"):
        falls(evaluation(arm(result(verdict(1))), seeds=(1,)), accepted, 0.05)


def test_accepted_figures_hold_nothing_of_the_day_or_the_machine():
    """Two evaluations of the same that differ in time, cost and version give the same file."""
    one = evaluation(arm(result(verdict(1), seconds=1.0)))
    other = evaluation(arm(result(verdict(1), seconds=9.0)), created_at="2027-01-01T00:00:00+00:00", version="2")
    assert as_file(metrics(one)) == as_file(metrics(other))


def test_the_trend_goes_over_all_reports_in_the_state_folder(tmp_path):
    """Oldest first; a folder that cannot be read is named and stops nothing."""
    place = Workspace(tmp_path / "v", tmp_path / "state", tmp_path / "v" / "inbox.md", Params())
    for day in ("2026-02-02", "2026-01-01"):
        made = evaluation(arm(result(verdict(1))), created_at=f"{day}T03:04:05+00:00")
        write_report(report_folder(place, made), find(made))
    broken = place.state / "kept" / "evaluations" / "broken"
    broken.mkdir()
    (broken / "metrics.json").write_text("{")
    history = earlier(place)
    assert [(row["when"], row["home"]) for row in trend(history)] == [
        ("2026-01-01 03:04", 1.0),
        ("2026-02-02 03:04", 1.0),
    ]
    assert history.unread == ("broken",)
