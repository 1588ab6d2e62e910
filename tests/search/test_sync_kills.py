"""A sync that is killed: whatever was in progress, the next one gives what a rebuild gives."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from infold.catalogue import renewal

KILLED = """
import os, signal, sys
from pathlib import Path
import infold.search.index.word_writer as word_writer, infold.search.shared.edge as edge, infold.search.index.manifest as manifest, infold.catalogue.embeddings as embeddings
from infold.search.index import change_detection as changes
from infold.search.index import sync
from infold.search.index import writing
from infold.search.embed.embedder import EmbedderTraits
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import Params

root, victim, moment, last = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
changes.ROUND_NOTES, writing.VECTOR_BATCH = 1, 2
if victim == "Store.append":  # of vectors that take long, which are kept
    StaticEmbedder.traits = EmbedderTraits(weight=0.3)
owner, name = {"Manifest": manifest.Manifest, "EdgeIndex": edge.EdgeIndex, "WordWriter": word_writer.WordWriter, "Store": embeddings.EmbeddingStore}[
    victim.split(".")[0]], victim.split(".")[1]
original, calls = getattr(owner, name), 0

def dying(self, *args):
    global calls
    calls += 1
    if calls == last and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = original(self, *args)
    if calls == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(owner, name, dying)
sync.sync_index(root / "vault", root / "index", root / "embeddings", Params(), StaticEmbedder())
"""


@pytest.mark.parametrize(
    "victim, moment",
    [
        ("Manifest.begin", "before"),
        ("WordWriter.replace", "before"),
        ("WordWriter.commit", "before"),
        ("WordWriter.commit", "after"),
        ("EdgeIndex.put", "before"),
        ("EdgeIndex.flush", "before"),
        ("Manifest.finish", "before"),
        ("Manifest.finish", "after"),
        ("Store.append", "before"),
        ("EdgeIndex.delete", "before"),
        ("EdgeIndex.delete", "after"),
        ("Manifest.gone", "before"),
        ("Manifest.gone", "after"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_anywhere_the_next_sync_puts_it_right(place, victim: str, moment: str, request):
    """Killed before or after any step that writes, whatever changed: the next sync gives what a rebuild gives."""
    if victim == "Store.append":
        request.getfixturevalue("costly")
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish is quicker.\n\n## Oven\n\nUse a stone.\n")
    place.write("index.md", "# Home\n\nNothing here.\n")
    place.write("new/one.md", "# One\n\nFirst new note.\n\n## Two\n\nMore of it.\n")
    place.write("new/two.md", "# Two\n\nSecond new note.\n\n# Three\n\nThird.\n")
    (place.vault / "garden" / "tomatoes.md").unlink()
    last = "2" if victim in {"EdgeIndex.delete", "Manifest.gone"} else "3"  # call of it: two notes lose vectors
    given = [str(place.root), victim, moment, last]
    killed = subprocess.run([sys.executable, "-c", KILLED, *given], check=False, timeout=60)
    assert killed.returncode == -9, "the process was to be killed"
    (place.vault / "new" / "two.md").unlink()
    place.sync()
    after = place.contents()
    assert not any(hit.path.endswith("two.md") for hit, _ in after.values())
    place.sync(rebuild=True)
    assert place.contents() == after
    assert all(dense is not None for _, dense in after.values())
    assert place.manifest().leaving() == []
    pending = sqlite3.connect(place.generation / "manifest.sqlite").execute("SELECT count(*) FROM due").fetchone()
    assert pending == (0,)


KILLED_REBUILD = """
import os, signal, sys
from pathlib import Path
from infold.catalogue import renewal
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.sync import sync_index
from infold.settings import Params

renewal._take_over = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
root = Path(sys.argv[1])
sync_index(root / "vault", root / "index", root / "embeddings", Params(), StaticEmbedder(), rebuild=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_rebuild_leaves_no_catalogue_beside_the_one_in_use(place):
    """As large as the one in use, it goes with the next sync, though nothing changed."""
    place.sync()
    before = sorted(file.name for file in place.root.glob("catalogue*"))
    killed = subprocess.run([sys.executable, "-c", KILLED_REBUILD, str(place.root)], check=False, timeout=60)
    assert killed.returncode == -9, "the process was to be killed"
    assert (place.root / renewal.FILE_NAME).exists()
    place.sync()
    assert sorted(file.name for file in place.root.glob("catalogue*")) == before
