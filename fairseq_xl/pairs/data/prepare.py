"""From files of pairs to a data directory: words, splits without leaks, dictionary, vectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.pairs.augmentation.chains import chains
from fairseq_xl.pairs.data.directory import (
    CHAINS,
    MANIFEST,
    SPLITS,
    SUPPLEMENT,
    VECTORS,
    VERSION,
    DataDirectory,
    Row,
    write_rows,
)
from fairseq_xl.pairs.data.folds import folds, groups, translated_classes
from fairseq_xl.pairs.data.settings import Settings
from fairseq_xl.pairs.data.source import TRAIN_ONLY, Pair, PairSource
from fairseq_xl.pairs.data.tokenizer import Tokenizer
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.table import WordVectors, read_vectors


@dataclass(frozen=True)
class _Vocabulary:
    """The dictionary, its vectors (V, d), and what the manifest says of these."""

    dictionary: Dictionary
    table: np.ndarray
    vectors: dict[str, Any] | None


@dataclass(frozen=True)
class _Tokenized:
    """A pair, its id and split, its words, and those of its translations where their languages are given."""

    id: str
    split: str
    pair: Pair
    sides: tuple[str, str]
    translations: tuple[str, str] | None


def prepare(
    output: Path,
    sources: Sequence[PairSource],
    also: Sequence[PairSource],
    settings: Settings,
    supplement: Sequence[PairSource] = (),
) -> dict[str, Any]:
    """Write the folder and return its manifest.

    Args:
        output: new, or an earlier data directory, which is replaced when all is ready.
        sources: of the splits.
        also: pairs to be judged later: their words enter the dictionary where they have a vector.
        settings: see there.
        supplement: more pairs to train on, whichever fold is held out.

    Raises:
        InputError: whatever is wrong with the files or the settings.
    """
    if len({source.languages is None for source in [*sources, *also, *supplement]}) > 1:
        raise InputError("some files say their languages and others do not: give languages= for all, or for none")
    like = DataDirectory(settings.like) if settings.like else None
    tokenizer = like.tokenizer if like else settings
    splits = {split: _read([s for s in sources if _place(s.split) == split], tokenizer) for split in SPLITS}
    if not splits["train"] and not splits["valid"] and not splits["test"]:
        raise InputError("the files have no pairs")
    for split in ("train", "valid"):
        if blank := next((w for w in splits[split] if w.pair.label is None), None):
            raise InputError(f"{blank.pair.where}: the split {split} needs labels: name their column with label=")
    left_out: Counter[str] = Counter()
    splits["train"] = _consistent(splits["train"], left_out)
    # A sentence and its translation count as one: who has seen one knows something of the other.
    same = _translated(row for own in splits.values() for row in own)
    splits["train"] = _without_leaks(
        splits["train"], [*splits["valid"], *splits["test"]], settings.leaks, same, left_out
    )
    if sources and any(s.split == "train" for s in sources) and not splits["train"]:
        raise InputError("no training pair is left: all share a sentence with the splits valid or test; see --leaks")
    if splits["train"] and all(row.split == TRAIN_ONLY for row in splits["train"]):
        raise InputError("no pair of the split train is left beside those of train_only: give some, or see --leaks")
    added, added_counts = _supplement(supplement, tokenizer, splits) if supplement else ([], None)
    folds_given = {row.pair.fold for row in splits["train"]}
    numbers = [fold for fold in folds_given if fold is not None]
    count = max(numbers) + 1 if numbers and None not in folds_given else settings.folds
    if None in folds_given and len(folds_given) > 1:
        raise InputError(
            "some training files have a column of folds and others have none: give it for all, or for none"
        )
    if like:
        vocabulary = _Vocabulary(like.dictionary, like.vectors().numpy(), like.manifest["vectors"])
    else:
        vocabulary = _vocabulary({**splits, "train": [*splits["train"], *added]}, _read(also, tokenizer), settings)
    rows = {
        split: list(_rows(own, same, settings if split == "train" else None)) for split, own in splits.items() if own
    }
    judged = [] if settings.leaks == "nothing" else [*splits["valid"], *splits["test"]]
    chained, counts = _chains(rows.get("train", []), judged, same) if settings.chains else ([], None)
    if only := {row.id for row in splits["train"] if row.split == TRAIN_ONLY}:
        rows[TRAIN_ONLY] = [row for row in rows["train"] if row.id in only]
        rows["train"] = [row for row in rows["train"] if row.id not in only]
    manifest = {
        "version": VERSION,
        "tokenizer": {each.name: getattr(tokenizer, each.name) for each in fields(Tokenizer)},
        "folds": count,
        "together": settings.together,
        "leaks": settings.leaks,
        "seed": settings.seed,
        "languages": sorted({code for source in [*sources, *supplement] for code in source.languages or ()}),
        "sources": [{"file": source.path.name, **source.options} for source in sources],
        "pairs": {split: len(own) for split, own in rows.items()},
        "matching": {split: sum(row.label or 0 for row in own) for split, own in rows.items()},
        "left_out": dict(left_out),
        "chains": counts,
        "supplement": added_counts,
        "words": len(vocabulary.dictionary) - vocabulary.dictionary.nspecial,
        "vectors": vocabulary.vectors,
    }
    with atomic_folder(output, MANIFEST, "pairs prepared for training") as folder:
        for split, own in rows.items():
            write_rows(folder / f"{split}.tsv", own)
        if settings.chains:
            write_rows(folder / f"{CHAINS}.tsv", chained)
        if supplement:
            # Its numbers of groups and of its fold are none that the training pairs have.
            trained = [*rows.get("train", []), *rows.get(TRAIN_ONLY, [])]
            first = 1 + max((row.group for row in trained), default=-1)
            apart = [replace(row, group=first + row.group, folds=(count, count)) for row in _rows(added, {}, None)]
            write_rows(folder / f"{SUPPLEMENT}.tsv", apart)
        vocabulary.dictionary.save(str(folder / "dict.txt"))
        np.save(folder / VECTORS, vocabulary.table, allow_pickle=False)
        with atomic_text(folder / MANIFEST) as stream:
            json.dump(manifest, stream, ensure_ascii=False, indent=1)
            stream.write("\n")
    return manifest


def _read(sources: Iterable[PairSource], tokenizer: Tokenizer) -> list[_Tokenized]:
    found = []
    names: Counter[str] = Counter()
    for source in sources:
        names[source.path.name] += 1
        again = names[source.path.name]
        name = source.path.name + (f"#{again}" if again > 1 else "")
        for pair in source.pairs():
            left, right = source.languages or (None, None)
            sides = tokenizer.sentence(pair.left, left), tokenizer.sentence(pair.right, right)
            translations = None
            if pair.translations and source.translation_languages:
                (one, other), (left, right) = pair.translations, source.translation_languages
                translations = tokenizer.sentence(one, left), tokenizer.sentence(other, right)
            line = pair.where.rpartition(" ")[2]
            found.append(_Tokenized(f"{name}:{line}", source.split, pair, sides, translations))
    return found


def _place(split: str) -> str:
    """Where pairs of a split are read. Those that no fold is judged on have folds all the same."""
    return "train" if split == TRAIN_ONLY else split


def _unordered(row: _Tokenized) -> frozenset[str]:
    return frozenset(row.sides)


def _translated(rows: Iterable[_Tokenized]) -> dict[str, str]:
    """The sentence that stands for those that translate each other. One without words says nothing."""
    links = (link for row in rows if row.translations for link in zip(row.sides, row.translations, strict=True))
    return translated_classes(link for link in links if all(link))


def _consistent(rows: list[_Tokenized], left_out: Counter[str]) -> list[_Tokenized]:
    """Each pair of training once; none with both labels."""
    labels: dict[Hashable, set[int | None]] = {}
    for row in rows:
        labels.setdefault(_unordered(row), set()).add(row.pair.label)
    kept: dict[Hashable, _Tokenized] = {}
    for row in rows:
        if len(labels[_unordered(row)]) > 1:
            left_out["contradictory"] += 1
        elif _unordered(row) in kept:
            left_out["duplicate"] += 1
        else:
            kept[_unordered(row)] = row
    return list(kept.values())


def _without_leaks(
    rows: list[_Tokenized], judged: list[_Tokenized], leaks: str, same: Mapping[str, str], left_out: Counter[str]
) -> list[_Tokenized]:
    if leaks == "nothing":
        return rows
    pairs = {_classes(row.sides, same) for row in judged}
    known = frozenset().union(*pairs)
    sides = {row.id: _classes(row.sides, same) for row in rows}
    kept = [row for row in rows if not (known & sides[row.id] if leaks == "sentences" else sides[row.id] in pairs)]
    left_out["in the splits valid or test"] += len(rows) - len(kept)
    return kept


def _supplement(
    sources: Sequence[PairSource], tokenizer: Tokenizer, splits: dict[str, list[_Tokenized]]
) -> tuple[list[_Tokenized], dict[str, Any]]:
    """The pairs that supplement the splits, none of whose sentences these have, and what is known of them."""
    for source in sources:
        if {"split", "fold"} & set(source.options):
            raise InputError(f"{source.path}: a supplement has no split and no folds: leave out split= and fold=")
    rows = _read(sources, tokenizer)
    if blank := next((row for row in rows if row.pair.label is None), None):
        raise InputError(f"{blank.pair.where}: the supplement needs labels: name their column with label=")
    left_out: Counter[str] = Counter()
    rows = _consistent(rows, left_out)
    known = {side for own in splits.values() for row in own for side in row.sides}
    kept = [row for row in rows if not known & set(row.sides)]
    if not kept:
        raise InputError("no pair of the supplement is left: all share a sentence with the other files")
    left_out["with a sentence of the other files"] = len(rows) - len(kept)
    matching = sum(row.pair.label or 0 for row in kept)
    return kept, {"pairs": len(kept), "matching": matching, "left_out": dict(left_out)}


def _classes(sides: Iterable[str], same: Mapping[str, str]) -> frozenset[str]:
    return frozenset(same.get(side, side) for side in sides)


def _vocabulary(splits: dict[str, list[_Tokenized]], also: list[_Tokenized], settings: Settings) -> _Vocabulary:
    """Training's words of some frequency, and all words that have a vector."""
    counts = Counter(word for row in splits["train"] for side in row.sides for word in side.split())
    judged = [*splits["valid"], *splits["test"], *also]
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


