"""Which engine holds the vectors: the embedded one, or a Qdrant server where an address is set."""

from __future__ import annotations

from pathlib import Path

from infold.environment import Environment
from infold.search.index.contract import VectorEngine


def open_engine(index_dir: Path) -> VectorEngine:
    """That of the index in `index_dir`: a Qdrant server where INFOLD_QDRANT_URL is set, else in this process."""
    environment = Environment()
    if environment.qdrant_url:
        from infold.search.server.engine import ServerEngine

        key = environment.qdrant_api_key
        return ServerEngine(environment.qdrant_url, key.get_secret_value() if key else None, index_dir)
    from infold.search.shared.embedded import EdgeEngine

    return EdgeEngine(index_dir)
