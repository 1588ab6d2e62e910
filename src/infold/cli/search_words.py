"""The words of `search` and `index` in their usual form, read without what describes a command line.

For the short way of these commands, and for the process that serves searches. Fast to import.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.cli.client import ALONE, OF_PLACE, options_of_place
from infold.cli.days import read_day
from infold.cli.searching import SearchWords, sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Options = Mapping[str, Sequence[str]]

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_SHARE: Final = re.compile(r"0(\.[0-9]{1,9})?|1(\.0{1,9})?")


class Unusual(ValueError):
    """Not in the form that is read here."""


class UsualSearch(NamedTuple):
    """What is asked, and the options by name, each with the values that it was given."""

    asked: SearchWords
    options: Options

    @property
    def is_json(self) -> bool:
        """Whether one JSON object is wanted."""
        return "--json" in self.options

    @property
    def is_quiet(self) -> bool:
        """Whether asides are not."""
        return "--quiet" in self.options or "-q" in self.options

    def last(self, name: str) -> str | None:
        """An option that is given again counts as it was given last."""
        return _last(self.options, name)


def read_search(words: Sequence[str]) -> UsualSearch:
    """What the words after `infold search` ask. Raises Unusual, and UsageError for what names no source or day."""
    place = options_of_place(list(words))
    if place is None or "" in place.values():
        raise Unusual
    options: dict[str, list[str]] = {}
    query: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            query += rest
        elif not word.startswith("-") or word == "-":
            query.append(word)
        elif word in ALONE:
            options[word] = []
        else:
            name, value = _option(word, rest)
            options.setdefault(name, []).append(value)
    if not query:
        raise Unusual
    since, until = _last(options, "--since"), _last(options, "--until")
    limit, min_score = _fitting(options, "--limit", _NUMBER), _fitting(options, "--min-score", _SHARE)
    asked = SearchWords(
        query=" ".join(query),
        sources=sources_of(options.get("--source")),
        paths=tuple(options.get("--path", ())),
        tags=tuple(options.get("--tag", ())),
        since=read_day(since, "--since") if since is not None else None,
        until=read_day(until, "--until") if until is not None else None,
        limit=int(limit) if limit is not None else None,
        min_score=float(min_score) if min_score is not None else None,
        explain="--explain" in options,
        no_sync="--no-sync" in options,
    )
    return UsualSearch(asked, options)


def read_index(words: Sequence[str]) -> dict[str, list[str]]:
    """The options after `infold index`, by name: where it works, `--set` and `--quiet`.

    Raises Unusual for any other word.
    """
    options: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if word in ("--quiet", "-q"):
            options["--quiet"] = []
            continue
        name, equals, value = word.partition("=")
        if not equals:
            value = next(rest, "-")
        if name not in (*OF_PLACE, "--set") or not value or (not equals and value.startswith("-")):
            raise Unusual
        options.setdefault(name, []).append(value)
    return options


def _option(word: str, rest: Iterator[str]) -> tuple[str, str]:
    """The name and value of an option that has one: `--limit 2`, `--limit=2`, `-n 2`, `-n2`."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
    else:
        name, equals, value = "--limit", word[2:], word[2:]
    if not equals:
        value = next(rest)
    if value.startswith("-"):
        raise Unusual
    return name, value


def _last(options: Options, name: str) -> str | None:
    """An option that is given again counts as it was given last."""
    return options[name][-1] if name in options else None


def _fitting(options: Options, name: str, form: re.Pattern[str]) -> str | None:
    value = _last(options, name)
    if value is not None and not form.fullmatch(value):
        raise Unusual
    return value
