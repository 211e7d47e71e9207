"""``fairseq-xl corpus init``: a project folder with settings to edit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_xl.cli.corpus.sections import SECTIONS, template
from fairseq_xl.corpus.crawling.site import CrawlSettings, Site, is_address
from fairseq_xl.corpus.documents.project import SETTINGS, Project
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Make a project folder for a bilingual corpus. Its corpus.yaml holds every setting of every step with its"
        " help, commented out where it has its default."
    )
    parser.add_argument("--project", type=Path, required=True, metavar="DIR", help="folder to make")
    parser.add_argument(
        "--languages",
        nargs=2,
        required=True,
        metavar="LANG",
        help="codes of both languages as in <html lang>; topics are found in the first: en fr",
    )
    parser.add_argument(
        "--base",
        nargs="+",
        required=True,
        metavar="URL|FOLDER",
        help="addresses that the crawl begins at, or one folder of HTML files",
    )


def run(args: argparse.Namespace) -> None:
    """Write corpus.yaml.

    Raises:
        InputError: there is one already, equal languages, a base that is none.
    """
    path = args.project / SETTINGS
    if path.exists():
        raise InputError(f"{path} is there already: edit it, or name another folder")
    base = [each if is_address(each) else str(Path(each).resolve()) for each in args.base]
    for each in base:
        if not is_address(each) and not Path(each).is_dir():
            raise InputError(f"{each} is neither an address http://… nor a folder")
    Site.of(CrawlSettings(base=base))
    lines = ["# Defaults are behind #: take it away to set one. Paths are relative to this file's folder."]
    lines += [f"languages: [{', '.join(args.languages)}]", ""]
    for step in SECTIONS:
        lines += template(step, {"base": base} if step == "crawl" else {})
    with atomic_text(path) as stream:
        stream.write("\n".join(lines))
    try:
        Project.open(args.project)
    except InputError:
        path.unlink()
        raise
    print(f"{path}: edit it, then `fairseq-xl corpus run --project {args.project}`", file=sys.stderr)
