"""The pages of a crawl, as they came, and the addresses still to be fetched.

crawl.sqlite         every address seen: waiting, kept, or why not
pages/ab/abcd….html  the bytes of a page, named by their SHA-256: what repeats is there once
pages.jsonl          what is known of each page kept: written when the crawl is complete
pages.warc.gz        the same and the bytes as a web archive, if wanted
pairs.jsonl          pages and their counterparts

A page and the links found on it are written to crawl.sqlite in one transaction. A crawl that is killed at any moment
therefore goes on where it was, and fetches nothing twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from fairseq_xl.corpus.crawling.counterparts import Look, PageSays, Pairing, Rules
from fairseq_xl.corpus.crawling.html import decode, parse
from fairseq_xl.io.atomic import atomic_outputs, atomic_text
from fairseq_xl.io.databases import DamagedDatabase, connect
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import read_lines

Headers = list[tuple[str, str]]
MOST_HOPS = 10
"""Redirects followed one after the other."""
COUNTERPART_FIRST = 1
"""Priority of the addresses that may be a page's counterpart. With it, a crawl that stops early has pairs."""
# States of an address beside "waiting" and "kept".
REDIRECT, NOT_HTML, TOO_LARGE, FORBIDDEN, PRIVATE, FAILED = (
    "redirect",
    "not HTML",
    "too large",
    "forbidden by robots.txt",
    "private address",
    "failed",
)
_SCHEMA = """
create table if not exists page (
  url text primary key, state text not null, priority integer not null, hops integer not null, found_on text,
  status integer, time text, headers text, encoding text, sha256 text, size integer, target text, why text,
  language text, counterparts text, back text);
create index if not exists page_state on page (state, priority desc);
create table if not exists fact (name text primary key, value text)
"""


@dataclass(frozen=True)
class Page:
    """A line of pages.jsonl.

    Attributes:
        status, headers: as the server answered. A file has 200 and no headers.
        time: when the page was fetched or the file written, in ISO 8601, UTC.
        encoding: of its text, as detected.
        sha256: of its bytes, and the name of the file that holds them.
        language: as the page states it.
    """

    url: str
    status: int
    time: str
    headers: Headers
    encoding: str
    sha256: str
    size: int
    language: str | None


def header(headers: Headers, name: str) -> str | None:
    """The last value of a header. ``name`` is in lower case."""
    return next((value for key, value in reversed(headers) if key.lower() == name), None)


def page_file(folder: Path, sha256: str) -> Path:
    """The file of a page's bytes."""
    return folder / "pages" / sha256[:2] / f"{sha256}.html"


