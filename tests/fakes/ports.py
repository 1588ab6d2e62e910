"""A port for a server that has to be told one."""

from __future__ import annotations

import random
import socket
from typing import Final

_PORTS: Final = range(20_000, 32_000)  # below those that the system hands out to whoever asks for any, so none of them


def free_port() -> int:
    """A port of this machine that nothing listens on, and that nobody gets by chance."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
