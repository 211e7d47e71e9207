"""What the spider asks for, what it refuses, and where it stops."""

from __future__ import annotations

import time

import pytest

from fairseq_xl.io.errors import InputError

from .conftest import crawl, many, page, urls


def test_refuses_private_addresses(serve, tmp_path):
    site = serve({"/": page("inside")})
    base = [f"http://{host}:{site.port}/" for host in ("127.0.0.1", "localhost", "[::1]")]
    with pytest.raises(InputError, match=r"no page came from .*: private address \(3\)"):
        crawl(tmp_path, None, base=base, allow_private=False)
    assert not site.asked


def test_sites_that_give_nothing(serve, tmp_path):
    forbids = {"/robots.txt": (200, {}, b"User-agent: *\nDisallow: /"), "/": page("not for you")}
    leaves = {"/": (302, {"Location": "http://elsewhere.example/"}, b"")}
    base = [f"{serve(answers).url}/" for answers in ({}, forbids, leaves)]
    base += ["http://127.0.0.1:1/"]
    with pytest.raises(InputError, match="no page came from") as raised:
        crawl(tmp_path, None, base=base)
    reasons = set(str(raised.value).rpartition("/: ")[2].split("; "))
    assert reasons == {"failed: 404 (1)", "forbidden by robots.txt (1)", "failed: DownloadConnectionRefused (1)"}


def test_page_limit_stops_and_goes_on(serve, tmp_path):
    site = serve(many(10))
    report = crawl(tmp_path, site, max_pages=6, concurrent=1)
    assert report["pages"] == 6
    assert report["pairs"] == 3
    assert report["queue"] > 0
    report = crawl(tmp_path, site, max_pages=0, concurrent=1)
    assert report["pages"] == 22
    assert report["pairs"] == 11
    assert len(set(urls(tmp_path))) == 22
    assert max(count for path, count in site.asked.items() if path != "/robots.txt") == 1


def test_obeys_crawl_delay(serve, tmp_path):
    site = serve(
        {"/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nCrawl-delay: 0.6\n"), **many(1)}
    )
    start = time.monotonic()
    crawl(tmp_path, site)
    assert time.monotonic() - start > 0.3 * 4
