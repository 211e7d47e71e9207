"""One HTML page that holds a whole report: no other file, no script, no network."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sacrebleu.metrics.chrf import CHRF

from fairseq_xl.io.packages import require
from fairseq_xl.report.figures import Picture
from fairseq_xl.report.tables import Table

TEMPLATE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class Pair:
    """One sentence by two systems.

    Attributes:
        number: of the sentence, from 1.
        scores: sentence chrF2 of the two.
        words: of the two, each with whether the other system has it not.
    """

    number: int
    source: str
    reference: str
    scores: tuple[float, float]
    words: tuple[list[tuple[str, bool]], list[tuple[str, bool]]]


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
    return filled(TEMPLATE, title=title, sections=sections, signature=signature)


def filled(template: Path, **values: Any) -> str:
    """A page of a template's file; every word of the values is escaped. Raises: InputError: jinja2 is missing."""
    jinja2 = require("jinja2", "report", "the page")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["data_uri"] = lambda png: f"data:image/png;base64,{base64.b64encode(png).decode()}"
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "sort_keys": False}
    return environment.from_string(template.read_text(encoding="utf-8")).render(**values)


def marked(words: Sequence[str], other: Sequence[str]) -> list[tuple[str, bool]]:
    """Words, each with whether a longest common subsequence with ``other`` leaves it out."""
    kept: set[int] = set()
    for block in difflib.SequenceMatcher(a=words, b=other, autojunk=False).get_matching_blocks():
        kept.update(range(block.a, block.a + block.size))
    return [(word, i not in kept) for i, word in enumerate(words)]


def side_by_side(
    sources: Sequence[str], references: Sequence[str], first: Sequence[str], second: Sequence[str], count: int = 50
) -> list[Pair]:
    """The ``count`` sentences whose sentence chrF2 differs most between two systems.

    Words of each translation are marked where it leaves the other one. chrF2, since sentence BLEU is zero or
    arbitrary for short sentences.

    Raises:
        ValueError: unequal numbers of sentences.
    """
    if not len(sources) == len(references) == len(first) == len(second):
        raise ValueError("sources, references and translations have unequal numbers of sentences")
    chrf = CHRF()

    def score(sentence: str, reference: str) -> float:
        return chrf.sentence_score(sentence, [reference]).score

    pairs = []
    for number, (source, reference, one, two) in enumerate(
        zip(sources, references, first, second, strict=True), start=1
    ):
        if one == two:
            continue
        words = (marked(one.split(), two.split()), marked(two.split(), one.split()))
        pairs.append(Pair(number, source, reference, (score(one, reference), score(two, reference)), words))
    return sorted(pairs, key=lambda pair: -abs(pair.scores[0] - pair.scores[1]))[:count]
