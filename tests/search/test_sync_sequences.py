"""Whatever happens to a vault, step by step: after each sync the index is what a rebuild would give."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.index.generations import Generations

NAMES = ("a.md", "b.md", "deep/c.md", "2026-02-24.md", "index.md")
TEXTS = (
    "# Bread\n\nA levain rises overnight.\n",
    "---\ntags: [oven, work/kitchen]\ndate: 2025-03-04\n---\n# Oven\n\nBake at 250 degrees.\n\n## Stone\n\nCast iron.\n",
    "第一篇笔记：酵母需要一整夜。\n",
    "O fermento precisa de uma noite inteira, mas não de mais do que isso.\n",
    "",
    "word " * 700,
)
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("touch"), st.sampled_from(NAMES), st.sampled_from((1_600_000_000, 1_700_000_000))),
    st.tuples(st.just("break"), st.sampled_from(NAMES), st.none()),
)


def carry_out(vault: Path, step: tuple[str, str, object]) -> None:
    """One thing that happens to a vault."""
    what, name, value = step
    file = vault / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if what == "write":
        file.write_text(str(value), encoding="utf-8")
    elif what == "break":
        file.write_bytes(b"\xff no text \xfe")
    elif not file.exists():
        return
    elif what == "delete":
        file.unlink()
    elif what == "rename":
        target = vault / str(value)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
    else:
        os.utime(file, (float(str(value)), float(str(value))))


@pytest.mark.usefixtures("costly")
@given(st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=3))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_any_steps_the_index_is_what_a_rebuild_gives(place, rounds: list[list[tuple[str, str, object]]]):
    """The same points with the same vectors, whether they came one by one or all at once; no vector is computed twice."""
    root = Path(tempfile.mkdtemp(dir=place.root))
    here = dataclasses.replace(place, root=root)
    here.write("keep.md", "This note stays, so that the vault is never empty.\n")
    for steps in rounds:
        for step in steps:
            carry_out(here.vault, step)
        result = here.sync()
        assert (result.pending, result.emptied) == (0, False)
    stepwise = here.contents()
    passages = sum(note.passages for note in held(here).values())
    assert passages == len(stepwise)
    shutil.rmtree(here.index)
    anew = here.sync()
    assert (anew.embeddings_computed, here.contents()) == (0, stepwise)
    assert {path: note.sha256 for path, note in held(here).items()} == {
        path: note.sha256 for path, note in held(here).items() if (here.vault / path).is_file()
    }
    assert Generations(here.index).current() == anew.generation


def held(place):
    """What the manifest says is there."""
    manifest = place.manifest()
    try:
        return manifest.notes()
    finally:
        manifest.close()
