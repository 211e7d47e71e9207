"""Which addresses a crawler may connect to: the public ones, so no name, link or redirect leads to inner networks.

The check is where the connection is made: the crawler connects to the very addresses that the resolver returns. A name
may resolve to a public address at one moment and to a private one at the next. It gains nothing by that.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

REFUSED: set[str] = set()
"""Hosts for which this process got only private addresses."""
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address is reachable from everywhere: not private, loopback, link-local, reserved or multicast.

    An IPv6 address that stands for an IPv4 one (mapped, 6to4, NAT64) is as public as that.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    inner = _embedded(found)
    if inner is not None:
        return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


@implementer(IHostnameResolver)
class PublicResolver:
    """Twisted's own resolver without the addresses that are not public.

    Scrapy's setting TWISTED_DNS_RESOLVER names it. A host whose addresses were all refused joins ``REFUSED``.
    """

    def __init__(self, reactor: Any):
        self.reactor = reactor
        self.system = reactor.nameResolver

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> PublicResolver:
        """As Scrapy makes it."""
        return cls(reactor)

    def install_on_reactor(self) -> None:
        """As Scrapy installs it."""
        self.reactor.installNameResolver(self)

    def resolveHostName(self, receiver: Any, hostName: str, *args: Any, **options: Any) -> Any:
        """As Twisted asks, by its interface's name."""
        return self.system.resolveHostName(_PublicOnly(receiver, hostName), hostName, *args, **options)


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Hands public addresses on."""

    def __init__(self, receiver: Any, host: str):
        self.receiver, self.host = receiver, host
        self.public = self.private = 0

    def resolutionBegan(self, resolution: Any) -> None:
        self.receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:
        if is_public(address.host):
            self.public += 1
            self.receiver.addressResolved(address)
        else:
            self.private += 1

    def resolutionComplete(self) -> None:
        if self.private and not self.public:
            REFUSED.add(self.host)
        self.receiver.resolutionComplete()
