"""Which page is which page's counterpart in the other language.

The paper finds it "by finding a pattern in the HTML code of several webpages" (Multilingual Corpus Creation for
Multilingual Semantic Similarity Task, section 2.1.1). Here that is hreflang, substitutions in the address, and
patterns on the page. What they name is a candidate. A candidate is the counterpart if it was fetched, is not in a third
language, and does not itself name another page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from cssselect import SelectorError
from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement

from fairseq_xl.corpus.crawling.site import CrawlSettings, Site, expressions, path_of
from fairseq_xl.io.errors import InputError

Candidate = tuple[str, str]
"""How a candidate was found (hreflang, pattern, link), and its address."""
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True)
class Look:
    """What a page says about itself.

    Attributes:
        language: lower case, as in <html lang>. None where it says nothing.
        counterparts: candidates in the second language, in the order of trust.
        back: candidates in the first language, which a page in the second names.
        links: addresses that the crawl goes on to, candidates among them.
    """

    language: str | None
    counterparts: list[Candidate]
    back: list[Candidate]
    links: list[str]


@dataclass(frozen=True)
class Rules:
    """How links and counterparts are found on a page: the settings, compiled."""

    site: Site
    languages: tuple[str, str]
    hreflang: bool
    substitutions: tuple[tuple[re.Pattern[str], str], ...]
    selectors: tuple[CSSSelector, ...]
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, settings: CrawlSettings, languages: tuple[str, str]) -> Rules:
        """Compile settings.

        Raises:
            InputError: an expression or a selector is invalid, or a pattern has no group or replacement.
        """
        for pair in settings.url_patterns:
            if len(pair) != 2:
                raise InputError(f"crawl.url_patterns: {pair} is no pair [expression, replacement]")
        sources = expressions("url_patterns", [pair[0] for pair in settings.url_patterns])
        substitutions = tuple((source, pair[1]) for source, pair in zip(sources, settings.url_patterns, strict=True))
        for source, replacement in substitutions:
            try:
                re.sub(f"{source.pattern}|", replacement, "")
            except (re.error, IndexError) as error:
                raise InputError(
                    f"crawl.url_patterns: {replacement!r} cannot replace {source.pattern!r}: {error}"
                ) from None
        patterns = expressions("link_patterns", settings.link_patterns)
        for pattern in patterns:
            if not pattern.groups:
                raise InputError(f"crawl.link_patterns: {pattern.pattern!r} has no group (…) around the address")
        return cls(
            Site.of(settings),
            languages,
            settings.hreflang,
            substitutions,
            selectors("crawl.link_selectors", settings.link_selectors),
            patterns,
        )

    def look(self, url: str, text: str, tree: HtmlElement | None, header: str | None) -> Look:
        """What a page says.

        Args:
            url: its address.
            text: its HTML.
            tree: the same, parsed. None where it is empty.
            header: the server's Content-Language.
        """
        if tree is None:
            return Look(None, [], [], [])
        base = next((urljoin(url, found.strip()) for found in tree.xpath("//base/@href")[:1]), url)
        language = tree.get("lang") or tree.get(_XML_LANG) or tree.get("xml:lang") or header or ""
        language = language.partition(",")[0].strip().lower() or None
        first, second = self.languages
        back = self._alternates(tree, base, first)
        counterparts: list[Candidate] = []
        if not speaks(language, second):
            counterparts += self._alternates(tree, base, second)
            counterparts += self._substituted(url)
            counterparts += self._on_page(text, tree, base)
        # The same page can be named in several ways. The first counts.
        named = {found: how for how, found in reversed(counterparts) if found != url}
        counterparts = [(how, found) for found, how in reversed(named.items())]
        links = [found for _, found in counterparts if self.site.holds(found)]
        for element in tree.iter("a", "area", "frame", "iframe", "link"):
            if element.tag == "link" and not element.get("hreflang"):
                continue
            link = element.get("src") if element.tag in ("frame", "iframe") else element.get("href")
            if link and (found := self.site.address(link, base)) and self.site.holds(found):
                links.append(found)
        return Look(language, counterparts, back, list(dict.fromkeys(links)))

    def _alternates(self, tree: HtmlElement, base: str, language: str) -> list[Candidate]:
        if not self.hreflang:
            return []
        found = [
            self.site.address(element.get("href"), base)
            for element in tree.xpath("//*[@hreflang and @href]")
            if speaks(element.get("hreflang").strip().lower(), language)
        ]
        return [("hreflang", address) for address in dict.fromkeys(found) if address]

    def _substituted(self, url: str) -> Iterator[Candidate]:
        for source, replacement in self.substitutions:
            whole = "://" in source.pattern
            subject = url if whole else path_of(url)
            if source.search(subject):
                changed = source.sub(replacement, subject, count=1)
                if not whole and "://" not in changed:
                    parts = urlsplit(url)
                    changed = f"{parts.scheme}://{parts.netloc}{changed}"
                if address := self.site.address(changed, url):
                    yield "pattern", address

    def _on_page(self, text: str, tree: HtmlElement, base: str) -> Iterator[Candidate]:
        links = [element.get("href") for select in self.selectors for element in select(tree)]
        links += [found.group(1) for pattern in self.patterns for found in pattern.finditer(text)]
        for link in links:
            if link and (address := self.site.address(link.replace("&amp;", "&"), base)):
                yield "link", address


def speaks(tag: str | None, language: str) -> bool:
    """Whether a language tag such as fr-CA is of a language such as fr."""
    language = language.lower()
    return tag is not None and (tag == language or tag.startswith(f"{language}-"))


def selectors(name: str, given: Sequence[str]) -> tuple[CSSSelector, ...]:
    """Compile a setting's CSS selectors. Raises: InputError: one is none."""
    compiled = []
    for selector in given:
        try:
            compiled.append(CSSSelector(selector, translator="html"))
        except SelectorError as error:
            raise InputError(f"{name}: {selector!r} is no CSS selector: {error}") from None
    return tuple(compiled)


