"""The navigator: how fast it imports and moves, whether its themes and lenses say something, what stays where it was.

    python -m bench.navigator [speed] [themes] [lens] [map] [edits] [--nodes 100000] [--notes 10000] [--calls 200]

Real vaults beside the checkout. Bigger ones are made of the imported nodes of the biggest: stored again under other
paths, so texts and vectors repeat and the number of rows does not.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.synthetic import shared_data
from infold.app import OpenVault, open_vault
from infold.knowledge.communities import communities
from infold.knowledge.vault_links import graph_of
from infold.navigator.clusters import spherical_k_means, unit
from infold.navigator.layout import lay_out
from infold.navigator.lens import Lens
from infold.navigator.navigation import Navigator
from infold.navigator.node_ranking import NodeFilter
from infold.navigator.nodes import NodeType, NoteNode, article_nodes
from infold.navigator.records import StoredNode
from infold.navigator.themes import article_vectors
from infold.vault.note import parse

BIG = "dendron-site"
IN_FOLDERS = ("foam-docs", "forgetful-notes", "quartz-docs", "obsidian-help-de")


def main() -> None:
    """Prints a table for each part that is asked for, or for all."""
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "speed": speed,
        "themes": themes,
        "lens": lens,
        "map": map_stability,
        "edits": edits,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=", ".join(parts))
    parser.add_argument("--nodes", type=int, default=100_000, help="the size at which moving about is timed")
    parser.add_argument("--notes", type=int, default=10_000, help="the size at which themes are timed")
    parser.add_argument("--calls", type=int, default=200, help="of each operation")
    parser.add_argument("--embedding", default="static")
    options = parser.parse_args()
    for part in options.parts or parts:
        print(f"\n{part}\n")
        parts[part](options)


@contextmanager
def imported(vault: str, options: argparse.Namespace, *, is_imported: bool = True) -> Iterator[OpenVault]:
    """A public vault, opened with a state of its own, and imported."""
    changes = [f"search.embedding={options.embedding}"]
    with (
        tempfile.TemporaryDirectory() as state,
        open_vault(shared_data() / "vaults" / vault, state=Path(state), changes=changes) as opened,
    ):
        if is_imported:
            opened.import_notes(["."])
        yield opened


# speed


def speed(options: argparse.Namespace) -> None:
    """Importing, vectors, moving about at two sizes, themes and the map."""
    with imported(BIG, options, is_imported=False) as vault:
        started, worked = time.perf_counter(), time.process_time()
        done = vault.import_notes(["."])
        seconds, computing = time.perf_counter() - started, time.process_time() - worked
        print(
            f"| import, {done.notes} notes, {done.nodes} nodes | {seconds:.1f} s, {done.notes / seconds:.0f} notes/s; "
            f"{computing:.1f} s of it computing |"
        )
        with timed("vectors of all of them"):
            vault.node_vectors()
        moving(vault, options.calls)
        multiply(vault, max(0, options.nodes // done.nodes - 1), first=1)
        with timed("the matrix made anew, no vector computed"):
            vault.node_vectors()
        moving(vault, options.calls)
        if options.notes > done.notes:
            multiply(vault, -(-options.notes // done.notes) - options.nodes // done.nodes, first=options.nodes)
        vectors, count = vault.node_vectors(), len(vault.navigator_store.articles())
        for level in (1, 3):
            with timed(f"themes of {count} notes ({len(vectors.ids)} nodes), level {level}"):
                vault.themes(level)
        with timed("the same again, kept"):
            vault.themes(1)
        with timed("their map"):
            vault.theme_map()


def multiply(vault: OpenVault, copies: int, first: int) -> None:
    """Stores all nodes, articles and links so many times more, each time under a folder of its own."""
    if copies <= 0:
        return
    with sqlite3.connect(vault.workspace.navigator_nodes) as db:
        own = "path NOT LIKE 'copy-%'"
        for n in range(first, first + copies):
            folder, suffix = f"copy-{n}/", f"-{n}"
            db.execute(
                "INSERT INTO articles SELECT ? || path, content_hash, mtime_ns, size, title, day, tags, text "
                f"FROM articles WHERE {own}",
                (folder,),
            )
            db.execute(
                "INSERT INTO nodes SELECT id || ?, parent_id || ?, type, ? || path, ordinal, title, trail, level, "
                "start, end, line, end_line, content_hash, context_hash, summary, is_dirty, created_at, updated_at "
                f"FROM nodes WHERE {own}",
                (suffix, suffix, folder),
            )
            db.execute(
                "INSERT INTO edges SELECT source_id || ?, ? || path, ? || target_path, anchor, context "
                f"FROM edges WHERE {own}",
                (suffix, folder, folder),
            )
        db.execute("UPDATE facts SET value = CAST(value AS INTEGER) + 1 WHERE name = 'generation'")
    db.close()


def moving(vault: OpenVault, calls: int) -> None:
    """What a step takes, from nodes drawn at random."""
    navigator = vault.navigator("bench")
    vectors = vault.node_vectors()
    draw = random.Random(7)
    ids = draw.sample(vectors.ids, calls)
    articles = [each for each, kind in zip(vectors.ids, vectors.types, strict=True) if kind == NodeType.ARTICLE]
    questions = [node.title for node in vault.navigator_store.nodes(draw.sample(articles, min(50, calls))).values()]
    plain = Navigator(vault.navigator_store, vault.navigator_vectors(), "bench")
    navigator.move(ids[0])
    print(f"\n| at {len(vectors.ids)} nodes | p50 / p95 ms | of them computing |\n|---|---|---|")
    report("zoom in", ids, navigator.zoom_in)
    report("zoom out", ids, navigator.zoom_out)
    report("follow links", ids, lambda node: navigator.follow(node, "backlink"))
    report("follow containment", ids, lambda node: navigator.follow(node, "containment"))
    report("move", ids, navigator.move)
    report("move across", ids, lambda node: navigator.move(node, across=True))
    report("move in a tag", ids, lambda node: navigator.move(node, NodeFilter(tags=("area",))))
    report("move in a folder", ids, lambda node: navigator.move(node, NodeFilter(folder="copy-1")))
    report("move since a day", ids, lambda node: navigator.move(node, NodeFilter(since="2022-01-01")))
    report("explore, by vectors alone", questions, plain.explore)
    report("explore, with the words that were found", questions, navigator.explore)
    navigator.look_through("technical")
    report("move, through a lens", ids, navigator.move)
    navigator.look_through(None)
    print()


def report(what: str, given: Sequence[str], call: Callable[[str], object]) -> None:
    """Prints the median and the 95th percentile, by the clock and by the processor: others may use the machine too."""
    took, computing = [], []
    for each in given:
        started, worked = time.perf_counter(), time.thread_time()
        call(each)
        took.append((time.perf_counter() - started) * 1000)
        computing.append((time.thread_time() - worked) * 1000)
    cells = [f"{np.percentile(each, 50):.1f} / {np.percentile(each, 95):.1f}" for each in (took, computing)]
    print(f"| {what} | {' | '.join(cells)} |", flush=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints how long the block took."""
    started = time.perf_counter()
    yield
    print(f"| {what} | {time.perf_counter() - started:.2f} s |", flush=True)


