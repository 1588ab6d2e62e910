"""A process that ends at once: what it opened stays open until then, and loses nothing."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import numpy as np

from infold.search.index.contract import VectorRecord
from infold.search.shared import leaving
from infold.search.shared.embedded import EdgeEngine
from infold.search.shared.shared_index import SharedIndex

_ID = "00000000000000aa"
_LEAVES = """
import os, sys
from array import array
from pathlib import Path
from infold.search.index.contract import VectorRecord
from infold.search.shared.embedded import EdgeEngine
from infold.search.shared.leaving import leave_open
leave_open()
index = EdgeEngine(Path(sys.argv[1])).open(sys.argv[2])
index.put([VectorRecord(2, array("f", [0, 1]))])
index.close()
os._exit(0)
"""


def test_what_is_left_open_is_kept_and_used_again(tmp_path, monkeypatch):
    """Closed, it is still this process's, who opens it again at once; who needs it closed has it closed."""
    monkeypatch.setattr(leaving, "_leaving", [True])
    (tmp_path / "generations" / _ID).mkdir(parents=True)
    engine = EdgeEngine(tmp_path)
    index = engine.create(_ID, 2)
    index.put([VectorRecord(1, np.array([1, 0], dtype=np.float32))])
    index.close()
    opened: list[bool] = []
    with closing(SharedIndex(tmp_path / "generations" / _ID, lambda: opened.append(True))) as again:
        assert again.is_owner
        assert again.count() == 1
    assert opened == []
    assert engine.compact(_ID, 60)
    with closing(engine.open(_ID)) as again:
        assert [number for number, _ in again.query(np.array([1, 0], dtype=np.float32), 3)] == [1]
    engine.drop(_ID)
    assert not engine.exists(_ID)


def test_what_was_written_before_a_process_left_is_there(tmp_path):
    """The next process that opens it finds the vectors of the one that closed nothing."""
    (tmp_path / "generations" / _ID).mkdir(parents=True)
    engine = EdgeEngine(tmp_path)
    with closing(engine.create(_ID, 2)) as index:
        index.put([VectorRecord(1, np.array([1, 0], dtype=np.float32))])
    subprocess.run([sys.executable, "-c", _LEAVES, str(tmp_path), _ID], check=True, timeout=60)
    with closing(engine.open(_ID)) as index:
        assert index.count() == 2
        assert index.query(np.array([0, 1], dtype=np.float32), 1)[0][0] == 2
