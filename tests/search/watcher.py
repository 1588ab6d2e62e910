"""A process that follows a vault as `infold watch` does, with a JSON line for each thing that happens.

python -m tests.search.watcher ROOT [DEBOUNCE RECONCILE POLLING]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from infold.progress import Progress, silent
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.follow.watcher import Follower, News, Syncing, watch_claimed
from infold.search.index.sync import sync_index
from infold.search.index.sync_stats import SyncResult
from infold.settings import Params, WatchParams


def syncing(root: Path, embedder: Embedder = NO_EMBEDDER) -> Syncing:
    """The sync of the vault in `root`, as a follower calls it."""

    def sync(paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        return sync_index(
            root / "vault",
            root / "index",
            root / "embeddings",
            Params(),
            embedder,
            progress,
            paths=paths,
            vectors=vectors,
        )

    return sync


def follower(root: Path, tell: Callable[[News], None], sync: Syncing | None = None, **params: float | bool) -> Follower:
    """A follower of the vault in `root` that debounces for a moment only."""
    wanted = WatchParams.model_validate({"debounce_seconds": 0.1, **params})
    return Follower(root / "vault", wanted, sync or syncing(root), tell, silent)


def main() -> None:
    """Follows until it is ended."""
    root = Path(sys.argv[1])

    def tell(news: News) -> None:
        told = {
            "happening": news.happening,
            "paths": news.paths,
            "changed": news.result.files_changed if news.result else None,
            "removed": news.result.files_removed if news.result else None,
            "error": str(news.error) if news.error else None,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()

    with watch_claimed(root / "index"):
        follower(root, tell).run()


if __name__ == "__main__":
    main()
