"""Paraphrases through a pivot language, and as many pairs of sentences that are none.

Two sentences mean the same if one sentence of another language translates both (Bannard and Callison-Burch 2005,
"Paraphrasing with Bilingual Parallel Corpora", there of phrases). Negatives are found as in a corpus from a website
(:mod:`~fairseq_xl.corpus.pairs.negative_search`). All of one language's sentences count as one topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from fairseq_xl.corpus.pairs import split
from fairseq_xl.corpus.pairs.export import balanced
from fairseq_xl.corpus.pairs.negative_search import Band, search
from fairseq_xl.corpus.pairs.negatives import unit_vectors
from fairseq_xl.corpus.pairs.positives import Placed, Positives
from fairseq_xl.corpus.pairs.rules import rules_of
from fairseq_xl.corpus.pairs.settings import ParaphraseSettings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import own_files
from fairseq_xl.io.tables import stream_rows, write_tsv
from fairseq_xl.text.splits.linked import groups
from fairseq_xl.text.words import frequency_cosine, key

HEADER = ("sentence1", "sentence2", "label", "fold")
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Labelled:
    """A pair of sentences of one language.

    Attributes:
        label: 1 if they mean the same.
        fold: from 0 on; None in the test split.
    """

    sentence1: str
    sentence2: str
    label: int
    fold: int | None


def read_sentence_pairs(path: Path, columns: tuple[int, int]) -> list[tuple[str, str]]:
    """Sentences and their translations from two columns of a file, without rows that lack one.

    Raises:
        InputError: no such file, or a row with fewer columns.
    """
    rows = stream_rows(path, list(map(str, columns)), even=False)
    pairs = ((" ".join(row.chosen[0].split()), " ".join(row.chosen[1].split())) for row in rows)
    return [pair for pair in pairs if all(pair)]


def through_pivots(texts: Iterable[Iterable[tuple[str, str]]], most: int) -> Positives:
    """Each two sentences that have a translation in common, once. Case and punctuation make no difference.

    Args:
        texts: of each pivot language, sentences and their translations.
        most: translations beside more sentences are left out.

    Returns:
        The pairs. Sentences that they link, directly or by way of others, have one home.
    """
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for pairs in texts:
        beside: dict[str, dict[str, str]] = defaultdict(dict)
        for sentence, translation in pairs:
            beside[key(translation)].setdefault(key(sentence), sentence)
        for sentences in beside.values():
            if len(sentences) <= most:
                for one, other in combinations(sentences, 2):
                    if (other, one) not in found:
                        found.setdefault((one, other), (sentences[one], sentences[other]))
    home = groups(found)
    return Positives(
        [first for first, _ in found.values()],
        [second for _, second in found.values()],
        home,
        [{page} for page in home],
        [{other} for _, other in found],
    )


def paraphrases(positives: Positives, encoder: str, settings: ParaphraseSettings) -> list[Labelled]:
    """The pairs that have a negative, and one negative of each. Both of its sentences are of the pair's fold.

    Args:
        encoder: what gives vectors to sentences, as :func:`~fairseq_xl.encode.registry.load_encoder` reads it.

    Raises:
        InputError: nothing to choose from, too little for the folds, negatives in fewer than two folds, or the encoder
            cannot be used.
    """
    if settings.low >= settings.high:
        raise InputError(f"no cosine is above {settings.low} and below {settings.high}: give --low below --high")
    if not len(positives):
        raise InputError("no two sentences have a translation in common: give more text, or raise --most")
    homes, bins = max(positives.home) + 1, settings.folds + (settings.test > 0)
    if homes < 2 * bins:
        raise InputError(
            f"{homes} groups of linked sentences are too few for {settings.folds} folds"
            f"{' and a test split' if settings.test else ''}, which need {2 * bins}: "
            "give more text, or take fewer --folds"
        )
    weight = np.bincount(positives.home, minlength=homes)
    places = split.assign(np.arange(homes), [0] * homes, weight, settings.folds, settings.test, settings.seed)
    fold = places[positives.home]
    vectors = unit_vectors(encoder, positives.first)
    band, rules = Band(settings.low, settings.high), rules_of(positives, settings)
    found: list[tuple[int, int, float]] = []
    for block in search(vectors, fold, positives.home, positives.pages, band, rules, settings.seed):
        found.extend(zip(*(column.tolist() for column in block), strict=True))
    rows = [
        Placed("", 0, place, *pair)
        for place, *pair in zip(fold.tolist(), positives.first, positives.second, strict=True)
    ]
    # A sentence with several paraphrases looks for negatives once for each. Both sides are of one language here.
    different = {
        frozenset((rows[left].first, rows[right].second)): (left, right, cos)
        for left, right, cos in found
        if frequency_cosine(rows[left].first, rows[right].second) < settings.near
    }
    kept, chosen = balanced(rows, sorted(different.values()), settings.seed, paired=True)
    if len({rows[k].fold for k in kept} - {split.TEST}) < 2:
        raise InputError(
            f"{len(kept)} of {len(positives)} paraphrases have a negative, in fewer than two folds: raise --overlap or "
            "--length, widen --low and --high, or take fewer --folds"
        )
    pairs = [(k, k, 1) for k in kept] + [(left, right, 0) for left, right, _ in chosen]
    return [
        Labelled(rows[left].first, rows[right].second, label, None if fold[left] == split.TEST else rows[left].fold)
        for left, right, label in pairs
    ]


def write_labelled(folder: Path, rows: Sequence[Labelled]) -> None:
    """A table of each split that there is, with a row a pair, as ``fairseq-xl match prepare`` reads them.

    Raises:
        InputError: the folder holds something else.
    """
    with own_files(folder, "corpus paraphrases") as written:
        for name in SPLITS:
            some = [row for row in rows if (row.fold is None) == (name == "test")]
            if some:
                cells = ((row.sentence1, row.sentence2, row.label, row.fold) for row in some)
                write_tsv(written / f"{name}.tsv", HEADER, cells)
