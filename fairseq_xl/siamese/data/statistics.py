"""Corpus statistics as in the paper's Tables 1 to 4: sentences, length, shares of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairseq_xl.report.tables import Table
from fairseq_xl.siamese.data.directory import Corpus, DataDirectory
from fairseq_xl.siamese.data.settings import SIDES


def tables(directories: Sequence[DataDirectory]) -> list[Table]:
    """Sentences and length of every split of every language, and the distribution of classes in percent.

    A language stands once, however many directories have the same texts of it.
    """
    sizes = Table("Corpora", ["language", "split", "sentences", "words a sentence", "characters a sentence", "n-grams"])
    shares: dict[tuple[str, ...], Table] = {}
    seen = set()
    for directory in directories:
        classes = tuple(directory.classes)
        for side in SIDES:
            for split in ("train", "valid", "test"):
                if not directory.has(split, side):
                    continue
                corpus, language = directory.corpus(split, side), directory.manifest["languages"][side]
                row = (language, split, *_sizes(corpus))
                # The n-grams known depend on the directory; the text does not.
                if (key := (classes, *row[:-1])) in seen:
                    continue
                seen.add(key)
                sizes.add(*row)
                if split == "train":
                    title = f"Distribution of {len(classes)} classes (%)"
                    table = shares.setdefault(classes, Table(title, ["language", *classes]))
                    counts = np.bincount(corpus.labels, minlength=len(classes))
                    table.add(language, *(f"{100 * c / len(corpus):.1f}" for c in counts))
    return [sizes, *shares.values()]


def _sizes(corpus: Corpus) -> tuple[str, ...]:
    words = np.mean([len(text.split()) for text in corpus.texts])
    characters = np.mean([len(text) for text in corpus.texts])
    return (f"{len(corpus):,}", f"{words:.1f}", f"{characters:.1f}", f"{np.mean(corpus.units.sizes):.1f}")