def make_table(dictionary: Dictionary, found: WordVectors | None, dim: int, seed: int) -> np.ndarray:
    """The table (V, d) of a dictionary, from the vectors that were found or random ones of ``dim``.

    A word without a vector gets a random direction of the mean norm of the others: two sentences that share it can
    still be seen to share it.
    """
    table = random_vectors(dictionary.symbols, found.dim if found else dim, seed).matrix
    if found and len(found):
        table *= np.linalg.norm(found.matrix, axis=1).mean()
        table[[dictionary.index(word) for word in found.words]] = found.matrix
    return table


def _rows(rows: list[_Tokenized], same: Mapping[str, str], settings: Settings | None) -> Iterator[Row]:
    """With the folds of ``settings``; without, all in fold 0."""
    sides = [row.sides for row in rows]
    given = [row.pair.fold for row in rows if row.pair.fold is not None]
    if settings is not None and len(given) == len(rows):
        placed = [(fold, fold) for fold in given]
    elif settings is not None and settings.folds > 1:
        classes = [(same.get(left, left), same.get(right, right)) for left, right in sides]
        placed = folds(classes, settings.folds, settings.together, settings.seed)
    else:
        placed = [(0, 0)] * len(rows)
    for row, group, fold in zip(rows, groups(sides), placed, strict=True):
        yield Row(row.id, row.pair.label, group, fold, *row.sides, row.pair.left, row.pair.right)


