"""A worker process of `tables.reading`: `python -m infold.tables.worker`, one job on stdin, batches on stdout."""

from __future__ import annotations

import sys

from infold.tables.reading import work

if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
