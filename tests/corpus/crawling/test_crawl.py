"""The crawler on a website on loopback."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import signal
import time
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import forked
import local_server
import pytest
from warcio.archiveiterator import ArchiveIterator

from fairseq_xl.corpus.crawling.pages import Pages, forget, page_file, read_jsonl
from fairseq_xl.io.errors import InputError

from .conftest import REDIRECT, Website, crawl, fr, links, many, page, pairs, urls


def test_keeps_what_is_a_page_and_counts_what_is_none(serve, tmp_path):
    other = serve({"/": page("inside")})
    latin = "<html lang=fr><body>Été à Besançon, où l'on mange</body></html>".encode("latin-1")
    site = serve(
        {
            "/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /no/\n"),
            "/": page(
                links("/a.html", "a.html#part", "/no/x.html", "/loop", "/big", "/chunks", "/doc.pdf", "/gone")
                + links("/broken", "/away", f"{other.url}/", "mailto:me@x.org", "/moved", "/chain0", "http://[")
                + links(f"http://user:secret@127.0.0.1:{other.port}/", "javascript:void(0)", "/squeezed"),
                head=fr("/fr/"),
            ),
            "/fr/": page("Bonjour le monde " + links("/"), "fr", '<link hreflang="en" href="/">'),
            "/a.html": page("one two", head=fr("/fr/a.html")),
            "/fr/a.html": (200, {"Content-Type": "text/html"}, latin),
            "/no/x.html": page("forbidden"),
            "/loop": (302, REDIRECT | {"Location": "/loop2"}, b""),
            "/loop2": (301, REDIRECT | {"Location": "/loop"}, b""),
            "/big": (200, {"Content-Type": "text/html"}, b"<html>" + b"x" * 2_000_000),
            "/chunks": (
                200,
                {"Content-Type": "text/html", "Transfer-Encoding": "chunked"},
                b"<html>" + b"x" * 2_000_000,
            ),
            "/doc.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF"),
            "/broken": (
                200,
                {"Content-Type": "text/html"},
                b"<html lang=en><p>two words<div><a href='/under'>x<table><tr><p></html><b",
            ),
            "/under": page("found in a broken page"),
            "/away": (302, REDIRECT | {"Location": f"{other.url}/"}, b""),
            "/moved": (308, REDIRECT | {"Location": "/there"}, b""),
            "/there": page("where it moved"),
            "/squeezed": (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, b"\x1f\x8b"),
            **{f"/chain{n}": (302, REDIRECT | {"Location": f"/chain{n + 1}"}, b"") for n in range(20)},
        }
    )

    report = crawl(tmp_path, site, max_megabytes=1, warc=True)

    kept = urls(tmp_path)
    expected = {"/", "/fr/", "/a.html", "/fr/a.html", "/broken", "/under", "/there"}
    assert set(kept) == expected
    assert len(kept) == len(expected)
    assert report["pages"] == 7
    assert report["too large"] == 2
    assert report["not HTML"] == 2
    assert report["forbidden by robots.txt"] == 1
    assert report["failed: 404"] == 1
    assert report["redirect loops"] == 2
    assert report["redirects"] == 2 + 1 + 1 + 11
    assert report["queue"] == 0
    assert site.asked["/no/x.html"] == 0
    assert max(site.asked.values()) == 1
    assert site.asked["/chain10"] == 1
    assert site.asked["/chain11"] == 0
    assert not other.asked
    assert pairs(tmp_path) == {("/", "/fr/", "hreflang"), ("/a.html", "/fr/a.html", "hreflang")}
    assert dict(report["pages without counterpart"]).keys() == {
        f"{site.url}{path}" for path in ("/broken", "/under", "/there")
    }

    record = next(r for r in read_jsonl(tmp_path / "crawl/pages.jsonl") if "/fr/a" in r["url"])
    assert record["status"] == 200
    assert ["Content-Type", "text/html"] in record["headers"]
    assert page_file(tmp_path / "crawl", record["sha256"]).read_bytes() == latin
    assert record["language"] == "fr"
    with (tmp_path / "crawl/pages.warc.gz").open("rb") as stream:
        archived = {
            entry.rec_headers.get_header("WARC-Target-URI"): entry.content_stream().read()
            for entry in ArchiveIterator(stream)
        }
    assert len(archived) == 7
    assert archived[f"{site.url}/fr/a.html"] == latin


def test_new_settings_use_the_pages_that_are_there(serve, tmp_path):
    site = serve({"/": page(links("/a", "/b")), "/a": page("a"), "/b": page("b"), "/fr/a": page("fa", "fr")})
    with pytest.raises(InputError, match=r"languages: en 2\) none in en has a counterpart in fr"):
        crawl(tmp_path, site, exclude=["^/b"])
    assert site.asked["/b"] == 0
    report = crawl(tmp_path, site, url_patterns=[["^/a", "/fr/a"]])
    assert (report["pages"], report["pairs"]) == (4, 1)
    assert site.asked["/"] == site.asked["/a"] == site.asked["/b"] == 1


def test_killed_at_any_moment_goes_on(serve, tmp_path, run_cli):
    site = serve(many(40), delay=0.05)
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "corpus.yaml").write_text(f"languages: [en, fr]\ncrawl: {{base: ['{site.url}/']}}\n")
    command = ["corpus", "crawl", "--project", str(folder), "--set", "crawl.allow_private=true", "crawl.delay=0"]
    draw, before = random.Random(1), []
    for until in (draw.randint(5, 30), draw.randint(31, 65)):  # requests
        child = forked.start("fairseq_xl.cli.main", *command)
        deadline = time.monotonic() + 300
        while sum(site.asked.values()) < until and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.1))
        child.kill()
        child.join()
        time.sleep(0.5)
        after = sum(site.asked.values())
        time.sleep(0.5)
        assert sum(site.asked.values()) == after, "the spider outlived the command"
        with Pages(folder / "crawl") as kept:
            found = [record.url.removeprefix(site.url) for record in kept.kept()]
        assert set(before) <= set(found)
        before = found
    assert 10 < len(before) < 82
    asked = dict(site.asked)
    done = run_cli(*command)
    assert done.returncode == 0, done.stderr
    assert all(site.asked[path] == asked[path] for path in before)
    assert sorted(urls(folder)) == sorted({"/", "/fr/", *(f"/{code}{n}" for code in ("en", "fr") for n in range(40))})
    asked = dict(site.asked)
    again = run_cli(*command)
    assert "done before" in again.stderr
    assert dict(site.asked) == asked


def test_ctrl_c_leaves_what_was_fetched(serve, tmp_path, run_cli):
    site = serve(many(40), delay=0.05)
    (tmp_path / "corpus.yaml").write_text(f"languages: [en, fr]\ncrawl: {{base: ['{site.url}/'], delay: 0}}\n")
    command = ["corpus", "crawl", "--project", str(tmp_path), "--set", "crawl.allow_private=true"]
    child = forked.start("fairseq_xl.cli.main", *command)
    while sum(site.asked.values()) < 10:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGINT)
    child.join(60)
    assert child.exitcode == 130
    assert 10 <= sum(site.asked.values()) < 40
    done = run_cli(*command)
    assert done.returncode == 0, done.stderr
    assert len(urls(tmp_path)) == 82
    assert max(count for path, count in site.asked.items() if path != "/robots.txt") == 1


def test_a_page_that_names_a_codec_is_a_page(serve, tmp_path):
    site = serve({"/": page("one", head="<meta charset=zlib>" + fr("/fr/")), "/fr/": page("un", "fr")})
    assert crawl(tmp_path, site)["pairs"] == 1


def test_one_crawl_of_a_project_at_a_time(tmp_path, serve):
    with Pages(tmp_path / "crawl") as pages:
        pages.add(["http://127.0.0.1/"])
        for begin in (lambda: crawl(tmp_path, serve(many(1))), lambda: forget(tmp_path / "crawl")):
            with pytest.raises(InputError, match="wait until the other crawl"):
                begin()
        assert pages.count("waiting") == 1


def test_what_is_forgotten_is_fetched_anew_even_where_it_is_damaged(tmp_path, serve):
    site, queue = serve(many(1)), tmp_path / "crawl" / "crawl.sqlite"
    assert crawl(tmp_path, site)["pairs"] == 2
    whole, asked = queue.read_bytes(), []
    for damaged in (whole, b"no database" * 1000, whole[: len(whole) // 2], whole[:8192].ljust(len(whole), b"x")):
        queue.write_bytes(damaged)
        forget(tmp_path / "crawl")
        assert crawl(tmp_path, site)["pairs"] == 2
        asked.append(site.asked["/"])
    assert asked == [2, 3, 4, 5]


def test_reads_a_folder(tmp_path):
    site = tmp_path / "site"
    (site / "fr").mkdir(parents=True)
    (site / "index.html").write_bytes(page(links("fr/", "a b.html"))[2])
    (site / "a b.html").write_bytes(page("second", head=fr("fr/a%20b.html"))[2])
    (site / "fr/index.html").write_bytes(page("accueil", "fr")[2])
    (site / "fr/a b.html").write_bytes(page("deuxième", "fr")[2])
    (site / "big.html").write_bytes(b"x" * 2_000_000)
    (site / "notes.txt").write_text("no page")
    settings = {"base": [str(site)], "url_patterns": [["^/(?=index)", "/fr/"]], "max_megabytes": 1}
    report = crawl(tmp_path / "p", None, **settings)
    assert (report["pages"], report["pairs"], report["too large"]) == (4, 2, 1)
    assert pairs(tmp_path / "p") == {
        ("file:///index.html", "file:///fr/index.html", "pattern"),
        ("file:///a%20b.html", "file:///fr/a%20b.html", "hreflang"),
    }
    assert crawl(tmp_path / "p", None, **settings)["pages"] == 4
    (site / "fr/a b.html").write_bytes(page("troisième", "fr")[2])
    (site / "new (1), é.html").write_bytes(page("third", head=fr("fr/new (1), é.html"))[2])
    (site / "fr/new (1), é.html").write_bytes(page("nouveau", "fr")[2])
    report = crawl(tmp_path / "p", None, **settings)
    assert (report["pages"], report["pairs"]) == (6, 3), "a folder is read anew where it has changed"
    digests = {row["url"]: row["sha256"] for row in read_jsonl(tmp_path / "p" / "crawl" / "pages.jsonl")}
    changed = page_file(tmp_path / "p" / "crawl", digests["file:///fr/a%20b.html"])
    assert "troisième" in changed.read_text()
    assert "file:///new%20%281%29%2C%20%C3%A9.html" in digests


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base": []}, "crawl.base names no site"),
        ({"base": ["/nowhere"]}, "there is no folder /nowhere"),
        ({"base": ["http:///x"]}, "names no host"),
        ({"base": ["http://x.org", "folder"]}, "not both"),
        ({"base": ["http://x.org"], "exclude": ["("]}, "crawl.exclude: '\\(' is no regular expression"),
        ({"base": ["http://x.org"], "url_patterns": [["a"]]}, "no pair"),
        ({"base": ["http://x.org"], "url_patterns": [["a", r"\3"]]}, "cannot replace"),
        ({"base": ["http://x.org"], "link_patterns": ["a"]}, "has no group"),
        ({"base": ["http://x.org"], "link_selectors": ["a["]}, "no CSS selector"),
    ],
)
def test_settings_that_cannot_be(tmp_path, settings, message):
    with pytest.raises(InputError, match=message):
        crawl(tmp_path, None, **settings)


@pytest.mark.slow
def test_a_real_manual(tmp_path: Path, data_dir: Path, serve: Callable):
    class Files(local_server.Quiet, SimpleHTTPRequestHandler):
        """Those of a folder."""

    handler = functools.partial(Files, directory=str(data_dir / "web/apache_httpd_manual"))
    with local_server.serving(handler) as server:
        report = crawl(
            tmp_path,
            Website({}, port=server.server_port),
            url_patterns=[["^/(?!fr/|es/)", "/fr/"]],
            exclude=["/(da|de|en|es|ja|ko|pt-br|ru|tr|zh-cn)/"],
            max_pages=60,
        )
    assert report["pages"] == 60
    assert 25 <= report["pairs"] <= 30
    for record in read_jsonl(tmp_path / "crawl/pairs.jsonl"):
        first, second = record["urls"]
        assert json.dumps(second) == json.dumps(re.sub(r"(:\d+)/", r"\1/fr/", first, count=1))


def manual(folder, name: str, *languages: str) -> None:
    for code in languages:
        for place in ("index", "text/a"):
            path = folder / name / code / f"{place}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"<html lang={code}><p>{name} {place} {code}")


def test_folders_named_by_languages(tmp_path):
    """Two manuals of three languages, as they are brought: one project of both, by their parent or by both names."""
    manual(tmp_path / "all", "office", "en", "fr", "de")
    manual(tmp_path / "all", "book", "en", "fr")
    (tmp_path / "all" / "office" / "index.html").write_text("<p>choose a language")
    for number, names in enumerate((["all"], ["all/office", "all/book"])):
        report = crawl(tmp_path / str(number), None, base=[str(tmp_path / name) for name in names])
        ways = [f"file:///{name}/{{}}/{path}.html" for name in ("office", "book") for path in ("index", "text/a")]
        assert pairs(tmp_path / str(number)) == {(way.format("en"), way.format("fr"), "pattern") for way in ways}
        assert report["pages"] == 8
    manual(tmp_path / "more", "office", "en", "fr")
    with pytest.raises(InputError, match="two folders have one name"):
        crawl(tmp_path / "2", None, base=[str(tmp_path / name) for name in ("all/office", "more/office")])