def _chains(
    rows: Sequence[Row], judged: Sequence[_Tokenized], same: Mapping[str, str]
) -> tuple[list[Row], dict[str, int]]:
    """Pairs that match through chains of training pairs, and what is known of them."""
    fold, text, group = {}, {}, {}
    for row in rows:
        for side, place, words in ((row.left, 0, row.left_text), (row.right, 1, row.right_text)):
            fold[side], text[side], group[side] = row.folds[place], words, row.group
    found, labelled, right = chains([(row.left, row.right) for row in rows], [row.label for row in rows])
    barred = {_classes(row.sides, same) for row in judged}
    kept: list[Row] = []
    leaks = apart = 0
    for chain in found:
        homes = sorted({fold[side] for side in chain})
        if _classes((chain.one, chain.other), same) in barred:
            leaks += 1
        elif len(homes) > 2:
            apart += 1
        else:
            texts = chain.one, chain.other, text[chain.one], text[chain.other]
            kept.append(Row(f"{CHAINS}:{len(kept) + 1}", 1, group[chain.one], (homes[0], homes[-1]), *texts))
    return kept, {
        "pairs": len(kept),
        "with a label of their own": labelled,
        "of these matching": right,
        "in the splits valid or test": leaks,
        "in three folds": apart,
    }


def inside(rows: Sequence[Row], count: int) -> np.ndarray:
    """(count + 1,) pairs within each fold, and those across folds."""
    found = np.zeros(count + 1, dtype=int)
    for row in rows:
        found[row.folds[0] if row.folds[0] == row.folds[1] else count] += 1
    return found
