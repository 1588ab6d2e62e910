"""An index that was made otherwise, or is damaged, is made anew; what is there serves until then."""

from __future__ import annotations

import contextlib
import shutil

import numpy as np
import pytest

from infold.errors import IndexFault, SettingInvalid
from infold.search.embed.embedder import EmbedderTraits
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.index.generations import Generations
from infold.settings import Params


class OtherEmbedder:
    """Another model: three numbers for each text, none of them clever. Counts what it is asked."""

    name = "test/other"
    size = 3
    traits = EmbedderTraits(weight=0.1)

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts):
        self.asked += len(texts)
        rows = np.array([[len(text), text.count("e"), 1] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    "damage",
    [
        "config",
        "garbage",
        "truncated",
        "panic",
        "no segments",
        "manifest",
        "manifest gone",
        "words gone",
        "words",
        "term",
    ],
)
@pytest.mark.usefixtures("costly")
def test_a_damaged_index_is_made_anew(place, damage: str):
    """Whatever is wrong with the index's files, a search names it or works, and the next syncs put it right."""
    place.sync()
    whole = place.contents()
    shard = place.generation / "shard"
    segment = next((shard / "segments").iterdir())
    if damage == "config":
        (shard / "edge_config.json").write_text("{")
    elif damage == "garbage":
        (segment / "segment.json").write_bytes(b"\x00garbage")
    elif damage == "truncated":
        for file in segment.rglob("*.dat"):
            file.write_bytes(file.read_bytes()[:10])
    elif damage == "panic":
        for file in segment.glob("vector_storage-dense/*/config.json"):
            file.write_bytes(b"")
    elif damage == "no segments":
        shutil.rmtree(shard / "segments")
    elif damage == "words gone":
        shutil.rmtree(place.generation / "words")
    elif damage in {"words", "term"}:
        for file in (place.generation / "words").glob("*.store" if damage == "words" else "*.term"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2 - 40 : len(data) // 2] = bytes(40)
            file.write_bytes(data)
    elif damage == "manifest":
        (place.generation / "manifest.sqlite").write_bytes(b"no database" * 100)
    else:
        (place.generation / "manifest.sqlite").unlink()
    with contextlib.suppress(IndexFault):
        assert place.found("levain") == ["bread.md"]
        with place.searcher() as searcher:
            assert searcher.hybrid("levain", 5)[0].path == "bread.md"
    result = place.sync()
    assert result.embeddings_computed == 0
    assert place.contents() == whole


@pytest.mark.usefixtures("costly")
def test_another_model_or_cut_makes_the_index_anew(place):
    """An index made with other settings is not mixed with; vectors of both models are kept."""
    place.sync()
    embedder = place.embedder
    place.embedder = NO_EMBEDDER
    assert place.sync().rebuilt
    with place.searcher() as searcher:
        assert searcher.dense("levain", 5) == []
        assert searcher.candidates("levain", 5) == ["bread.md"]
    place.embedder = embedder
    result = place.sync()
    assert (result.rebuilt, result.embeddings_computed) == (True, 0)
    place.params = Params.model_validate({"search": {"passage_tokens": 64}})
    assert place.sync().rebuilt


@pytest.mark.usefixtures("costly")
def test_the_old_index_serves_until_the_new_one_has_its_keywords(place):
    """A change of model never leaves a search without keywords, and both models' vectors are kept."""
    place.sync()
    old = Generations(place.index).current()
    seen: list[tuple[str, int, list[str], bool]] = []

    def look(stage: str, done: int, total: int) -> None:
        is_old = Generations(place.index).current() == old
        seen.append((stage, done, place.found("levain"), is_old))

    static, place.embedder = place.embedder, OtherEmbedder()
    result = place.sync(progress=look)
    assert (result.rebuilt, result.embeddings_computed, result.generation != old) == (True, 5, True)
    assert all(found == ["bread.md"] for _, _, found, _ in seen)
    assert {is_old for stage, _, _, is_old in seen if stage == "keywords"} == {True}
    assert {is_old for stage, _, _, is_old in seen if stage == "vectors"} == {False}
    assert Generations(place.index).generations() == [result.generation]
    place.embedder = static
    assert place.sync().embeddings_computed == 0


def test_a_search_that_stays_open_follows_a_rebuild(place):
    """Who searched the old index is answered by the new one."""
    place.sync()
    with place.searcher() as searcher:
        assert [hit.path for hit in searcher.keyword("levain", 5)] == ["bread.md"]
        place.write("second.md", "Another levain.")
        place.sync(rebuild=True)
        assert sorted(hit.path for hit in searcher.keyword("levain", 5)) == ["bread.md", "second.md"]


def test_a_rebuild_that_fails_leaves_the_old_index(place):
    """What stops a rebuild half-way takes nothing away; the next one clears up after it."""
    place.sync()
    place.params = Params.model_validate({"search": {"passage_tokens": 64}})

    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.sync(progress=stop)
    assert place.found("levain") == ["bread.md"]
    assert place.sync().rebuilt
    assert len(Generations(place.index).generations()) == 1


def test_a_first_index_is_used_while_it_is_made(place):
    """With nothing else to serve, what is written can be found at once; a first sync that is stopped is taken up."""

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "keywords" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.sync(progress=stop, vectors=False)
    assert place.found("levain") == ["bread.md"]
    result = place.sync()
    assert (result.rebuilt, result.files_changed, result.embeddings_computed) == (False, 0, 5)


def test_the_language_can_be_set(place):
    """A set language stems every note; another makes the index anew; a misspelt one is named with those there are."""
    place.write("pt.md", "cantaram")
    place.params = Params.model_validate({"search": {"language": "portuguese"}})
    place.sync()
    with contextlib.closing(place.manifest()) as manifest:
        assert manifest.languages(3) == ("portuguese",)
    assert place.found("cantando") == ["pt.md"]
    place.params = Params()
    assert place.sync().rebuilt
    place.params = Params.model_validate({"search": {"language": "portugese"}})
    with pytest.raises(SettingInvalid, match="portugese") as fault:
        place.sync()
    assert "portuguese" in fault.value.hint
