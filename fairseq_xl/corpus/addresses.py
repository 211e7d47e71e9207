"""Which addresses a crawler may connect to: the public ones, so that no name, link or redirect leads inside.

The check is where the connection is made: the addresses that the resolver hands on are the ones that are connected
to, so that a name that resolves to a public address at one moment and to a private one at the next gains nothing.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

REFUSED = "refused_hosts/"
"""Prefix of the statistics that name the hosts that had none but private addresses."""
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

    Scrapy's setting TWISTED_DNS_RESOLVER names it. A host whose addresses were all refused has a statistic
    ``REFUSED + host``.
    """

    def __init__(self, crawler: Any, reactor: Any):
        self.stats = crawler.stats
        self.reactor = reactor
        self.system = reactor.nameResolver

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> PublicResolver:
        """As Scrapy makes it."""
        return cls(crawler, reactor)

    def install_on_reactor(self) -> None:
        """As Scrapy installs it."""
        self.reactor.installNameResolver(self)

    def resolveHostName(self, receiver: Any, hostName: str, *args: Any, **options: Any) -> Any:
        """As Twisted asks, by its interface's name."""
        only = _PublicOnly(receiver, lambda: self.stats.set_value(REFUSED + hostName, 1))
        return self.system.resolveHostName(only, hostName, *args, **options)


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Hands public addresses on; calls ``refused`` where there were others and no public one."""

    def __init__(self, receiver: Any, refused: Any):
        self.receiver, self.refused = receiver, refused
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
            self.refused()
        self.receiver.resolutionComplete()