class Pages:
    """The folder ``crawl`` of a project, open for one process at a time.

    Raises:
        InputError: another process has it open, or it is not a crawl.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._db = connect(folder / "crawl.sqlite", timeout=1)
        try:
            # The lock is kept for as long as this is open. The system frees it however the process ends.
            self._db.execute("pragma locking_mode = exclusive")
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(_SCHEMA)
            with self._db:
                self._db.execute("begin immediate")
        except sqlite3.OperationalError as error:
            self._db.close()
            raise InputError(f"{folder}: {error}; wait until the other crawl of this project has ended") from None
        except (sqlite3.DatabaseError, DamagedDatabase) as error:
            self._db.close()
            said = error.__cause__ or error
            raise DamagedDatabase(f"{folder / 'crawl.sqlite'}: {said}; `crawl --again` begins anew") from None

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def clear(self) -> None:
        """Forget every address, and what the crawl was."""
        with self._db:
            self._db.execute("delete from page")
            self._db.execute("delete from fact")

    def add(self, urls: Iterable[str], found_on: str | None = None, priority: int = 0, hops: int = 0) -> list[str]:
        """Put addresses in the queue, and return those that were not known."""
        with self._db:
            return self._add(urls, found_on, priority, hops)

    def _add(self, urls: Iterable[str], found_on: str | None, priority: int = 0, hops: int = 0) -> list[str]:
        insert = "insert or ignore into page (url, state, priority, hops, found_on) values (?, 'waiting', ?, ?, ?)"
        return [url for url in urls if self._db.execute(insert, (url, priority, hops, found_on)).rowcount]

    def waiting(self, most: int = -1) -> list[str]:
        """At most so many addresses still to be fetched, possible counterparts first."""
        rows = self._db.execute(
            "select url from page where state = 'waiting' order by priority desc, rowid limit ?", (most,)
        )
        return [url for (url,) in rows]

    def hops(self, url: str) -> int:
        """How many redirects led to an address."""
        return self._db.execute("select hops from page where url = ?", (url,)).fetchone()[0]

    def keep(
        self,
        url: str,
        body: bytes,
        rules: Rules,
        status: int = 200,
        headers: Sequence[tuple[str, str]] = (),
        time: datetime | None = None,
    ) -> int:
        """Keep a page, and return how many addresses found on it were not known."""
        sha256 = hashlib.sha256(body).hexdigest()
        path = page_file(self.folder, sha256)
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_outputs(path) as (temporary,):
                temporary.write_bytes(body)
        look, encoding = _look(url, body, list(headers), rules)
        moment = (time or datetime.now(UTC)).isoformat(timespec="seconds")
        with self._db:
            self._db.execute(
                "update page set state = 'kept', status = ?, time = ?, headers = ?, encoding = ?, sha256 = ?,"
                " size = ? where url = ?",
                (status, moment, json.dumps(list(headers)), encoding, sha256, len(body), url),
            )
            return self._see(url, look)

    def _see(self, url: str, look: Look) -> int:
        self._db.execute(
            "update page set language = ?, counterparts = ?, back = ? where url = ?",
            (look.language, json.dumps(look.counterparts), json.dumps(look.back), url),
        )
        new = self._add(look.links, url)
        self._db.executemany(
            "update page set priority = ? where url = ?",
            [(COUNTERPART_FIRST, address) for _, address in look.counterparts],
        )
        return len(new)

    def leave(self, url: str, state: str, why: str, status: int | None = None, target: str | None = None) -> None:
        """Note that an address gave no page."""
        with self._db:
            self._db.execute(
                "update page set state = ?, why = ?, status = ?, target = ?, time = ? where url = ?",
                (state, why, status, target, datetime.now(UTC).isoformat(timespec="seconds"), url),
            )

    def begin(self, signature: str, rules: Rules) -> None:
        """Go on with the crawl that is there.

        What failed for a passing reason waits again. If the settings have changed since the last time, the queue and
        the facts about pages are made anew from the pages that are there.
        """
        with self._db:
            self._db.execute(
                "update page set state = 'waiting' where state in (?, ?, ?) and (status is null or status = 429"
                " or status >= 500)",
                (FAILED, FORBIDDEN, PRIVATE),
            )
        row = self._db.execute("select value from fact where name = 'settings'").fetchone()
        if row and row[0] != signature:
            urls = self._db.execute("select url from page").fetchall()
            left = [row for row in urls if not rules.site.holds(*row)]
            with self._db:
                self._db.executemany("delete from page where url = ?", left)
                self._db.execute("update page set state = 'waiting' where state = ?", (TOO_LARGE,))
                self._db.execute("update page set priority = 0")
                for page in list(self.kept()):
                    look, _ = _look(page.url, self.body(page.sha256), page.headers, rules)
                    self._see(page.url, look)
        with self._db:
            self._db.execute("insert or replace into fact values ('settings', ?)", (signature,))

    def body(self, sha256: str) -> bytes:
        """A page's bytes."""
        return page_file(self.folder, sha256).read_bytes()

    def count(self, state: str) -> int:
        """How many addresses are in a state."""
        return self._db.execute("select count(*) from page where state = ?", (state,)).fetchone()[0]

    def states(self) -> dict[str, int]:
        """How many addresses are in each state."""
        return dict(self._db.execute("select state, count(*) from page group by state"))

    def reasons(self) -> dict[str, int]:
        """How often each reason kept an address from being a page, redirects aside."""
        rows = self._db.execute("select state, why from page where state not in ('waiting', 'kept', ?)", (REDIRECT,))
        return dict(Counter(f"{state}: {why}" if state == FAILED else state for state, why in rows))

    def kept(self) -> Iterator[Page]:
        """The pages, in the order in which their addresses were found."""
        rows = self._db.execute(
            "select url, status, time, headers, encoding, sha256, size, language from page"
            " where state = 'kept' order by rowid"
        )
        for url, status, time, headers, *rest in rows:
            yield Page(url, status, time, [tuple(pair) for pair in json.loads(headers)], *rest)

    def say(self) -> dict[str, PageSays]:
        """What the pages say about their counterparts, by address."""
        rows = self._db.execute(
            "select url, sha256, language, counterparts, back from page where state = 'kept' order by rowid"
        )
        return {
            url: PageSays(
                url, sha256, language, *([tuple(found) for found in json.loads(each)] for each in (counterparts, back))
            )
            for url, sha256, language, counterparts, back in rows
        }

    def resolve(self, url: str) -> tuple[str | None, str]:
        """The page that an address leads to after redirects, or None and why there is none."""
        seen: set[str] = set()
        while url not in seen:
            seen.add(url)
            row = self._db.execute("select state, target, why from page where url = ?", (url,)).fetchone()
            if row is None:
                return None, "not fetched: outside the site or excluded"
            state, target, why = row
            if state == "kept":
                return url, ""
            if state == "waiting":
                return None, "not fetched yet"
            if state != REDIRECT or target is None:
                return None, f"{state} ({why})"
            url = target
        return None, "redirects in a loop"

    def loops(self) -> int:
        """How many redirects lead nowhere: round and round, or too far."""
        rows = self._db.execute("select url from page where state = ?", (REDIRECT,)).fetchall()
        return sum(self.resolve(url)[1] == "redirects in a loop" for (url,) in rows)

    def write(self, pairing: Pairing, archive: bool) -> None:
        """Write pages.jsonl, pairs.jsonl and the archive."""
        with atomic_text(self.folder / "pages.jsonl") as stream:
            for kept in self.kept():
                json.dump(asdict(kept), stream, ensure_ascii=False)
                stream.write("\n")
        with atomic_text(self.folder / "pairs.jsonl") as stream:
            for page, counterpart, found_by in pairing.pairs:
                json.dump({"urls": [page.url, counterpart.url], "found_by": found_by}, stream)
                stream.write("\n")
        if archive:
            self._write_archive(self.folder / "pages.warc.gz")

    def _write_archive(self, path: Path) -> None:
        from warcio.statusandheaders import StatusAndHeaders
        from warcio.warcwriter import WARCWriter

        with atomic_outputs(path) as (temporary,), temporary.open("wb") as stream:
            writer = WARCWriter(stream, gzip=True)
            for page in self.kept():
                http = StatusAndHeaders(f"{page.status} OK", page.headers, protocol="HTTP/1.1")
                record = writer.create_warc_record(
                    page.url,
                    "response",
                    payload=BytesIO(self.body(page.sha256)),
                    http_headers=http,
                    warc_headers_dict={"WARC-Date": page.time.replace("+00:00", "Z")},
                )
                writer.write_record(record)


def _look(url: str, body: bytes, headers: Headers, rules: Rules) -> tuple[Look, str]:
    text, encoding = decode(body, header(headers, "content-type"))
    return rules.look(url, text, parse(text), header(headers, "content-language")), encoding


def forget(folder: Path) -> None:
    """Empty a crawl's queue, so that all is fetched anew. The bytes stay until they are replaced.

    Raises:
        InputError: another process has it open.
    """
    try:
        with Pages(folder) as pages:
            pages.clear()
    except DamagedDatabase:
        for name in ("crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite-shm"):
            (folder / name).unlink(missing_ok=True)


def read_jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of pages.jsonl or pairs.jsonl. Raises: InputError: the file is missing or torn."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}; run the crawl again") from None
