"""Writes vectors, takes some away and flushes, until it is killed; says when it begins: `FOLDER SEED`."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Final

import numpy as np

from infold.search.index.contract import VectorRecord
from infold.search.shared.edge import CONFIG_FILE, EdgeIndex
from tests.chaos.index_crowd import SIZE

NUMBERS: Final = 400


def main() -> None:
    """Never ends by itself."""
    folder, chance = Path(sys.argv[1]), random.Random(sys.argv[2])
    index = EdgeIndex(folder, None if (folder / CONFIG_FILE).exists() else SIZE)
    print("begins", flush=True)
    while True:
        some = chance.sample(range(NUMBERS), 20)
        index.delete(some[:8])
        vectors = np.array([[chance.gauss(0, 1) for _ in range(SIZE)] for _ in some], dtype=np.float32)
        index.put([VectorRecord(number, vector) for number, vector in zip(some[8:], vectors, strict=False)])
        if chance.random() < 0.7:
            index.flush()


if __name__ == "__main__":
    main()