@dataclass(frozen=True)
class PageSays:
    """What :func:`pair_pages` needs of a kept page."""

    url: str
    sha256: str
    language: str | None
    counterparts: list[Candidate]
    back: list[Candidate]


@dataclass(frozen=True)
class Pairing:
    """The outcome: pairs (page, counterpart, how it was found), and why other pages have none.

    ``missing``, ``elsewhere`` and ``repeated`` hold a page's address and the reason.
    """

    pairs: list[tuple[PageSays, PageSays, str]]
    missing: list[tuple[str, str]]
    elsewhere: list[tuple[str, str]]
    repeated: list[tuple[str, str]]


def pair_pages(
    pages: Mapping[str, PageSays], resolve: Callable[[str], tuple[str | None, str]], languages: tuple[str, str]
) -> Pairing:
    """Pair the pages of the first language with their counterparts.

    Args:
        pages: those kept, by address.
        resolve: the address of the kept page that an address leads to, or None and why there is none.
        languages: first and second.
    """
    first, second = languages
    outcome = Pairing([], [], [], [])
    claims: dict[str, list[tuple[PageSays, str]]] = defaultdict(list)
    for page in pages.values():
        if page.language is not None and not speaks(page.language, first):
            continue
        fetched, reasons = [], []
        for how, candidate in page.counterparts:
            found, reason = resolve(candidate)
            if found is None:
                reasons.append(f"{candidate}: {reason}")
            else:
                fetched.append((found, how))
        if not fetched:
            outcome.missing.append((page.url, "; ".join(reasons) or "names none"))
            continue
        wrong = {found: _wrong(page, pages[found], second) for found, _ in fetched}
        right = next(((found, how) for found, how in fetched if not wrong[found]), None)
        if right is None:
            outcome.elsewhere.append((page.url, f"{fetched[0][0]} {wrong[fetched[0][0]]}"))
        else:
            claims[right[0]].append((page, right[1]))
    # A page that is somebody's counterpart needs none itself, even where it does not say its language.
    outcome.missing[:] = [entry for entry in outcome.missing if entry[0] not in claims]
    seen: dict[tuple[str, str], str] = {}
    for target, claimants in claims.items():
        for page, how in _chosen(pages, resolve, target, claimants, outcome):
            contents = page.sha256, pages[target].sha256
            if contents in seen:
                outcome.repeated.append((page.url, f"is the same as {seen[contents]}"))
            else:
                seen[contents] = page.url
                outcome.pairs.append((page, pages[target], how))
    return outcome


def _wrong(page: PageSays, target: PageSays, second: str) -> str | None:
    if target.url == page.url:
        return "is the page itself"
    if target.sha256 == page.sha256:
        return "is the same page"
    if target.language is not None and not speaks(target.language, second):
        return f"is in {target.language}"
    return None


def _chosen(
    pages: Mapping[str, PageSays],
    resolve: Callable[[str], tuple[str | None, str]],
    target: str,
    claimants: list[tuple[PageSays, str]],
    outcome: Pairing,
) -> list[tuple[PageSays, str]]:
    """Those of the pages that name a counterpart which it names in turn; those that only repeat one another."""
    named: Any = {resolve(address)[0] for _, address in pages[target].back} - {None, target}
    if named:
        contents, reason = {pages[url].sha256 for url in named}, f"names {min(named)}"
    elif len(contents := {page.sha256 for page, _ in claimants}) > 1:
        contents, reason = set(), f"is named by {len(claimants)} pages and names none of them"
    kept = [claim for claim in claimants if claim[0].sha256 in contents]
    for page, _ in claimants:
        if page.sha256 not in contents:
            outcome.elsewhere.append((page.url, f"{target} {reason}"))
    return kept
