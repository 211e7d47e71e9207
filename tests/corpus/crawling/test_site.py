"""Addresses of a site."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.crawling.site import CrawlSettings, Site

SITE = Site.of(
    CrawlSettings(
        base=["https://Example.org:443/x", "http://example.org:8080"],
        hosts=["fr.example.org"],
        exclude=[r"\?print=", "^/private"],
    )
)


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("b.html#part", "https://example.org/d/b.html"),
        ("//FR.example.org", "https://fr.example.org/"),
        ("https://example.org:443", "https://example.org/"),
        ("http://example.org:80/a b?q=é", "http://example.org/a%20b?q=%C3%A9"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("mailto:a@b.org", None),
        ("javascript:go()", None),
        ("file:///etc/passwd", None),
        ("ftp://example.org/", None),
        ("http://me@example.org/", None),
        ("http://[", None),
        ("http://example.org:port/", None),
        ("x" * 3000, None),
    ],
)
def test_normal_form(link, address):
    assert SITE.address(link, "https://example.org/d/a.html") == address


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("https://example.org/", True),
        ("http://example.org/", True),
        ("http://example.org:8080/", True),
        ("http://example.org:8081/", False),
        ("http://fr.example.org/", True),
        ("http://es.example.org/", False),
        ("http://example.org.evil.net/", False),
        ("http://example.org/a?print=1", False),
        ("http://example.org/private/", False),
    ],
)
def test_holds(address, inside):
    assert SITE.holds(address) is inside


def test_include():
    site = Site.of(CrawlSettings(base=["http://x.org"], include=["^/doc/"]))
    assert site.holds("http://x.org/doc/a")
    assert not site.holds("http://x.org/a")
