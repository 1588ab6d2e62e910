"""The address of a Qdrant server and what may be sent to it: a key never travels in the clear.

Values in, a checked value out. Speaking to the server belongs to `search.server.engine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from infold.errors import SettingInvalid

DEFAULT_PORT: Final = 6333
URL_SETTING: Final = "INFOLD_QDRANT_URL"
KEY_SETTING: Final = "INFOLD_QDRANT_API_KEY"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server is. `shown` is host and port, fit for messages."""

    url: str
    shown: str


def server_address(url: str, api_key: str | None) -> ServerAddress:
    """The address in `url`, port 6333 where it names none.

    Raises SettingInvalid where it is no http(s) address, holds a password, or would send a key unencrypted to another
    machine.
    """
    wanted = f"{URL_SETTING} must be an address such as http://localhost:{DEFAULT_PORT}."
    try:
        parts = urlsplit(url.strip())
        port = parts.port or DEFAULT_PORT
    except ValueError as error:
        raise SettingInvalid(wanted) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingInvalid(wanted)
    if parts.username or parts.password:
        raise SettingInvalid(
            f"{URL_SETTING} must hold neither user nor password.", hint=f"A key belongs into {KEY_SETTING}."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown = f"{host}:{port}"
    if api_key and parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise SettingInvalid(
            f"{KEY_SETTING} would be sent unencrypted to {shown}.",
            hint=f"Set {URL_SETTING} to an https address; without one, only a server on this machine may get a key.",
        )
    return ServerAddress(f"{parts.scheme}://{shown}{parts.path.rstrip('/')}", shown)


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
