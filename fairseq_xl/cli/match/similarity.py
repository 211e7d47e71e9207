"""``fairseq-xl match similarity``: do a matcher's probabilities rank pairs as people do?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import Pair, PairSource
from fairseq_xl.pairs.evaluation.similarity import averages, cosines, shared_words, spearman, spearman_interval
from fairseq_xl.report.tables import Table

if TYPE_CHECKING:
    from fairseq_xl.pairs.data.folder import Row
    from fairseq_xl.pairs.prediction.predictor import Predictor

UNTRAINED = ("averaged word vectors", "shared words")


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


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Spearman's correlation, times 100, of graded similarities (STS-B) with a matcher's probabilities, with the "
        "cosines of its sentence vectors, where it has any, and with what needs no training: cosines of averaged "
        "word vectors and the share of words in common. 95 % of bootstrap samples lie within the intervals; of "
        "several checkpoints, such as the folds', the mean and the standard deviation are given."
    )
    parser.add_argument("checkpoints", type=Path, nargs="+", metavar="CHECKPOINT", help="of one prepared folder")
    parser.add_argument(
        "--input",
        nargs="+",
        required=True,
        metavar="SOURCE",
        help="pairs with a score, such as sts.csv,left=1,right=2,score=3,languages=en+en",
    )
    parser.add_argument(
        "--across",
        action="store_true",
        help="also each input's left sentences with the right ones of each other input; for translations of one "
        "file, line by line",
    )
    parser.add_argument("--name", help="of the matcher (default: its architecture)")
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="the word vectors that the folder was prepared with, for words that it does not hold; leave them out "
        "and such words are skipped",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="the prepared folder, where it has moved since training"
    )
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="Markdown (default: standard output)")
    parser.add_argument("--device", help="such as cpu or cuda:1 (default: a GPU where there is one)")


def run(args: argparse.Namespace) -> None:
    """Compute and write.

    Raises:
        InputError: an unusable checkpoint or source, or inputs that are no translations of each other.
    """
    sources = [read(source) for source in args.input]
    if args.across:
        sources += [across(one, other) for one, other in permutations(sources, 2)]
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.pairs.prediction.predictor import Predictor
    from fairseq_xl.training.checkpoints import read as read_checkpoint

    said: list[list[dict[str, np.ndarray]]] = []
    known: list[float] = []
    for path in args.checkpoints:
        predictor = Predictor.load(path, args.data, args.device)
        name = args.name or read_checkpoint(path)["cfg"]["model"]["_name"]
        every = [predictor.rows(source.pairs, source.languages) for source in sources]
        if args.vectors:
            predictor.learn_words([row for rows in every for row in rows], args.vectors)
        known = [_known(predictor, rows) for rows in every]
        said.append([_similarities(predictor, rows, name) for rows in every])
    text = table(sources, said, known).markdown()
    if args.output:
        with atomic_text(args.output) as stream:
            stream.write(text)
    else:
        print(text, end="")


def read(line: str) -> Graded:
    """Raises: InputError: a source without scores, or with the same score for all pairs."""
    source = PairSource.parse(line)
    if "score" not in source.options:
        raise InputError(f"{line!r} does not say where the similarities are: add score=COLUMN")
    pairs: list[Pair] = list(source.pairs())
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
    """
    names = list(said[0][0])
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


def _similarities(predictor: Predictor, rows: Sequence[Row], name: str) -> dict[str, np.ndarray]:
    found = {name: predictor.logits(rows)}
    if predictor.has_vectors:
        found["its sentence vectors"] = cosines(*predictor.vectors(rows))
    dictionary = predictor.dictionary
    table = predictor.model.embedding.table.detach().float().cpu().numpy()
    sides = [[row.left.split() for row in rows], [row.right.split() for row in rows]]
    places = [[[dictionary.index(word) for word in sentence] for sentence in side] for side in sides]
    known = [[[place for place in sentence if place != dictionary.unk()] for sentence in side] for side in places]
    # A name is the same word in all languages.
    plain = [[[word.split(":", 1)[-1] for word in sentence] for sentence in side] for side in sides]
    averaged = cosines(*(averages(side, table) for side in known))
    return {**found, UNTRAINED[0]: averaged, UNTRAINED[1]: shared_words(*plain)}


def _known(predictor: Predictor, rows: Sequence[Row]) -> float:
    """The share of words that the model can read."""
    words = [word for row in rows for side in (row.left, row.right) for word in side.split()]
    dictionary = predictor.dictionary
    return float(np.mean([dictionary.index(word) != dictionary.unk() for word in words])) if words else 0.0
