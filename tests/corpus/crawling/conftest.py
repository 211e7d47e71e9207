"""A website on loopback, made up by each test."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import local_server
import pytest

from fairseq_xl.corpus.crawling.crawl import work
from fairseq_xl.corpus.crawling.pages import read_jsonl
from fairseq_xl.corpus.crawling.site import CrawlSettings
from fairseq_xl.corpus.project import Project

Answer = tuple[int, dict[str, str], bytes]


def page(text: str, language: str | None = "en", head: str = "") -> Answer:
    """A page of HTML."""
    mark = f' lang="{language}"' if language else ""
    html = f"<!DOCTYPE html><html{mark}><head>{head}</head><body>{text}</body></html>"
    return 200, {"Content-Type": "text/html; charset=utf-8"}, html.encode()


@dataclass
class Website:
    """Answers by path; counts requests."""

    answers: dict[str, Answer]
    delay: float = 0.0
    port: int = 0
    asked: Counter = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def serve() -> Iterator[Callable[..., Website]]:
    """``serve({"/": page("…")}, delay=0.1)`` begins to answer; a path without an answer is 404."""
    servers = contextlib.ExitStack()

    def begin(answers: dict[str, Answer], delay: float = 0.0) -> Website:
        site = Website(answers, delay)

        class Handler(local_server.Quiet):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked[self.path] += 1
                time.sleep(site.delay)
                status, headers, body = site.answers.get(
                    self.path, (404, {"Content-Type": "text/html"}, b"<html>nothing here</html>")
                )
                self.send_response(status)
                # A response that is broken off would take a request on the same connection with it.
                self.send_header("Connection", "close")
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Transfer-Encoding" in headers:
                    self.end_headers()
                    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
                else:
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                try:
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        site.port = servers.enter_context(local_server.serving(Handler)).server_port
        return site

    with servers:
        yield begin


REDIRECT = {"Content-Type": "text/html"}


def crawl(folder: Path, site: Website | None, **settings: Any) -> dict[str, Any]:
    """In a process of its own, for Scrapy runs once in a process."""
    project = Project(folder, ("en", "fr"), {})
    base = [f"{site.url}/"] if site else []
    chosen = {"base": base, "delay": 0, "allow_private": True, **settings}
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as processes:
        return processes.submit(work, project, CrawlSettings(**chosen)).result()


def urls(folder: Path) -> list[str]:
    found = [record["url"] for record in read_jsonl(folder / "crawl/pages.jsonl")]
    return [re.sub(r"^http://127.0.0.1:\d+", "", url) for url in found]


def pairs(folder: Path) -> set[tuple[str, str, str]]:
    def path(url: str) -> str:
        return re.sub(r"^http://127.0.0.1:\d+", "", url)

    return {(*map(path, record["urls"]), record["found_by"]) for record in read_jsonl(folder / "crawl/pairs.jsonl")}


def links(*paths: str) -> str:
    return " ".join(f'<a href="{path}">go</a>' for path in paths)


def fr(path: str) -> str:
    return f'<link rel="alternate" hreflang="fr" href="{path}">'


def many(count: int) -> dict:
    """English pages in a chain, each with its counterpart."""
    answers = {"/": page(links("/en0"), head=fr("/fr/"))}
    answers["/fr/"] = page("fr", "fr")
    for n in range(count):
        answers[f"/en{n}"] = page(f"number {n} {links(f'/en{n + 1}')}", head=fr(f"/fr{n}"))
        answers[f"/fr{n}"] = page(f"numéro {n}", "fr")
    return answers
