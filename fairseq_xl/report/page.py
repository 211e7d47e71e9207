"""One HTML page that holds a whole report: no other file, no script, no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.io.packages import require
from fairseq_xl.report.figures import Picture
from fairseq_xl.report.side_by_side import Pair
from fairseq_xl.report.tables import Table

TEMPLATE = Path(__file__).with_name("page.html")


@dataclass
class Translations:
    """Two systems' translations of the sentences on which they differ most."""

    systems: tuple[str, str]
    pairs: list[Pair]


@dataclass
class Section:
    """A heading, a sentence or two on what it shows, and what belongs below it."""

    title: str
    text: str = ""
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    translations: list[Translations] = field(default_factory=list)


def page(title: str, sections: Sequence[Section], signature: Sequence[str]) -> str:
    """The page as text; every word in it is escaped.

    Args:
        signature: what is missing and how the numbers were made, in sentences, for the end of the page.

    Raises:
        InputError: jinja2 is missing.
    """
    jinja2 = require("jinja2", "report", "the page")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["data_uri"] = lambda png: f"data:image/png;base64,{base64.b64encode(png).decode()}"
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(title=title, sections=sections, signature=signature)
