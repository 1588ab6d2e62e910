"""The report of a run as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from infold.inbox.run import ChunkRecord, ParagraphRecord, Run


def markdown(
    run: Run, verdict: tuple[str, str], undo_command: str | None, differences: Sequence[tuple[str, str]]
) -> str:
    """The whole report; `differences` are (path, unified diff)."""
    is_undone = run.undone_at is not None
    left = [paragraph for paragraph in run.paragraphs if paragraph.outcome == "left"]
    parts = [
        f"# Run {run.id}: {verdict[0]}",
        verdict[1],
        "\n".join(_facts(run)),
        *([f"Take it back:\n\n    {undo_command}"] if undo_command else []),
        *(["## Left in the inbox", *(_paragraph(p, is_undone=is_undone) for p in left)] if left else []),
        "## Paragraphs",
        *(_paragraph(p, is_undone=is_undone) for p in run.paragraphs if p.outcome != "left"),
        "## Changes",
        *(f"### {path}\n\n{_fenced(diff)}" for path, diff in differences),
        "## Chunks",
        *("\n".join(_chunk(chunk)) for chunk in run.chunks),
    ]
    if run.skipped:
        parts += ["## Skipped", "\n".join(f"- {skipped.path}: {skipped.reason}" for skipped in run.skipped)]
    if run.warnings:
        parts += ["## Warnings", "\n".join(f"- {warning}" for warning in run.warnings)]
    return "\n\n".join(parts) + "\n"


def _facts(run: Run) -> Iterator[str]:
    yield f"- vault: `{run.vault}`, inbox: `{run.inbox}`"
    yield f"- planned: {run.created_at}, by {run.librarian}, in {run.seconds:.1f} s ({run.usage.in_words})"
    if run.applied_at:
        yield f"- applied: {run.applied_at}"
    if run.undone_at:
        yield f"- undone: {run.undone_at}"


def _paragraph(paragraph: ParagraphRecord, *, is_undone: bool) -> str:
    where = {
        "integrated": f"{'was integrated, and taken back, in' if is_undone else 'integrated in'} `{paragraph.file}`",
        "duplicate": f"already in `{paragraph.file}`",
        "left": f"left in the inbox: {paragraph.reason}",
    }[paragraph.outcome]
    lines = [f"{paragraph.n}. **{where}**", "", _quoted(paragraph.text)]
    if paragraph.quote:
        lines += ["", "   covered by:", "", _quoted(paragraph.quote)]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "\n".join(f"   > {line}".rstrip() for line in text.splitlines())


def _chunk(chunk: ChunkRecord) -> Iterator[str]:
    yield f"- chunk {chunk.id}: paragraphs {', '.join(map(str, chunk.paragraphs))} ({chunk.usage.in_words})"
    if chunk.viewed:
        yield f"  - viewed: {', '.join(f'`{path}`' for path in chunk.viewed)}"
    if chunk.checked_out:
        yield f"  - checked out: {', '.join(f'`{path}`' for path in chunk.checked_out)}"
    for edit in chunk.edits:
        state = "duplicate marker" if edit.kind == "duplicate" else "applied" if edit.applied else "not applied"
        yield f"  - edit of `{edit.file}` ({state})" + (f": {edit.reason}" if edit.reason else "")
    if chunk.reason:
        yield f"  - nothing done: {chunk.reason}"


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}diff\n{text}{fence}" if text else "Too long to show here."
