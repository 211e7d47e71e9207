"""The data card: what the corpus is, how it was made, with counts of every step, for people and for the hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from fairseq_xl.corpus.pairs.pair import SPLITS, Pair
from fairseq_xl.corpus.project import Project
from fairseq_xl.report.model_card import opening
from fairseq_xl.report.tables import Table

STEPS = ("crawl", "extract", "translate", "align", "topics", "negatives")
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(
    project: Project,
    rows: Sequence[Pair],
    name: str,
    licence: str,
    masked: bool,
    shallow: Mapping[str, float],
    files: Mapping[str, str],
) -> str:
    """The text of README.md.

    Args:
        licence: its identifier on the hub, or empty.
        shallow: accuracies of :func:`~fairseq_xl.corpus.pairs.shallow_baseline.shallow_baseline`. Empty if not
            asked for.
        files: of each split, below the card's folder.
    """
    first, second = project.languages
    rights = f"Licence: {licence}." if licence else "No licence was stated: the texts belong to the sites, so ask them."
    persons = "masked as far as patterns find them; names are not" if masked else "as on the pages, and so are names"
    text = [
        *opening(_head(project.languages, len(rows), name, licence, files), name),
        f"Pairs of a sentence in {first} and one in {second}, from bilingual web pages. Label 1: they stand at "
        "corresponding places of a page and its counterpart, and so should mean the same. Label 0: the second "
        "belongs to another page of the same topic. The sentence that it translates is near the first in an "
        "encoder's space, but is not (nearly) the same.",
        "",
        "No page and no sentence is in two splits or two folds. `fold` numbers the folds of the training and "
        "validation splits for cross-validation. The test split has none.",
        "",
        _sizes(rows).markdown(),
        *_made(project),
        _sources(rows).markdown(),
        "### Rights and persons",
        "",
        f"{rights} `url1` and `url2` say where each sentence is from. E-mail addresses and telephone numbers are "
        f"{persons}.",
        "",
    ]
    return "\n".join([*text, *_baseline(shallow)])


def _head(languages: Sequence[str], pairs: int, name: str, licence: str, files: Mapping[str, str]) -> dict[str, Any]:
    """What the hub reads of a card."""
    return {
        "pretty_name": name,
        "language": list(languages),
        "license": licence or "unknown",
        "task_categories": ["text-classification"],
        "task_ids": ["semantic-similarity-classification"],
        "multilinguality": "translation",
        "size_categories": [next((text for limit, text in SIZES if pairs < limit), "1M<n")],
        "configs": [
            {"config_name": "default", "data_files": [{"split": split, "path": path} for split, path in files.items()]}
        ],
    }


def _baseline(shallow: Mapping[str, float]) -> list[str]:
    if not shallow:
        return []
    return [
        "### Shallow baseline",
        "",
        "Accuracy of classifiers that see only lengths, shared numbers and words, punctuation and capitals. A "
        "classifier trained on the other folds judges each fold (0.5 is chance):",
        "",
        *(f"- {one}: {accuracy:.3f}" for one, accuracy in shallow.items()),
        "",
    ]


def _sizes(rows: Sequence[Pair]) -> Table:
    table = Table("Size", ["split", "pairs", "label 1", "label 0", "pages", "topics"])
    for split in SPLITS:
        some = [row for row in rows if row.split == split]
        if not some:
            continue
        labels = Counter(row.label for row in some)
        pages = {page for row in some for page in (row.document1, row.document2)}
        cells = len(some), labels[1], labels[0], len(pages), len({row.topic for row in some})
        table.add(split, *map(str, cells))
    return table


def _made(project: Project) -> list[str]:
    """Counts of each step, as its report gives them."""
    text = ["### How it was made", ""]
    for step in STEPS:
        counts = "; ".join(_items(project.report(step))) or "not a step of this project"
        text.append(f"- {step}: {counts}")
    return [*text, ""]


def _items(report: Mapping[str, Any]) -> list[str]:
    """Counts in words. Lists of pages are for the report, not for the card."""
    return [
        f"{name}: {', '.join(_items(value)) if isinstance(value, Mapping) else value}"
        for name, value in report.items()
        if not isinstance(value, list)
    ]


def _sources(rows: Sequence[Pair]) -> Table:
    table = Table("Sources", ["host", "sentences"])
    hosts = Counter(urlsplit(url).netloc or "local files" for row in rows for url in (row.url1, row.url2))
    for host, count in sorted(hosts.items(), key=lambda item: (-item[1], item[0])):
        table.add(host, str(count))
    return table
