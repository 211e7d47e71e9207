"""The step ``crawl``: the pages of a site or of a folder, their counterparts, and what was counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fairseq_xl.corpus.crawling import pages as kept
from fairseq_xl.corpus.crawling.counterparts import Pairing, Rules, pair_pages
from fairseq_xl.corpus.crawling.pages import Pages
from fairseq_xl.corpus.crawling.site import CrawlSettings, is_address
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar

_SUFFIXES = {".html", ".htm", ".xhtml"}


def work(project: Project, settings: CrawlSettings) -> dict[str, Any]:
    """Fetch or read the pages, pair them, and count.

    Raises:
        InputError: settings that cannot be, no page, or no counterpart of any page.
    """
    folders = folders_of(project, settings)
    if folders:
        kept.forget(project.folder / "crawl")  # what was read may have changed since
    if not settings.url_patterns and any(language_folders(folder, project.languages) for folder in folders):
        first, second = project.languages
        settings = replace(settings, url_patterns=[[f"/{re.escape(first)}/", f"/{second}/"]])
    rules = Rules.of(settings, project.languages)
    with Pages(project.folder / "crawl") as pages:
        pages.begin(json.dumps([project.languages, asdict(settings)]), rules)
        if is_address(settings.base[0]):
            from fairseq_xl.corpus.crawling.spider import crawl

            bases = [rules.site.address(base, base) for base in settings.base]
            pages.add(base for base in bases if base)
            crawl(pages, rules, settings)
        else:
            names = [folder.name for folder in folders]
            if len(set(names)) < len(names):
                raise InputError(f"crawl.base: two folders have one name ({', '.join(names)}): rename one")
            files: dict[str, Path] = {}
            for folder in folders:
                files |= html_files(folder, rules, project.languages, f"{folder.name}/" if len(folders) > 1 else "")
            read_files(files, pages, rules, settings)
        if not pages.count("kept"):
            why = "; ".join(f"{name} ({count})" for name, count in pages.reasons().items())
            raise InputError(f"no page came from {', '.join(settings.base)}: {why or 'no HTML there'}")
        pairing = pair_pages(pages.say(), pages.resolve, project.languages)
        if not pairing.pairs:
            raise InputError(_no_pairs(pages, pairing, project.languages))
        pages.write(pairing, settings.warc)
        return report(pages, pairing)


def folders_of(project: Project, settings: CrawlSettings) -> list[Path]:
    """The folders that pages are read from; none where they are fetched."""
    return [] if not settings.base or is_address(settings.base[0]) else list(map(project.path, settings.base))


def language_folders(folder: Path, languages: tuple[str, str]) -> list[Path]:
    """The folders, this one or in it, that hold a folder of each language: manual/ with manual/en/ and manual/fr/."""
    inside = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    return [path for path in inside if all((path / language).is_dir() for language in languages)]


def html_files(folder: Path, rules: Rules, languages: tuple[str, str], prefix: str = "") -> dict[str, Path]:
    """The HTML files of a folder and of those in it by their addresses, file:///path in the folder.

    What stands beside folders of both languages, such as those of others, is passed over.

    Args:
        prefix: of the path in the address.

    Raises:
        InputError: no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"crawl.base: there is no folder {folder}, and it is no address http://…")
    parents = set(language_folders(folder, languages))
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES):
        if any(path.relative_to(parent).parts[0] not in languages for parent in parents.intersection(path.parents)):
            continue
        url = rules.site.address(quote(f"/{prefix}{path.relative_to(folder).as_posix()}"), "file:///")
        if url and path.is_file() and rules.site.holds(url):
            found[url] = path
    return found


def read_files(files: Mapping[str, Path], pages: Pages, rules: Rules, settings: CrawlSettings) -> None:
    """Keep the files as the pages at their addresses."""
    waiting = sorted(files.items())
    pages.add(url for url, _ in waiting)
    wanted = set(pages.waiting())
    for url, path in progress_bar("folder", True, None, " pages", waiting):
        if url not in wanted or (settings.max_pages and pages.count("kept") >= settings.max_pages):
            continue
        if path.stat().st_size > settings.max_megabytes * 2**20:
            pages.leave(url, kept.TOO_LARGE, "larger than max_megabytes")
        else:
            written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            pages.keep(url, path.read_bytes(), rules, time=written)
    present = files.keys()
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
    inputs=lambda project, settings: [folder for folder in folders_of(project, settings) if folder.is_dir()],
    outputs=["crawl/pages.jsonl", "crawl/pairs.jsonl"],
    work=work,
    forget=lambda project: kept.forget(project.folder / "crawl"),
)
