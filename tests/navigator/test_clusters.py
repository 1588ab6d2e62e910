"""Clusters, their words, the map and lenses: pure parts of the navigator."""

from __future__ import annotations

from datetime import date

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from infold.navigator.clusters import smoothed, spherical_k_means, telling_terms, unit
from infold.navigator.layout import lay_out, neighbours
from infold.navigator.lens import Lens, Subject, direction, raised


def blobs(sizes=(30, 20, 10), spread=0.15, dimensions=16, seed=1):
    """Rows around as many far-apart directions as there are sizes, and which each is of."""
    draw = np.random.default_rng(seed)
    centres = np.eye(len(sizes), dimensions)
    rows = [centres[n] + spread * draw.normal(size=(size, dimensions)) for n, size in enumerate(sizes)]
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return unit(np.concatenate(rows).astype(np.float32)), truth


def test_what_lies_together_is_one_cluster_and_the_biggest_comes_first():
    """Clear clusters are found, in the order of their size, the same in every run."""
    vectors, truth = blobs()
    found = spherical_k_means(vectors, 3)
    assert found.labels.tolist() == truth.tolist()
    assert spherical_k_means(vectors, 3).labels.tolist() == found.labels.tolist()
    nearest = found.representatives(vectors, 1, 3)
    assert {int(found.labels[row]) for row in nearest} == {1}


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 5))
def test_no_cluster_is_empty_and_each_row_has_one(count, k, seed):
    """Whatever the rows, equal ones included, every label is that of a cluster with members."""
    draw = np.random.default_rng(seed)
    vectors = unit(draw.integers(0, 2, size=(count, 4)).astype(np.float32))
    found = spherical_k_means(vectors, k)
    assert len(found.labels) == count
    assert set(found.labels.tolist()) == set(range(len(found.centres)))


def test_links_draw_together():
    """A row that lies between goes with those it is linked with."""
    vectors = unit(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [0.72, 0.7]], dtype=np.float32))
    drawn = smoothed(vectors, [(4, 2), (4, 3)])
    assert drawn[4] @ vectors[2] > vectors[4] @ vectors[2]
    assert smoothed(vectors, []) is vectors


def test_terms_tell_clusters_apart():
    """What all say tells nothing; what one document alone says tells of that document."""
    documents = [{"the": 9, "boiler": 2, "steam": 1}, {"the": 9, "boiler": 1, "steam": 1, "odd": 9}]
    documents += [{"the": 9, "tulip": 2, "bulb": 1}, {"the": 9, "tulip": 1, "bulb": 3}]
    first, second = telling_terms(documents, [0, 0, 1, 1], most=2)
    assert set(first) == {"boiler", "steam"}
    assert set(second) == {"tulip", "bulb"}


def test_neighbours_stay_neighbours_on_the_map():
    """Those that lie together stand together: the nearest on the map is of the same cluster."""
    vectors, truth = blobs(sizes=(60, 60, 60))
    places = lay_out([str(n) for n in range(180)], vectors)
    distance = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (truth[distance.argmin(axis=1)] == truth).mean() > 0.95
    assert np.abs(places).max() <= 1


def test_the_map_stays_where_it_was():
    """What was there hardly moves when something comes; what comes stands among its neighbours."""
    vectors, truth = blobs(sizes=(60, 60, 60))
    keys = [str(n) for n in range(180)]
    first = lay_out(keys[:170], vectors[:170])
    before = {key: (float(x), float(y)) for key, (x, y) in zip(keys, first, strict=False)}
    second = lay_out(keys, vectors, before)
    moved = np.linalg.norm(second[:170] - first, axis=1)
    assert np.median(moved) < 0.1
    new = neighbours(np.ascontiguousarray(vectors), 1)[170:, 0]
    own = second[truth == 2]
    assert np.linalg.norm(second[170:] - own.mean(axis=0), axis=1).max() < 1.0
    assert (truth[new] == 2).all()


def test_few_rows_have_places_too():
    """One note, or two, are a map."""
    for count in range(3):
        assert lay_out([str(n) for n in range(count)], np.eye(3, dtype=np.float32)[:count]).shape == (count, 2)


def test_a_lens_raises_its_own_and_leaves_nothing_out():
    """Things like the lens come before others of the same likeness; every one stays."""
    vectors, truth = blobs(sizes=(5, 5))
    likeness = np.full(10, 0.5, dtype=np.float32)
    subjects = [Subject() for _ in truth]
    lens = Lens(name="x", words=("w",))
    through = raised(likeness, vectors, subjects, lens, direction(vectors[:2]), date(2026, 1, 1))
    assert through[truth == 0].min() > through[truth == 1].max()
    assert len(through) == 10


def test_a_lens_of_tags_and_of_time():
    """A tag counts with those below it; what is recent comes before what is old or has no day."""
    vectors, likeness = np.zeros((3, 2), dtype=np.float32), np.full(3, 0.5, dtype=np.float32)
    subjects = [Subject(("work/infold",), date(2025, 12, 30)), Subject(("home",), date(2020, 1, 1)), Subject()]
    by_tag = raised(likeness, vectors, subjects, Lens(name="w", tags=("#work",)), None, date(2026, 1, 1))
    assert by_tag.argmax() == 0
    recent = raised(likeness, vectors, subjects, Lens(name="r", recent=True), None, date(2026, 1, 1))
    assert recent[0] > recent[1] >= recent[2]


def test_an_empty_lens_changes_nothing():
    """A lens without parts is no lens."""
    likeness = np.array([0.1, 0.9], dtype=np.float32)
    same = raised(likeness, np.zeros((2, 2), np.float32), [Subject(), Subject()], Lens(name="e"), None, date.today())  # noqa: DTZ011
    assert same is likeness
