"""From files of pairs to a prepared folder: words, splits without leaks, dictionary, vectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.labelled import PARTS
from fairseq_xl.pairs.data.folder import MANIFEST, VERSION, Prepared, Row, write_rows
from fairseq_xl.pairs.data.source import Pair, PairSource
from fairseq_xl.pairs.data.splits import folds, groups
from fairseq_xl.pairs.data.table import VECTORS, make_table, word_table
from fairseq_xl.pairs.data.wording import Wording
from fairseq_xl.vectors.table import read_vectors

LEAKS = ("sentences", "pairs", "nothing")


@dataclass(frozen=True)
class Settings:
    """How a folder is prepared.

    Attributes:
        wording: rules from text to words.
        minimum: a word seen less often in training and without a vector is unknown.
        vectors: file of word vectors; None: random ones, to be trained.
        dim: of random vectors.
        folds: for cross-validation of the training part; 1: none.
        together: what stays in one fold; see :mod:`splits`.
        leaks: training pairs left out because the valid or test part has one of their ``sentences``, has the ``pair``
            itself, or ``nothing``.
        seed: of folds and random vectors.
        like: a prepared folder whose wording, dictionary and vectors are taken, so that its models read this one.
    """

    wording: Wording = field(default_factory=Wording)
    minimum: int = 1
    vectors: Path | None = None
    dim: int = 300
    folds: int = 1
    together: str = "communities"
    leaks: str = "sentences"
    seed: int = 1
    like: Path | None = None


@dataclass(frozen=True)
class _Vocabulary:
    """The dictionary, its vectors (V, d), and what the manifest says of these."""

    dictionary: Dictionary
    table: np.ndarray
    vectors: dict[str, Any] | None


@dataclass(frozen=True)
class _Worded:
    """A pair, its id and its words."""

    id: str
    pair: Pair
    sides: tuple[str, str]


def prepare(
    output: Path, sources: Sequence[PairSource], also: Sequence[PairSource], settings: Settings
) -> dict[str, Any]:
    """Write the folder and return its manifest.

    Args:
        output: new, or an earlier prepared folder, which is replaced when all is ready.
        sources: the parts' files.
        also: pairs to be judged later: their words enter the dictionary where they have a vector.
        settings: see there.

    Raises:
        InputError: whatever is wrong with the files or the settings.
    """
    if settings.leaks not in LEAKS:
        raise InputError(f"leaks are judged by {', '.join(LEAKS)}, not {settings.leaks!r}")
    if len({source.languages is None for source in [*sources, *also]}) > 1:
        raise InputError("some files say their languages and others do not: give languages= for all, or for none")
    like = Prepared(settings.like) if settings.like else None
    wording = like.wording if like else settings.wording
    parts = {part: _read([s for s in sources if s.part == part], wording) for part in PARTS}
    if not parts["train"] and not parts["valid"] and not parts["test"]:
        raise InputError("the files have no pairs")
    for part in ("train", "valid"):
        if blank := next((w for w in parts[part] if w.pair.label is None), None):
            raise InputError(f"{blank.pair.where}: the {part} part needs labels: name their column with label=")
    left_out: Counter[str] = Counter()
    parts["train"] = _consistent(parts["train"], left_out)
    parts["train"] = _without_leaks(parts["train"], [*parts["valid"], *parts["test"]], settings.leaks, left_out)
    if sources and any(s.part == "train" for s in sources) and not parts["train"]:
        raise InputError("no training pair is left: all share a sentence with the valid or test part; see --leaks")
    folds_given = {row.pair.fold for row in parts["train"]}
    numbers = [fold for fold in folds_given if fold is not None]
    count = max(numbers) + 1 if numbers and None not in folds_given else settings.folds
    if None in folds_given and len(folds_given) > 1:
        raise InputError(
            "some training files have a column of folds and others have none: give it for all, or for none"
        )
    if like:
        table = word_table(like).numpy()
        vocabulary = _Vocabulary(like.dictionary, table, like.manifest["vectors"])
    else:
        vocabulary = _vocabulary(parts, _read(also, wording), settings)
    manifest = {
        "version": VERSION,
        "wording": asdict(wording),
        "folds": count,
        "together": settings.together,
        "leaks": settings.leaks,
        "seed": settings.seed,
        "languages": sorted({code for source in sources for code in source.languages or ()}),
        "sources": [{"file": source.path.name, **source.options} for source in sources],
        "pairs": {part: len(rows) for part, rows in parts.items() if rows},
        "matching": {part: sum(w.pair.label or 0 for w in rows) for part, rows in parts.items() if rows},
        "left_out": dict(left_out),
        "words": len(vocabulary.dictionary) - vocabulary.dictionary.nspecial,
        "vectors": vocabulary.vectors,
    }
    with atomic_folder(output, MANIFEST, "pairs prepared for training") as folder:
        for part, rows in parts.items():
            if rows:
                write_rows(folder / f"{part}.tsv", _rows(rows, settings if part == "train" else None))
        vocabulary.dictionary.save(str(folder / "dict.txt"))
        np.save(folder / VECTORS, vocabulary.table, allow_pickle=False)
        with atomic_text(folder / MANIFEST) as stream:
            json.dump(manifest, stream, ensure_ascii=False, indent=1)
            stream.write("\n")
    return manifest


def _read(sources: Iterable[PairSource], wording: Wording) -> list[_Worded]:
    found = []
    names: Counter[str] = Counter()
    for source in sources:
        names[source.path.name] += 1
        again = names[source.path.name]
        name = source.path.name + (f"#{again}" if again > 1 else "")
        for pair in source.pairs():
            left, right = source.languages or (None, None)
            sides = wording.sentence(pair.left, left), wording.sentence(pair.right, right)
            line = pair.where.rpartition(" ")[2]
            found.append(_Worded(f"{name}:{line}", pair, sides))
    return found


def _unordered(worded: _Worded) -> frozenset[str]:
    return frozenset(worded.sides)


def _consistent(rows: list[_Worded], left_out: Counter[str]) -> list[_Worded]:
    """Each pair of training once; none with both labels."""
    labels: dict[Hashable, set[int | None]] = {}
    for row in rows:
        labels.setdefault(_unordered(row), set()).add(row.pair.label)
    kept: dict[Hashable, _Worded] = {}
    for row in rows:
        if len(labels[_unordered(row)]) > 1:
            left_out["contradictory"] += 1
        elif _unordered(row) in kept:
            left_out["duplicate"] += 1
        else:
            kept[_unordered(row)] = row
    return list(kept.values())


def _without_leaks(rows: list[_Worded], judged: list[_Worded], leaks: str, left_out: Counter[str]) -> list[_Worded]:
    if leaks == "nothing":
        return rows
    known = {side for row in judged for side in row.sides} if leaks == "sentences" else set(map(_unordered, judged))
    kept = [row for row in rows if not (known & set(row.sides) if leaks == "sentences" else _unordered(row) in known)]
    left_out["in the valid or test part"] += len(rows) - len(kept)
    return kept


def _vocabulary(parts: dict[str, list[_Worded]], also: list[_Worded], settings: Settings) -> _Vocabulary:
    """Training's words of some frequency, and all words that have a vector."""
    counts = Counter(word for row in parts["train"] for side in row.sides for word in side.split())
    judged = [*parts["valid"], *parts["test"], *also]
    others = Counter(word for row in judged for side in row.sides for word in side.split())
    found, vectors = None, None
    if settings.vectors is not None:
        found = read_vectors(settings.vectors, list(dict.fromkeys([*counts, *others])))
        vectors = {"file": settings.vectors.name, "found": len(found)}
    dictionary = Dictionary()
    for word, count in counts.most_common():
        if count >= settings.minimum or (found is not None and word in found.index):
            dictionary.add_symbol(word, count)
    for word in others:
        if found is not None and word in found.index and word not in counts:
            dictionary.add_symbol(word, 0)
    table = make_table(dictionary, found, settings.dim, settings.seed)
    return _Vocabulary(dictionary, table, vectors)


def _rows(rows: list[_Worded], settings: Settings | None) -> Iterable[Row]:
    """With the folds of ``settings``; without, all in fold 0."""
    sides = [row.sides for row in rows]
    given = [row.pair.fold for row in rows if row.pair.fold is not None]
    if settings is not None and len(given) == len(rows):
        placed = [(fold, fold) for fold in given]
    elif settings is not None and settings.folds > 1:
        placed = folds(sides, settings.folds, settings.together, settings.seed)
    else:
        placed = [(0, 0)] * len(rows)
    for row, group, fold in zip(rows, groups(sides), placed, strict=True):
        yield Row(row.id, row.pair.label, group, fold, *row.sides, row.pair.left, row.pair.right)


def inside(rows: Sequence[Row], count: int) -> np.ndarray:
    """(count + 1,) pairs within each fold, and those across folds."""
    found = np.zeros(count + 1, dtype=int)
    for row in rows:
        found[row.folds[0] if row.folds[0] == row.folds[1] else count] += 1
    return found