# themes


def themes(options: argparse.Namespace) -> None:
    """Agreement of themes with folders and tags, beside plain k-means and link communities."""
    print("| vault, by | notes, groups | themes: ARI, purity | plain k-means | link communities (their number) |")
    print("|---|---|---|---|---|")
    for name in (*IN_FOLDERS, BIG):
        with imported(name, options) as vault:
            articles = list(vault.navigator_store.every((NodeType.ARTICLE,)))
            found = clusterings(vault, articles)
            for by, groups in (("folder", folders(articles)), ("tag", tags(vault, articles))):
                agreement(f"{name}, {by}", groups, found)


def clusterings(vault: OpenVault, articles: Sequence[StoredNode]) -> list[dict[str, int]]:
    """The cluster of each note: themes of level 2, k-means on plain vectors with as many, communities of links."""
    path_of = {node.id: node.path for node in articles}
    own = {path_of[node]: theme.number for theme in vault.themes(2) for node in theme.nodes}
    rows = article_vectors(vault.node_vectors(), articles, ())
    plain = spherical_k_means(rows, max(own.values()) + 1)
    with vault.catalogued() as catalogue:
        linked = communities(graph_of(catalogue), fewest=1)
    return [
        own,
        {node.path: int(label) for node, label in zip(articles, plain.labels, strict=True)},
        {path: number for number, group in enumerate(linked) for path in group},
    ]


def folders(articles: Sequence[StoredNode]) -> dict[str, str]:
    """The top folder of each note that stands in one; where all stand in one folder, the first part of dotted names."""
    inside = {node.path: node.path.split("/")[0] for node in articles if "/" in node.path}
    return inside or {node.path: node.path.split(".")[0] for node in articles if node.path.count(".") > 1}


