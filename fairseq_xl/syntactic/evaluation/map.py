"""A map of embeddings: colour for the tag sequence, shape for the language, the sentence where one points."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import filled
from fairseq_xl.report.tables import as_text
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText

TEMPLATE = Path(__file__).with_name("map.html")
COLOURS = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
    *("#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2", "#c7c7c7", "#dbdb8d", "#9edae5"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "d")
"""by language; the page draws the same"""


@dataclass(frozen=True)
class Chosen:
    """The sentences to show.

    Attributes:
        patterns: tag sequences, the most frequent first.
        rows: for each text, which of its sentences.
        pattern, language: of each sentence, text after text, numbers.
        sentences: their words.
    """

    patterns: list[tuple[str, ...]]
    rows: list[np.ndarray]
    pattern: np.ndarray
    language: np.ndarray
    sentences: list[str]


def choose(texts: Sequence[TaggedText], groups: int, most: int, seed: int = 0) -> Chosen:
    """The sentences of the ``groups`` most frequent tag sequences, counted over all texts; a seeded sample where
    there are more than ``most``.

    Raises:
        InputError: more groups or more texts than there are colours and shapes; no sentence to show.
    """
    if not 1 <= groups <= len(COLOURS):
        raise InputError(f"--groups {groups}: a map shows from 1 to {len(COLOURS)} tag sequences")
    if most < 1:
        raise InputError(f"--most {most} leaves nothing to show: give 1 or more")
    if len(texts) > len(MARKERS):
        raise InputError(f"{len(texts)} evaluation sets are too many: a map shows at most {len(MARKERS)} languages")
    counts = Counter(tags for text in texts for tags in text.upos)
    patterns = [tags for tags, _ in counts.most_common(groups)]
    number = {tags: i for i, tags in enumerate(patterns)}
    places = [(t, row) for t, text in enumerate(texts) for row, tags in enumerate(text.upos) if tags in number]
    if len(places) > most:
        places = sorted(random.Random(seed).sample(places, most))
    return Chosen(
        patterns,
        [np.array([row for t, row in places if t == chosen], dtype=np.int64) for chosen in range(len(texts))],
        np.array([number[texts[t].upos[row]] for t, row in places]),
        np.array([t for t, _ in places]),
        [texts[t].texts[row] for t, row in places],
    )


def draw(figure: Any, points: np.ndarray, chosen: Chosen, languages: Sequence[str]) -> None:
    """The map on a matplotlib figure."""
    axes = figure.subplots()
    for i, tags in enumerate(chosen.patterns):
        for t, _ in enumerate(languages):
            here = (chosen.pattern == i) & (chosen.language == t)
            label = " ".join(tags) if t == 0 else None
            axes.scatter(*points[here].T, s=14, color=COLOURS[i], marker=MARKERS[t], label=label, linewidths=0)
    if len(languages) > 1:
        for t, language in enumerate(languages):
            axes.scatter([], [], s=18, color="grey", marker=MARKERS[t], label=language)
    axes.set_xticks([])
    axes.set_yticks([])
    figure.legend(loc="outside right upper", fontsize="x-small")


def page(title: str, note: str, points: np.ndarray, chosen: Chosen, languages: Sequence[str]) -> str:
    """One HTML page that needs no other file and no network.

    Raises:
        InputError: jinja2 is missing.
    """
    low, high = points.min(0), points.max(0)
    scaled = ((points - low) / np.maximum(high - low, 1e-12)).round(4)
    data = {
        "patterns": [" ".join(tags) for tags in chosen.patterns],
        "colours": COLOURS[: len(chosen.patterns)],
        "languages": list(languages),
        "x": scaled[:, 0].tolist(),
        "y": scaled[:, 1].tolist(),
        "pattern": chosen.pattern.tolist(),
        "language": chosen.language.tolist(),
        "sentences": chosen.sentences,
    }
    return filled(TEMPLATE, title=title, note=note, data=data)


def write_map(
    prefix: Path, label: str, note: str, points: np.ndarray, chosen: Chosen, languages: Sequence[str]
) -> None:
    """Write PREFIX.png, PREFIX.pdf, PREFIX.html and the points as PREFIX.csv.

    Raises:
        InputError: matplotlib or jinja2 is missing.
    """
    draw_picture(prefix.parent, prefix.name, note, lambda figure: draw(figure, points, chosen, languages), (10.0, 6.0))
    with atomic_text(f"{prefix}.html") as stream:
        stream.write(page(f"Sentence embeddings: {label}", note, points, chosen, languages))
    with atomic_text(f"{prefix}.csv") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["x", "y", "tags", "language", "sentence"])
        rows = zip(points, chosen.pattern, chosen.language, chosen.sentences, strict=True)
        for (x, y), pattern, language, sentence in rows:
            tags = " ".join(chosen.patterns[pattern])
            table.writerow([f"{x:.5g}", f"{y:.5g}", tags, languages[language], as_text(sentence)])
