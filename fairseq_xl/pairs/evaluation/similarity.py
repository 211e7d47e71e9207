"""Do numbers rank pairs as people's graded similarities do (Cer et al. 2017, STS-B)?

A pair classifier's, and those of what needs no training.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm
from scipy.stats import ConstantInputWarning, spearmanr

from fairseq_xl.encode.averaged import means
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.report.bootstrap import interval
from fairseq_xl.report.tables import Table

if TYPE_CHECKING:
    from fairseq_xl.pairs.data.directory import Row
    from fairseq_xl.pairs.prediction.predictor import PairPredictor

UNTRAINED = ("averaged word vectors", "shared words")


def spearman(said: np.ndarray, gold: np.ndarray) -> float:
    """Correlation of the ranks of two (N,); NaN where either side is one value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        return float(spearmanr(said, gold).statistic)


def spearman_interval(said: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """95 % of 1000 bootstrap samples lie between these; samples of one value rank nothing, and do not count."""
    random = np.random.default_rng(1)
    draws = (random.integers(0, len(gold), len(gold)) for _ in range(1000))
    values = np.array([spearman(said[draw], gold[draw]) for draw in draws])
    return interval(values[~np.isnan(values)])


def cosines(left: np.ndarray | sparse.sparray, right: np.ndarray | sparse.sparray) -> np.ndarray:
    """(N,) of the rows of two matrices (N, d), dense or sparse; 0 where a row is 0."""
    left, right = sparse.csr_array(left), sparse.csr_array(right)
    norms = norm(left, axis=1) * norm(right, axis=1)
    return np.divide((left * right).sum(1), norms, out=np.zeros(len(norms)), where=norms > 0)


def shared_words(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> np.ndarray:
    """(N,) words that both sentences have, over those that either has (Jaccard)."""
    sets = [(set(a), set(b)) for a, b in zip(left, right, strict=True)]
    return np.array([len(a & b) / max(1, len(a | b)) for a, b in sets])


@dataclass(frozen=True)
class Graded:
    """N pairs with the similarity that people gave them.

    Attributes:
        name: of the file, or of both.
        pairs: left and right sentence.
        languages: of the two sides, where the source says them.
        gold: (N,) similarities.
    """

    name: str
    pairs: list[tuple[str, str]]
    languages: tuple[str, str] | None
    gold: np.ndarray


def read(line: str) -> Graded:
    """Raises: InputError: a source without scores, or with the same score for all pairs."""
    source = PairSource.parse(line)
    if "score" not in source.options:
        raise InputError(f"{line!r} does not say where the similarities are: add score=COLUMN")
    pairs = list(source.pairs())
    gold = np.array([pair.score for pair in pairs], dtype=float)
    if len(set(gold.tolist())) < 2:
        raise InputError(f"{source.path}: there are no two different scores among {len(gold)}: nothing to rank by")
    name = source.path.name.split(".")[0]
    return Graded(name, [(pair.left, pair.right) for pair in pairs], source.languages, gold)


def across(one: Graded, other: Graded) -> Graded:
    """The left sentences of one beside the right ones of its translation.

    Raises:
        InputError: other scores, so that line k does not translate line k.
    """
    if one.gold.shape != other.gold.shape or not np.array_equal(one.gold, other.gold):
        raise InputError(
            f"{one.name} and {other.name} differ in their scores: --across wants translations, line by line"
        )
    languages = (one.languages[0], other.languages[1]) if one.languages and other.languages else None
    pairs = [(left, right) for (left, _), (_, right) in zip(one.pairs, other.pairs, strict=True)]
    return Graded(f"{one.name} × {other.name}", pairs, languages, one.gold)


def table(sources: Sequence[Graded], said: Sequence[Sequence[dict[str, np.ndarray]]], known: Sequence[float]) -> Table:
    """A row a source, a column a similarity.

    Args:
        said: similarities (N,) by name, of each checkpoint and source.
        known: share of each source's words that have a vector.

    Raises:
        InputError: checkpoints with other similarities, which are no runs of one classifier.
    """
    names = list(said[0][0])
    if other := next((list(one[0]) for one in said if list(one[0]) != names), None):
        own, others = (", ".join(each[: -len(UNTRAINED)]) for each in (names, other))
        raise InputError(f"one checkpoint has {own}, and another {others}: give runs of one architecture")
    found = Table(
        "Spearman's correlation with judged similarities, × 100", ["pairs", "number", "words known, %", *names]
    )
    for place, source in enumerate(sources):
        cells = []
        for name in names:
            runs = [checkpoint[place][name] for checkpoint in said]
            cells.append(_cell(runs[:1] if name in UNTRAINED else runs, source.gold))
        found.add(source.name, str(len(source.gold)), f"{100 * known[place]:.1f}", *cells)
    return found


def _cell(runs: Sequence[np.ndarray], gold: np.ndarray) -> str:
    values = 100 * np.array([spearman(run, gold) for run in runs])
    if np.isnan(values).any():
        return "the same for all"
    if len(runs) > 1:
        return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"
    low, high = spearman_interval(runs[0], gold)
    return f"{values[0]:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def similarities(predictor: PairPredictor, rows: Sequence[Row], name: str) -> dict[str, np.ndarray]:
    """By name, (N,) of what the classifier says of the pairs, and of what needs no training."""
    found = {name: predictor.logits(rows)}
    if predictor.has_vectors:
        found["its sentence vectors"] = cosines(*predictor.vectors(rows))
    dictionary = predictor.dictionary
    table = predictor.model.embedding.table.detach().float().cpu().numpy().copy()
    given = predictor.task.directory.vectors().numpy()  # before --tune-vectors moved them
    table[: len(given)] = given
    sides = [[row.left.split() for row in rows], [row.right.split() for row in rows]]
    # A name is the same word in all languages.
    plain = [[[word.split(":", 1)[-1] for word in sentence] for sentence in side] for side in sides]
    averaged = cosines(*(means(side, table, dictionary.indices).astype(float) for side in sides))
    return {**found, UNTRAINED[0]: averaged, UNTRAINED[1]: shared_words(*plain)}


def known_share(predictor: PairPredictor, rows: Sequence[Row]) -> float:
    """The share of words that the model can read."""
    words = [word for row in rows for side in (row.left, row.right) for word in side.split()]
    dictionary = predictor.dictionary
    return float(np.mean([dictionary.index(word) != dictionary.unk() for word in words])) if words else 0.0
