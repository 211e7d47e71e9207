"""The step ``crawl``: the pages of a site or of a folder, their counterparts, and what was counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tqdm import tqdm

from fairseq_xl.corpus.crawling import pages as kept
from fairseq_xl.corpus.crawling.counterparts import Pairing, Rules, pair_pages
from fairseq_xl.corpus.crawling.pages import Pages
from fairseq_xl.corpus.crawling.site import CrawlSettings, is_address
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.errors import InputError

_SUFFIXES = {".html", ".htm", ".xhtml"}


def work(project: Project, settings: CrawlSettings) -> dict[str, Any]:
    """Fetch or read the pages, pair them, and count.

    Raises:
        InputError: settings that cannot be, no page, or no counterpart of any page.
    """
    rules = Rules.of(settings, project.languages)
    with Pages(project.folder / "crawl") as pages:
        pages.begin(json.dumps([project.languages, asdict(settings)]), rules)
        if is_address(settings.base[0]):
            from fairseq_xl.corpus.crawling.spider import crawl

            bases = [rules.site.address(base, base) for base in settings.base]
            pages.add(base for base in bases if base)
            crawl(pages, rules, settings)
        else:
            for base in settings.base:
                read_folder(project.path(base), pages, rules, settings)
        if not pages.count("kept"):
            why = "; ".join(f"{name} ({count})" for name, count in pages.reasons().items())
            raise InputError(f"no page came from {', '.join(settings.base)}: {why or 'no HTML there'}")
        pairing = pair_pages(pages.say(), pages.resolve, project.languages)
        if not pairing.pairs:
            raise InputError(_no_pairs(pages, pairing, project.languages))
        pages.write(pairing, settings.warc)
        return report(pages, pairing)


def read_folder(folder: Path, pages: Pages, rules: Rules, settings: CrawlSettings) -> None:
    """Keep the HTML files of a folder and of those in it; the address of each is file:///path in the folder."""
    if not folder.is_dir():
        raise InputError(f"crawl.base: there is no folder {folder}, and it is no address http://…")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)
    waiting = set()
    for path in paths:
        url = rules.site.address(quote("/" + path.relative_to(folder).as_posix()), "file:///")
        if url and path.is_file() and rules.site.holds(url):
            waiting.add((url, path))
    pages.add(url for url, _ in sorted(waiting))
    wanted = set(pages.waiting())
    for url, path in tqdm(sorted(waiting), desc="folder", unit=" pages", delay=1):
        if url not in wanted or (settings.max_pages and pages.count("kept") >= settings.max_pages):
            continue
        if path.stat().st_size > settings.max_megabytes * 2**20:
            pages.leave(url, kept.TOO_LARGE, "larger than max_megabytes")
        else:
            written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            pages.keep(url, path.read_bytes(), rules, time=written)
    present = {url for url, _ in waiting}
    for url in pages.waiting():
        if url in present:
            continue
        index = f"{url}index.html" if url.endswith("/") else None
        if index in present:
            pages.leave(url, kept.REDIRECT, "index.html", target=index)
        else:
            pages.leave(url, kept.FAILED, "no such file", status=404)


def report(pages: Pages, pairing: Pairing) -> dict[str, Any]:
    """The counts, and lists of the pages without a counterpart."""
    states = pages.states()
    languages = Counter(page.language or "unknown" for page in pages.kept())
    return {
        "pages": states.get("kept", 0),
        "pairs": len(pairing.pairs),
        "without counterpart": len(pairing.missing),
        "counterpart elsewhere": len(pairing.elsewhere),
        "repeated": len(pairing.repeated),
        "redirects": states.get(kept.REDIRECT, 0),
        "redirect loops": pages.loops(),
        **pages.reasons(),
        "queue": states.get("waiting", 0),
        "languages": dict(languages),
        "found by": dict(Counter(found_by for _, _, found_by in pairing.pairs)),
        "pages without counterpart": pairing.missing,
        "pages whose counterpart is elsewhere": pairing.elsewhere,
        "repeated pages": pairing.repeated,
    }


def _no_pairs(pages: Pages, pairing: Pairing, languages: tuple[str, str]) -> str:
    found = Counter(page.language or "unknown" for page in pages.kept())
    said = ", ".join(f"{language} {count}" for language, count in found.items())
    examples = (pairing.elsewhere + pairing.missing)[:1]
    example = "; for example " + ": ".join(examples[0]) if examples else ""
    return (
        f"{pages.folder}: of {pages.count('kept')} pages (languages: {said}) none in {languages[0]} has a counterpart"
        f" in {languages[1]}{example}; set crawl.url_patterns, link_selectors or link_patterns"
    )


STEP = Step(
    settings=CrawlSettings,
    inputs=lambda project, settings: [],
    outputs=["crawl/pages.jsonl", "crawl/pairs.jsonl"],
    work=work,
    forget=lambda project: kept.remove(project.folder / "crawl"),
)
