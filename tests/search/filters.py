"""Points and filters of all kinds, and what a filter lets through in plain Python: for words and vectors alike."""

from __future__ import annotations

from hypothesis import strategies as st

from infold.search.index.contract import Filter, IndexPoint, PointGroup


def id_of(n: int) -> str:
    return f"00000000-0000-0000-0000-{n:012d}"


def point(n: int, path: str, words: str = "levain", **rest: object) -> IndexPoint:
    """A point of a note; its lines tell it from others."""
    return IndexPoint(
        id=id_of(n),
        path=path,
        start_line=n,
        end_line=n + 1,
        title=path.removesuffix(".md"),
        trail=("Top", f"Part {n}"),
        kind=str(rest.pop("kind", "standard")),
        group=str(rest.pop("group", "notebook")),
        words=words,
        **rest,  # type: ignore[arg-type]
    )


PATHS = ("a.md", "work/a.md", "work/x/b.md", "workshop/c.md", "work", "Work/a.md", "é/ü.md")
_TAGS = ("work", "work/urgent", "workshop", "Work/Later", "é")
_DATES = ("2024-02-29", "2025-12-31", "2026-01-01")


def _some(values: object) -> st.SearchStrategy:
    return st.lists(st.sampled_from(list(values)), max_size=2).map(tuple)  # type: ignore[call-overload]


POINTS = st.lists(  # type: ignore[var-annotated]
    st.builds(
        dict,
        path=st.sampled_from(PATHS),
        kind=st.sampled_from(("standard", "daily")),
        group=st.sampled_from([str(source) for source in PointGroup]),
        level=st.sampled_from(("passage", "node")),
        trust=st.sampled_from(("vault", "external")),
        date=st.none() | st.sampled_from(_DATES),
        tags=st.lists(st.sampled_from(_TAGS), max_size=3).map(tuple),
        within=_some(("n1", "n2", "n3")),
    ),
    max_size=12,
)


FILTERS = st.builds(
    Filter,
    groups=_some(map(str, PointGroup)),
    kinds=_some(("standard", "daily", "none")),
    levels=_some(("passage", "node")),
    trusts=_some(("vault", "external")),
    paths=st.none() | _some((*PATHS, "never.md")),
    prefixes=_some(("work", "work/", "/work", "work/x", "work/a.md", "wor", "é", "never")),
    tags=_some(("work", "#work", "WORK/", "work/urgent", "work/later", "urgent", "é")),
    since=st.none() | st.sampled_from(("2024-03-01", *_DATES)),
    until=st.none() | st.sampled_from(("2024-03-01", *_DATES)),
    within=_some(("n1", "n3", "n9")),
)


def lets_through(where: Filter, one: IndexPoint) -> bool:
    """The filter's own words (`search.index.contract.Filter`) in plain Python."""
    tags = [tag.casefold() for tag in one.tags]
    asked = [tag.strip("#/").casefold() for tag in where.tags]
    folders = [prefix.strip("/") for prefix in where.prefixes]
    is_dated = not (where.since or where.until) or (
        one.date is not None and (where.since or "") <= one.date <= (where.until or "9999")
    )
    return (
        (not where.groups or one.group in where.groups)
        and (not where.kinds or one.kind in where.kinds)
        and (not where.levels or one.level in where.levels)
        and (not where.trusts or one.trust in where.trusts)
        and (where.paths is None or one.path in where.paths)
        and (not folders or any(one.path == folder or one.path.startswith(f"{folder}/") for folder in folders))
        and all(any(tag == want or tag.startswith(f"{want}/") for tag in tags) for want in asked)
        and (not where.within or bool(set(where.within) & set(one.within)))
        and is_dated
    )
