"""What belongs to a website: its hosts, the form of its addresses, and which of them are fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit, urlunsplit

from w3lib.url import safe_url_string

from fairseq_xl import __version__
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option


@dataclass
class CrawlSettings:
    """Section ``crawl`` of corpus.yaml."""

    base: list[str] = option(
        "where the crawl begins: addresses such as https://example.org/, or folders of HTML files (relative to the "
        "project's folder). If folders are named by the languages of their pages, pages with the same name in both are "
        "counterparts (unless url_patterns says otherwise)",
        [],
    )
    hosts: list[str] = option(
        "further hosts (name or name:port) that belong to the site. Those of base always do, and no other is asked", []
    )
    include: list[str] = option(
        "regular expressions. Only addresses whose path (with ?query) matches one are fetched. Without any, all are", []
    )
    exclude: list[str] = option(
        "regular expressions. Addresses whose path matches one are not fetched: name calendars, print views, or other "
        "languages",
        [],
    )
    hreflang: bool = option("find counterparts by <link> and <a> elements with hreflang", True)
    url_patterns: list[list[str]] = option(
        "pairs [regular expression, replacement] that turn the path of a page in the first language into its "
        "counterpart's: [['^/(?!fr/)', '/fr/']]. An expression with :// is matched with the whole address",
        [],
    )
    link_selectors: list[str] = option(
        "CSS selectors of the link to the counterpart on a page: ['#language-switch a']", []
    )
    link_patterns: list[str] = option(
        "regular expressions over a page's HTML whose first group is the counterpart's address:"
        ' [\'href="([^"]+)"[^>]*>Français<\']',
        [],
    )
    max_pages: int = option("stop after so many pages. Give a larger number later to go on; 0: no limit", 20000, low=0)
    max_megabytes: float = option("refuse pages that are larger", 10.0, low=0.001)
    delay: float = option(
        "seconds between requests to a host. The Crawl-delay of robots.txt counts instead if it is longer", 0.5, low=0
    )
    concurrent: int = option("requests under way at a time. Raise it where delay is short", 4, low=1)
    timeout: float = option("seconds until a request is given up", 60.0, low=0.1)
    robots: bool = option("obey robots.txt. Give false only for a site of your own", True)
    user_agent: str = option(
        "the name that the crawler gives. Add an address where site owners can reach you", f"fairseq-xl/{__version__}"
    )
    allow_private: bool = option(
        "also connect to private and loopback addresses. Give it only for a site of your own network", False
    )
    warc: bool = option("also write the pages as crawl/pages.warc.gz", False)


@dataclass(frozen=True)
class Site:
    """Which addresses are fetched.

    Attributes:
        hosts: name or name:port, lower case. Empty for a folder, whose addresses have none.
        include, exclude: see :class:`CrawlSettings`.
    """

    hosts: frozenset[str]
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, settings: CrawlSettings) -> Site:
        """The site that settings describe.

        Raises:
            InputError: there is no base, it is not an address, or an expression is invalid.
        """
        if not settings.base:
            raise InputError("crawl.base names no site: give the address or the folder to begin with")
        hosts = {host.lower() for host in settings.hosts}
        for base in settings.base:
            if is_address(base):
                host = host_of(base)
                if not host:
                    raise InputError(f"crawl.base: {base} names no host")
                hosts.add(host)
        if hosts and not all(map(is_address, settings.base)):
            raise InputError("crawl.base: give addresses or a folder, not both")
        return cls(frozenset(hosts), expressions("include", settings.include), expressions("exclude", settings.exclude))

    def address(self, link: str, page: str) -> str | None:
        """A link on a page as a full address in normal form. None if it is not a page that could be fetched."""
        try:
            joined, _ = urldefrag(urljoin(page, link.strip()))
            parts = urlsplit(joined)
            if parts.scheme == "file":
                if parts.netloc or self.hosts:
                    return None
                return urlunsplit(("file", "", quote(unquote(parts.path)), parts.query, ""))
            if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
                return None
            safe = urlsplit(safe_url_string(joined))
            path = safe.path or "/"
            found = urlunsplit((safe.scheme, host_of(joined), path, safe.query, ""))
        except ValueError:
            return None
        return found if len(found) <= 2000 else None

    def holds(self, address: str) -> bool:
        """Whether an address is on the site and not excluded."""
        if host_of(address) not in (self.hosts or {""}):
            return False
        path = path_of(address)
        if self.include and not any(pattern.search(path) for pattern in self.include):
            return False
        return not any(pattern.search(path) for pattern in self.exclude)


def is_address(base: str) -> bool:
    """Whether a base is to be fetched over HTTP. Otherwise it is a folder."""
    return base.lower().startswith(("http://", "https://"))


def host_of(address: str) -> str:
    """Name, or name:port if the port is not the scheme's own. Empty for a file. Raises: ValueError."""
    parts = urlsplit(address)
    name = (parts.hostname or "").lower().rstrip(".")
    if ":" in name:
        name = f"[{name}]"
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return name if parts.port in (None, usual) else f"{name}:{parts.port}"


def path_of(address: str) -> str:
    """Path with its query."""
    parts = urlsplit(address)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def expressions(name: str, patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Compile a setting's regular expressions. Raises: InputError: one is none."""
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except re.error as error:
            raise InputError(f"crawl.{name}: {pattern!r} is no regular expression: {error}") from None
    return tuple(compiled)
