"""Which addresses are connected to."""

from __future__ import annotations

import pytest

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses, is_public, system_addresses

INSIDE = [
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.8",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a00:1::",
    "::127.0.0.1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
]


@pytest.mark.parametrize("address", INSIDE)
def test_inner_addresses_are_not_public(address):
    """Private, loopback, link-local, shared, reserved, multicast, and each of them mapped, translated or tunnelled."""
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_addresses_of_the_open_network_are_public(address):
    """What anybody may reach, in either family."""
    assert is_public(address)


def test_one_inner_address_among_several_is_enough_to_refuse():
    """A name that leads outside and inside would lead inside the second time."""
    addresses = Addresses(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(FetchRefused, match=r"mixed\.example leads to 10\.0\.0\.1"):
        addresses.of("mixed.example", 443)


def test_named_hosts_may_lie_inside():
    """A host is allowed by name or by name and port, whatever its case; no other is, nor another port."""
    addresses = Addresses(["Wiki.Local", "127.0.0.1:8080"], resolve=lambda host, port: ["127.0.0.1"])
    assert addresses.of("wiki.local", 80) == "127.0.0.1"
    assert addresses.of("127.0.0.1", 8080) == "127.0.0.1"
    with pytest.raises(FetchRefused):
        addresses.of("127.0.0.1", 8081)


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1"])
def test_every_way_of_writing_loopback_is_refused(host):
    """The judgement is of what the system would connect to, not of how it is written."""
    with pytest.raises((FetchRefused, FetchFailed)):
        Addresses(resolve=system_addresses).of(host, 80)
