"""Which addresses may be connected to: a host is resolved once, judged, and connected to at that very address.

What a name says counts for nothing, only what it resolves to: `2130706433`, `127.1` and a public name with a private
record are all the same here.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection
from typing import Final

from infold.errors import FetchFailed, FetchRefused

ResolveHost = Callable[[str, int], list[str]]

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_PROTOCOLS: Final = ipaddress.ip_network("192.0.0.0/24")  # some versions of Python take parts of it for public


def system_addresses(host: str, port: int) -> list[str]:
    """The addresses that the system knows for `host`, the preferred one first. Raises FetchFailed where it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchFailed(
            f"The host {host} cannot be resolved: {error}.", hint="Is the address spelt right?"
        ) from error
    return list(dict.fromkeys(str(item[4][0]).partition("%")[0] for item in found))


def is_public(address: str) -> bool:
    """Whether an IP address lies in the open network: also what is mapped, translated or tunnelled into another."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and (ip in _NAT64 or int(ip) >> 32 == 0):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip not in _PROTOCOLS and ip.is_global and not ip.is_multicast and not ip.is_reserved


class Addresses:
    """Hosts as addresses to connect to. `allowed` names hosts, with or without a port, that may lie inside.

    The setting INFOLD_FETCH_HOSTS names them: a wiki of one's own network, say.
    """

    def __init__(self, allowed: Collection[str] = (), resolve: ResolveHost = system_addresses) -> None:
        self._allowed = frozenset(name.strip().casefold() for name in allowed if name.strip())
        self._resolve = resolve

    def of(self, host: str, port: int) -> str:
        """The address to connect to. Raises FetchRefused where any of the host's lies inside, and FetchFailed."""
        found = self._resolve(host, port)
        if not found:
            raise FetchFailed(f"The host {host} has no address.")
        if self._is_allowed(host, port):
            return found[0]
        inside = [address for address in found if not is_public(address)]
        if inside:
            raise FetchRefused(
                f"{host} leads to {inside[0]}, which is not in the open network.",
                hint="Name the host in INFOLD_FETCH_HOSTS if pages there may be fetched.",
            )
        return found[0]

    def _is_allowed(self, host: str, port: int) -> bool:
        name = host.casefold().strip("[]")
        return name in self._allowed or f"{name}:{port}" in self._allowed
