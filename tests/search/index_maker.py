"""A process that opens shared indexes for a test: it owns them, and the test is their client.

`python index_maker.py`: each line of its input is a folder, or a folder and a vector size to make an index there; it
answers with a line once it has the index open. It ends with its input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex


def main() -> None:
    """Opens what it is told to, and keeps it open."""
    opened = []
    for line in sys.stdin:
        folder, _, size = line.rstrip("\n").partition("\t")
        shard = Path(folder) / "shard"
        opened.append(SharedIndex(Path(folder), lambda shard=shard, size=size: EdgeIndex(shard, int(size or 0))))  # type: ignore[misc]
        print("owner" if opened[-1].is_owner else "client", flush=True)
    for index in opened:
        index.close()


if __name__ == "__main__":
    main()
