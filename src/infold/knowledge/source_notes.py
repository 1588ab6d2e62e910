"""A note that was made of a source, brought up to what the source says now; what a person wrote in it since stays.

Pure text. Front matter says which text the note was made of (`source_hash`), so three texts are merged: that one, the
newest, and the note. Its title is left as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from infold.durable.merge import merge
from infold.knowledge.new_note import note_text
from infold.knowledge.sources.records import TRUST, SourceRecord
from infold.knowledge.sources.store import SourceStore
from infold.vault.front_matter import read_front_matter, text_value
from infold.vault.outside import outside_mark

_DIGITS: Final = 16
_OWN_LINES: Final = re.compile(r"^(?:fetched|source_hash):.*(?:\r?\n)?", re.MULTILINE)
_HEADING: Final = re.compile(r"#{1,6}\s+([^\n]*)")
_TITLE: Final = re.compile(r"\s*# (.+)")


@dataclass(frozen=True, slots=True)
class SourceNoteUpdate:
    """The note's text as it is to be, None where it stays; `reason` says why it stays although the source changed."""

    text: str | None
    reason: str = ""


def source_values(record: SourceRecord) -> dict[str, str]:
    """The front matter that says of a note which source, and which text of it, it was made of."""
    return {
        "origin": record.url,
        "trust": TRUST,
        "fetched": record.fetched[:10],
        "licence": record.licence,
        "source_hash": record.content[:_DIGITS],
    }


def updated_note(text: str, record: SourceRecord, store: SourceStore) -> SourceNoteUpdate:
    """What becomes of the note `text` that was made of an earlier text of `record`."""
    front = read_front_matter(text)
    before = _made_of(front.values, record) if front is not None else None
    if front is None or before is None:
        return SourceNoteUpdate(None, "it does not say of which text it was made, so what changed cannot be told")
    if record.versions[before].content == record.content:
        return SourceNoteUpdate(None)
    body = text[front.end :]
    found = _TITLE.match(body)
    title = found.group(1).strip() if found else record.title
    base, new = (f"\n{note_text(title, title, store.text(record, number))}" for number in (before, -1))
    merged = merge(base.encode(), new.encode(), body.encode())
    if merged.conflicts:
        return SourceNoteUpdate(None, "it was edited where the source changed")
    return SourceNoteUpdate(_relabelled(text[: front.end], record) + merged.data.decode())


def inbox_text(text: str, record: SourceRecord) -> str:
    """The text of a source for the inbox: each paragraph says where it is from, wherever it is folded in.

    A heading goes before its paragraph; a table says it in its last cell, code on the line below.
    """
    mark = outside_mark(record.url, record.fetched[:10])
    heading = ""
    found: list[str] = []
    for part in _blocks(text):
        title = _HEADING.fullmatch(part)
        if title:
            heading = f"{heading} {title[1].strip()}".strip()
            continue
        before, heading = f"{heading}: " if heading else "", ""
        if part.startswith(("```", "~~~")):
            found.append(f"{before}{mark}\n{part}\n{mark}" if before else f"{part}\n{mark}")
        elif part.startswith("|"):
            found += [f"{before}{mark}"] if before else []
            rows = part.rstrip()
            found.append(f"{rows[:-1].rstrip()} {mark} |" if rows.endswith("|") else f"{rows} {mark}")
        else:
            found.append(f"{before}{part} {mark}")
    return "\n\n".join([*found, *([f"{heading} {mark}"] if heading else [])])


def _blocks(text: str) -> list[str]:
    """The parts of a Markdown text between blank lines; code is one, whatever is in it: its blank lines go."""
    found: list[str] = []
    fence = ""
    for part in (part.strip("\n") for part in re.split(r"\n[ \t]*\n", text)):
        if fence:
            found[-1] += f"\n{part}"
        elif part.strip():
            found.append(part.strip())
        for line in part.split("\n"):
            sign = line.strip()[:3]
            if sign in ("```", "~~~") and (not fence or sign == fence):
                fence = "" if fence else sign
    return found


def _made_of(values: dict[str, Any], record: SourceRecord) -> int | None:
    """The number of the version that the note was made of; notes without a hash have its day."""
    digest, day = text_value(values, "source_hash"), str(values.get("fetched", ""))
    for number in reversed(range(len(record.versions))):
        version = record.versions[number]
        if version.content.startswith(digest) if digest else version.fetched[:10] == day:
            return number
    return None


def _relabelled(head: str, record: SourceRecord) -> str:
    """The front matter with the day and the hash of the newest text; every other line stays."""
    first, end, rest = head.partition("\n")
    facts = f"fetched: '{record.fetched[:10]}'\nsource_hash: '{record.content[:_DIGITS]}'\n"
    lines = facts.replace("\n", "\r\n") if first.endswith("\r") else facts
    return f"{first}{end}{lines}{_OWN_LINES.sub('', rest)}"
