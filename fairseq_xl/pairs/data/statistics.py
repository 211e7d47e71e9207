"""Terms per sentence, and words without a vector: Table 1 of Hadgu 2018.

A sentence counts once, however often a file has it. Counted like this, with words separated by spaces, cikm_test_a
gives the paper's 57, 9.52 and 6.48.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.pairs.data.tokenizer import WordRules
from fairseq_xl.report.tables import Table

Words = tuple[str, ...]


@dataclass(frozen=True)
class Unknown:
    """What has no vector: distinct words, distinct sentences with such a word, pairs with such a sentence."""

    terms: int
    sentences: int
    pairs: int


def unknown(rows: Iterable[Sequence[Words]], known: Collection[str]) -> Unknown:
    """Count what has no vector.

    Args:
        rows: the sentences of each pair (or of each line, if there are more or fewer than two), as words.
        known: the words with a vector.
    """
    terms: set[str] = set()
    sentences: set[Words] = set()
    pairs = 0
    for row in rows:
        without = [words for words in row if any(word not in known for word in words)]
        terms.update(word for words in without for word in words if word not in known)
        sentences.update(without)
        pairs += bool(without)
    return Unknown(len(terms), len(sentences), pairs)


def table(sources: Sequence[PairSource], rules: WordRules, known: Collection[str] | None = None) -> Table:
    """A row for each source: its pairs, sentences and lengths, and with ``known`` what has no vector.

    Raises:
        InputError: a source cannot be read or holds no pair.
    """
    headings = ["file", "pairs", "label 1", "sentences", "terms: max", "mean", "sd"]
    if known is not None:
        headings += ["without a vector: terms", "sentences", "pairs"]
    found = Table("Pairs", headings)
    found.notes.append("Sentences are distinct ones; sd is that of a sample.")
    for source in sources:
        rows, labels = [], []
        for pair in source.pairs():
            rows.append(tuple(tuple(rules.words(text)) for text in (pair.left, pair.right)))
            if pair.label is not None:
                labels.append(pair.label)
        if not rows:
            raise InputError(f"{source.path} holds no pairs")
        lengths = [len(words) for words in {words for row in rows for words in row}]
        sd = statistics.stdev(lengths) if len(lengths) > 1 else 0.0
        share = f"{statistics.fmean(labels):.1%}" if labels else "–"
        columns = [source.options[key] for key in ("left", "right") if key in source.options]
        name = " ".join([source.path.name, *([f"({', '.join(columns)})"] if columns else [])])
        cells = [name, f"{len(rows):,}", share, f"{len(lengths):,}"]
        cells += [str(max(lengths)), f"{statistics.fmean(lengths):.3f}", f"{sd:.3f}"]
        if known is not None:
            missing = unknown(rows, known)
            cells += [f"{n:,}" for n in (missing.terms, missing.sentences, missing.pairs)]
        found.add(*cells)
    return found
