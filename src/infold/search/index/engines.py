"""Which engine holds the vectors: the embedded one, or a Qdrant server where an address is set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from infold.search.index.contract import VectorEngine

URL: Final = "INFOLD_QDRANT_URL"
API_KEY: Final = "INFOLD_QDRANT_API_KEY"


def open_engine(index_dir: Path) -> VectorEngine:
    """That of the index in `index_dir`: a Qdrant server where INFOLD_QDRANT_URL is set, else in this process."""
    url = os.environ.get(URL)
    if url:
        from infold.search.server.engine import ServerEngine

        return ServerEngine(url, os.environ.get(API_KEY), index_dir)
    from infold.search.shared.embedded import EdgeEngine

    return EdgeEngine(index_dir)