def tags(vault: OpenVault, articles: Sequence[StoredNode]) -> dict[str, str]:
    """The first part of the first tag of each note that has one."""
    facts = vault.navigator_store.article_facts()
    return {node.path: facts[node.path][2][0].split("/")[0] for node in articles if facts[node.path][2]}


def agreement(what: str, groups: Mapping[str, str], found: Sequence[Mapping[str, int]]) -> None:
    """A row of the table; none where fewer than 20 notes are in groups of two or more."""
    sizes = Counter(groups.values())
    notes = [path for path, group in groups.items() if sizes[group] > 1 and all(path in each for each in found)]
    if len(notes) < 20:
        return
    truth = [groups[path] for path in notes]
    cells = []
    for each in found:
        labels = [each[path] for path in notes]
        cells.append(f"{adjusted_rand(truth, labels):.2f}, {purity(truth, labels):.2f} ({len(set(labels))})")
    print(f"| {what} | {len(notes)}, {len(set(truth))} | {' | '.join(cells)} |", flush=True)


def adjusted_rand(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """1 for the same groups, 0 for what chance gives (Hubert and Arabie 1985)."""

    def pairs(counts: Counter[Hashable]) -> float:
        return sum(n * (n - 1) / 2 for n in counts.values())

    both = pairs(Counter(zip(one, other, strict=True)))
    mine, theirs, total = pairs(Counter(one)), pairs(Counter(other)), len(one) * (len(one) - 1) / 2
    chance, most = mine * theirs / total, (mine + theirs) / 2
    return (both - chance) / (most - chance) if most != chance else 0.0


def purity(truth: Sequence[Hashable], labels: Sequence[Hashable]) -> float:
    """The share of notes that are of the commonest group of their cluster; many small clusters are pure as such."""
    inside: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for group, label in zip(truth, labels, strict=True):
        inside[label][group] += 1
    return sum(max(counts.values()) for counts in inside.values()) / len(truth)


# lens


def lens(options: argparse.Namespace) -> None:
    """How many ranks the held-out notes of a folder rise when half of it is the lens, and others fall."""
    print("| vault | lenses, questions | held-out notes: median rise (share that rises) | others | of notes |")
    print("|---|---|---|---|---|")
    draw = random.Random(7)
    for name in IN_FOLDERS:
        with imported(name, options) as vault:
            articles = list(vault.navigator_store.every((NodeType.ARTICLE,)))
            groups: defaultdict[str, list[str]] = defaultdict(list)
            for path, folder in folders(articles).items():
                groups[folder].append(path)
            made = [sorted(group) for group in groups.values() if 8 <= len(group) <= len(articles) // 2]
            questions = [node.title for node in draw.sample(articles, 10)]
            own: list[float] = []
            others: list[float] = []
            for group in made:
                draw.shuffle(group)
                examples, held = group[::2], set(group[1::2])
                for path, rise in rises(vault, questions, examples, len(articles)):
                    (own if path in held else others).append(rise)
            if own:
                cells = [f"{np.median(each):+.0f} ({np.mean(np.array(each) > 0):.0%})" for each in (own, others)]
                print(f"| {name} | {len(made)}, {len(questions)} | {' | '.join(cells)} | {len(articles)} |", flush=True)


def rises(vault: OpenVault, questions: Sequence[str], examples: Sequence[str], most: int) -> Iterator[tuple[str, int]]:
    """For each question how many ranks each note rises through the lens; the examples themselves are left out."""
    vault.navigator_store.choices.save_lens(Lens(name="bench", notes=tuple(examples)))
    navigator = vault.navigator("bench")
    only = NodeFilter((NodeType.ARTICLE,))
    for question in questions:
        ranks = []
        for worn in (None, "bench"):
            navigator.look_through(worn)
            found = navigator.explore(question, None, 2.0, only, most)
            ranks.append({each.node.path: rank for rank, each in enumerate(found)})
        navigator.look_through(None)
        yield from ((path, ranks[0][path] - rank) for path, rank in ranks[1].items() if path not in set(examples))


# map


def map_stability(options: argparse.Namespace) -> None:
    """How far notes move on the map when 5 % of them are new, or say something else."""
    print("| vault | 5 % new: median, p95 | 5 % changed | made anew from nothing |\n|---|---|---|---|")
    for name in (*IN_FOLDERS, BIG):
        with imported(name, options) as vault:
            articles = list(vault.navigator_store.every((NodeType.ARTICLE,)))
            rows = article_vectors(vault.node_vectors(), articles, vault.navigator_store.article_links())
        keys = [node.id for node in articles]
        draw = np.random.default_rng(7)
        moved = draw.permutation(len(keys))[: max(1, len(keys) // 20)]
        rest = np.setdiff1d(np.arange(len(keys)), moved)
        few = lay_out([keys[n] for n in rest], rows[rest])
        grown = lay_out(keys, rows, _spots([keys[n] for n in rest], few))
        other = rows.copy()
        other[moved] = unit((rows[moved] + rows[draw.permutation(len(keys))[: len(moved)]]).astype(np.float32))
        whole = lay_out(keys, rows)
        changed = lay_out(keys, other, _spots(keys, whole))
        anew = lay_out(keys, other)
        cells = [_apart(few, grown[rest]), _apart(whole[rest], changed[rest]), _apart(whole[rest], anew[rest])]
        print(f"| {name} ({len(keys)}) | {' | '.join(cells)} |", flush=True)


def _spots(keys: Sequence[str], places: NDArray[np.float32]) -> dict[str, tuple[float, float]]:
    return {key: (float(x), float(y)) for key, (x, y) in zip(keys, places, strict=True)}


def _apart(one: NDArray[np.float32], other: NDArray[np.float32]) -> str:
    """How far apart, as a share of the side of the map."""
    far = np.linalg.norm(one - other, axis=1) / 2
    return f"{np.median(far):.1%}, {np.percentile(far, 95):.1%}"


# edits


def edits(options: argparse.Namespace) -> None:
    """How many nodes that were not touched by random edits of real notes keep their id and their summary."""
    del options
    draw = random.Random(7)
    counts: Counter[str] = Counter()
    for name in (*IN_FOLDERS, BIG):
        for file in sorted((shared_data() / "vaults" / name).rglob("*.md")):
            text = file.read_bytes().decode("utf-8", "replace")
            before = article_nodes(parse(file.name, text))
            paragraphs = [node for node in before if node.type is NodeType.PARAGRAPH]
            for kind in ("a word changed", "a paragraph added", "a paragraph deleted", "a paragraph moved"):
                if len(paragraphs) < 3:
                    continue
                after = article_nodes(parse(file.name, edited(kind, text, paragraphs, draw)))
                count_kept(before, after, counts)
    print(f"| edits | {counts['edits']} |")
    print(f"| nodes whose text and titles are as before | {counts['unchanged']} |")
    print(f"| of them with their id, and their summary | {counts['id'] / counts['unchanged']:.2%}, "
          f"{counts['summary'] / counts['unchanged']:.2%} |")  # fmt: skip
    print(f"| articles and sections around an edit that keep their id | {counts['around'] / counts['edited']:.2%} |")


def edited(kind: str, text: str, paragraphs: Sequence[NoteNode], draw: random.Random) -> str:
    """The text after one edit as people make them."""
    one, other = draw.sample(list(paragraphs), 2)
    match kind:
        case "a word changed":
            return f"{text[: one.end]} indeed{text[one.end :]}"
        case "a paragraph added":
            return f"{text[: one.end]}\n\nSomething new came to mind.{text[one.end :]}"
        case "a paragraph deleted":
            return text[: one.start] + text[one.end :]
        case _:
            first, second = sorted((one, other), key=lambda node: node.start)
            without = text[second.start : second.end]
            return f"{text[: first.start]}{without}\n\n{text[first.start : second.start]}{text[second.end :]}"


def count_kept(before: Sequence[NoteNode], after: Sequence[NoteNode], counts: Counter[str]) -> None:
    """Counts nodes that say the same under the same titles, and those around what was edited."""
    mine: defaultdict[tuple[object, ...], set[str]] = defaultdict(set)
    for node in before:
        mine[_said(node)].add(node.id)
    kept, ids = {node.context_hash for node in before}, {node.id for node in before}
    counts["edits"] += 1
    for node in after:
        if _said(node) in mine:
            counts["unchanged"] += 1
            counts["id"] += node.id in mine[_said(node)]
            counts["summary"] += node.context_hash in kept
        elif node.type is not NodeType.PARAGRAPH:
            counts["edited"] += 1
            counts["around"] += node.id in ids


def _said(node: NoteNode) -> tuple[object, ...]:
    return node.type, node.trail, node.title, node.text


if __name__ == "__main__":
    main()
