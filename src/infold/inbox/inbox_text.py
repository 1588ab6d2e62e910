"""The inbox without the paragraphs that found their place: everything else stays byte for byte.

Pure text in, pure text out. What counts as a paragraph belongs to `inbox.paragraphs`, writing the file to `inbox.runs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from typing import Final

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_TEXT: Final = re.compile(r"\S")
_BOM: Final = "\ufeff"

ParagraphSpan = tuple[int, int]


def remove_paragraphs(text: str, spans: Sequence[ParagraphSpan]) -> str:
    """`text` without the blocks at `spans`, and without the blank lines that only parted them from the rest.

    Headings, front matter and all other text stay as they are; a text without a last line end stays without one.
    """
    if not spans:
        return text
    spans = sorted(spans)
    start, end = _around(text, spans)
    within = [(first - start, last - start) for first, last in spans]
    return text[:start] + _removed(text[start:end], within) + text[end:]


def _around(text: str, spans: Sequence[ParagraphSpan]) -> tuple[int, int]:
    """The lines that removing `spans` can change, with the line of text above and the one below them."""
    above = len(text[: spans[0][0]].rstrip())
    below = _TEXT.search(text, max(last for _, last in spans))
    start = max(text.rfind("\n", 0, above), text.rfind("\r", 0, above)) + 1
    if below is None:
        return start, len(text)
    line_end = _LINE_END.search(text, below.start())
    return start, line_end.end() if line_end else len(text)


def _removed(text: str, spans: Sequence[ParagraphSpan]) -> str:
    bom = _BOM if text.startswith(_BOM) else ""
    lines = _lines_without(text, len(bom), spans)
    parts = [bom]
    groups = [list(group) for _, group in groupby(enumerate(lines), key=lambda entry: _is_frame(entry[1]))]
    for group in groups:
        indices = [index for index, _ in group]
        if _is_frame(lines[indices[0]]) or not any(lines[index][1] for index in indices):
            parts += [lines[index][0] for index in indices]
            continue
        if indices[-1] == len(lines) - 1 and indices[0] > 0:
            if not text.endswith(("\n", "\r")):
                parts[-1] = parts[-1].rstrip("\r\n")
            continue
        taken = [index for index in indices if lines[index][1]]
        above = [lines[index][0] for index in indices if index < taken[0]]
        below = [lines[index][0] for index in indices if index > taken[-1]]
        is_edge = indices[0] == 0 or indices[-1] == len(lines) - 1
        parts += above if above or is_edge else below
    return "".join(parts)


def locate_paragraphs(text: str, paragraphs: Sequence[str]) -> list[ParagraphSpan | None]:
    """Where each paragraph stands in `text` by its exact text, whole lines only; None where it does not any more.

    Equal paragraphs are told apart by their order. Line ends that an editor changed throughout do not matter.
    """
    found: list[ParagraphSpan | None] = [None] * len(paragraphs)
    claimed: list[ParagraphSpan] = []
    for from_cursor in (True, False):
        cursor = 0
        for index, paragraph in enumerate(paragraphs):
            if found[index] is None:
                found[index] = span = _find_block(text, paragraph, cursor if from_cursor else 0, claimed)
                if span:
                    claimed.append(span)
                    cursor = span[1]
    return found


def _lines_without(text: str, start: int, spans: Sequence[ParagraphSpan]) -> list[tuple[str, bool]]:
    """Each line that a span touches with what is left of it, and whether it was taken out whole.

    Lines between these come as they are, many at a time.
    """
    lines = []
    at, ahead = start, sum(last <= start for _, last in spans)
    while ahead < len(spans) and (match := _LINE.match(text, _line_start(text, at, spans[ahead][0]))):
        lines += _untouched(text[at : match.start()])
        lines.append(_line_without(match, islice(spans, ahead, None)))
        at = match.end()
        while ahead < len(spans) and spans[ahead][1] <= at:
            ahead += 1
    return lines + _untouched(text[at:])


def _line_start(text: str, start: int, at: int) -> int:
    """Where the line of `at` begins, `start` being the beginning of a line too."""
    at = max(start, at - text.startswith("\r\n", at - 1)) if at else start
    return max(start, text.rfind("\n", start, at) + 1, text.rfind("\r", start, at) + 1)


def _line_without(match: re.Match[str], spans: Iterable[ParagraphSpan]) -> tuple[str, bool]:
    text, line = match.string, match.group()
    content_end = match.start() + len(line.rstrip("\r\n"))
    kept, at, is_inside = "", match.start(), False
    for first, last in spans:
        if first >= max(content_end, match.start() + 1):
            break
        is_inside = True
        kept += text[at : max(at, first)]
        at = min(max(at, last), content_end)
    kept += text[at:content_end]
    return ("", True) if is_inside and not kept.strip() else (kept + line[content_end - match.start() :], False)


def _untouched(lines: str) -> list[tuple[str, bool]]:
    """Whole lines as three: the blank ones at the beginning, those from the first text to the last, the blank ones."""
    first = _TEXT.search(lines)
    if first is None:
        return [(lines, False)] if lines else []
    start = _line_start(lines, 0, first.start())
    line_end = _LINE_END.search(lines, len(lines.rstrip()))
    end = line_end.end() if line_end else len(lines)
    return [(part, False) for part in (lines[:start], lines[start:end], lines[end:]) if part]


def _is_frame(line: tuple[str, bool]) -> bool:
    """Whether a line stays whatever is taken out around it: it holds text."""
    return bool(line[0].strip())


def _find_block(text: str, paragraph: str, start: int, claimed: Sequence[ParagraphSpan]) -> ParagraphSpan | None:
    if not paragraph.strip():
        return None
    for form in dict.fromkeys((paragraph, *(_LINE_END.sub(end, paragraph) for end in ("\n", "\r\n")))):
        at = text.find(form, start)
        while at >= 0:
            end = at + len(form)
            if _is_whole_lines(text, at, end) and not any(at < last and first < end for first, last in claimed):
                return at, end
            at = text.find(form, at + 1)
    return None


def _is_whole_lines(text: str, start: int, end: int) -> bool:
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    before = text[line_start:start]
    after = _LINE_END.split(text[end : end + 200], maxsplit=1)[0]
    return not before.strip(" \t" + _BOM) and not after.strip()
