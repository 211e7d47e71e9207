"""Which addresses a crawler may connect to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fairseq_xl.corpus.crawling import addresses
from fairseq_xl.corpus.crawling.addresses import PublicResolver, is_public


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "240.0.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "not an address", ""),
    ],
)
def test_not_public(address):
    assert not is_public(address)


class Receiver:
    def __init__(self):
        self.hosts, self.complete = [], False

    def resolutionBegan(self, resolution):
        pass

    def addressResolved(self, address):
        self.hosts.append(address.host)

    def resolutionComplete(self):
        self.complete = True


@pytest.mark.parametrize(
    ("resolved", "handed_on", "refused"),
    [
        (["8.8.8.8"], ["8.8.8.8"], set()),
        (["10.0.0.1", "8.8.8.8", "::1"], ["8.8.8.8"], set()),
        (["10.0.0.1"], [], {"name.example"}),
        ([], [], set()),
    ],
)
def test_only_public_addresses_are_handed_on(monkeypatch, resolved, handed_on, refused):
    def resolve(receiver, name, *args, **options):
        receiver.resolutionBegan(None)
        for host in resolved:
            receiver.addressResolved(SimpleNamespace(host=host))
        receiver.resolutionComplete()

    monkeypatch.setattr(addresses, "REFUSED", set())
    reactor = SimpleNamespace(nameResolver=SimpleNamespace(resolveHostName=resolve))
    receiver = Receiver()
    PublicResolver.from_crawler(None, reactor).resolveHostName(receiver, "name.example", 80)
    assert receiver.hosts == handed_on
    assert receiver.complete
    assert refused == addresses.REFUSED
