"""From files of pairs to a data directory: words, splits without leaks, dictionary, vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.tables import SPLITS
from fairseq_xl.pairs.augmentation.chains import chains
from fairseq_xl.pairs.data.directory import (
    CHAINS,
    MANIFEST,
    SUPPLEMENT,
    VECTORS,
    VERSION,
    DataDirectory,
    Row,
    write_rows,
)
from fairseq_xl.pairs.data.folds import folds
from fairseq_xl.pairs.data.selection import classes, consistent, read_supplement, translations, without_leaks
from fairseq_xl.pairs.data.settings import Settings
from fairseq_xl.pairs.data.source import TRAIN_ONLY, PairSource
from fairseq_xl.pairs.data.tokenized import TokenizedPair, read_pairs
from fairseq_xl.pairs.data.tokenizer import Tokenizer
from fairseq_xl.pairs.data.vocabulary import Vocabulary, make_vocabulary
from fairseq_xl.text.splits.linked import groups


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
    left_out: Counter[str] = Counter()
    splits, same = _splits(sources, tokenizer, settings, left_out)
    added, added_counts = read_supplement(supplement, tokenizer, splits, same) if supplement else ([], None)
    count = _fold_count(splits["train"], settings)
    if like:
        vocabulary = Vocabulary(like.dictionary, like.vectors().numpy(), like.manifest["vectors"])
    else:
        trained = {**splits, "train": [*splits["train"], *added]}
        vocabulary = make_vocabulary(trained, read_pairs(also, tokenizer), settings)
    rows = {
        split: list(_rows(own, same, settings if split == "train" else None)) for split, own in splits.items() if own
    }
    judged = [] if settings.leaks == "nothing" else [*splits["valid"], *splits["test"]]
    chained, counts = _chains(rows.get("train", []), judged, same) if settings.chains else ([], None)
    further = {CHAINS: chained} if settings.chains else {}
    if supplement:
        further[SUPPLEMENT] = _apart(added, rows.get("train", []), count)
    if only := {row.id for row in splits["train"] if row.split == TRAIN_ONLY}:
        rows[TRAIN_ONLY] = [row for row in rows["train"] if row.id in only]
        rows["train"] = [row for row in rows["train"] if row.id not in only]
    manifest = {
        **_origin(sources, supplement, tokenizer, settings, count),
        "pairs": {split: len(own) for split, own in rows.items()},
        "matching": {split: sum(row.label or 0 for row in own) for split, own in rows.items()},
        "left_out": dict(left_out),
        "chains": counts,
        "supplement": added_counts,
        "words": len(vocabulary.dictionary) - vocabulary.dictionary.nspecial,
        "vectors": vocabulary.vectors,
    }
    _write(output, {**rows, **further}, vocabulary, manifest)
    return manifest


def _origin(
    sources: Sequence[PairSource],
    supplement: Sequence[PairSource],
    tokenizer: Tokenizer,
    settings: Settings,
    count: int,
) -> dict[str, Any]:
    """What a manifest says of the files that pairs came from, and of how they were read and parted in folds."""
    return {
        "version": VERSION,
        "tokenizer": {each.name: getattr(tokenizer, each.name) for each in fields(Tokenizer)},
        "folds": count,
        "together": settings.together,
        "leaks": settings.leaks,
        "seed": settings.seed,
        "languages": sorted({code for source in [*sources, *supplement] for code in source.languages or ()}),
        "sources": [{"file": source.path.name, **source.options} for source in sources],
    }


def _write(
    output: Path, tables: Mapping[str, Sequence[Row]], vocabulary: Vocabulary, manifest: Mapping[str, Any]
) -> None:
    with atomic_folder(output, MANIFEST, "pairs prepared for training") as folder:
        for name, rows in tables.items():
            write_rows(folder / f"{name}.tsv", rows)
        vocabulary.dictionary.save(str(folder / "dict.txt"))
        np.save(folder / VECTORS, vocabulary.table, allow_pickle=False)
        write_json(folder / MANIFEST, manifest, ensure_ascii=False, indent=1)


def _splits(
    sources: Sequence[PairSource], tokenizer: Tokenizer, settings: Settings, left_out: Counter[str]
) -> tuple[dict[str, list[TokenizedPair]], dict[str, str]]:
    """The pairs of each split, of training those that may be trained on, and which sentences translate each other."""
    read = read_pairs(sources, tokenizer)
    splits = {split: [row for row in read if _place(row.split) == split] for split in SPLITS}
    if not any(splits.values()):
        raise InputError("the files have no pairs")
    for split in ("train", "valid"):
        if blank := next((row for row in splits[split] if row.pair.label is None), None):
            raise InputError(f"{blank.pair.where}: the split {split} needs labels: name their column with label=")
    # A sentence and its translation count as one: who has seen one knows something of the other.
    rows = consistent(splits["train"], left_out)
    judged = [*splits["valid"], *splits["test"]]
    same = translations([*rows, *judged])
    splits["train"] = without_leaks(rows, judged, settings.leaks, same, left_out)
    if any(source.split == "train" for source in sources) and not splits["train"]:
        raise InputError("no training pair is left: all share a sentence with the splits valid or test; see --leaks")
    if splits["train"] and all(row.split == TRAIN_ONLY for row in splits["train"]):
        raise InputError("no pair of the split train is left beside those of train_only: give some, or see --leaks")
    return splits, same


def _place(split: str) -> str:
    """Where pairs of a split are read. Those that no fold is judged on have folds all the same."""
    return "train" if split == TRAIN_ONLY else split


def _fold_count(rows: Sequence[TokenizedPair], settings: Settings) -> int:
    """The number of folds that the files give, or else the settings."""
    given = {row.pair.fold for row in rows}
    numbers = [fold for fold in given if fold is not None]
    if numbers and None in given:
        raise InputError(
            "some training files have a column of folds and others have none: give it for all, or for none"
        )
    count = max(numbers) + 1 if numbers else settings.folds
    if settings.folds not in (1, count):
        raise InputError(f"--folds is {settings.folds}, but the column of folds has {count}: leave one of them out")
    return count


def _rows(rows: Sequence[TokenizedPair], same: Mapping[str, str], settings: Settings | None) -> Iterator[Row]:
    """With the folds of ``settings``; without, all in fold 0."""
    classes = [(same.get(left, left), same.get(right, right)) for left, right in (row.sides for row in rows)]
    given = [row.pair.fold for row in rows if row.pair.fold is not None]
    if settings is not None and len(given) == len(rows):
        placed = [(fold, fold) for fold in given]
    elif settings is not None and settings.folds > 1:
        judged = [row.split != TRAIN_ONLY for row in rows]
        placed = folds(classes, settings.folds, settings.together, settings.seed, judged)
    else:
        placed = [(0, 0)] * len(rows)
    for row, group, fold in zip(rows, groups(classes), placed, strict=True):
        yield Row(row.id, row.pair.label, group, fold, *row.sides, row.pair.left, row.pair.right)


def _chains(
    rows: Sequence[Row], judged: Sequence[TokenizedPair], same: Mapping[str, str]
) -> tuple[list[Row], dict[str, int]]:
    """Pairs that match through chains of training pairs, and what is known of them."""
    fold: dict[str, set[int]] = {}
    text, group = {}, {}
    for row in rows:
        for side, place, words in ((row.left, 0, row.left_text), (row.right, 1, row.right_text)):
            fold.setdefault(side, set()).add(row.folds[place])  # of several, where the folds were given
            text[side], group[side] = words, row.group
    found, labelled, right = chains([(row.left, row.right) for row in rows], [row.label for row in rows])
    barred = {classes(row.sides, same) for row in judged}
    kept: list[Row] = []
    leaks = apart = 0
    for chain in found:
        homes = sorted(set().union(*(fold[side] for side in chain)))
        if classes((chain.one, chain.other), same) in barred:
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


def _apart(rows: Sequence[TokenizedPair], trained: Sequence[Row], count: int) -> list[Row]:
    """A supplement, whose numbers of groups and of its fold are none that the training pairs have."""
    first = 1 + max((row.group for row in trained), default=-1)
    return [replace(row, group=first + row.group, folds=(count, count)) for row in _rows(rows, {}, None)]


def inside(rows: Sequence[Row], count: int) -> np.ndarray:
    """(count + 1,) pairs within each fold, and those across folds."""
    found = np.zeros(count + 1, dtype=int)
    for row in rows:
        found[row.folds[0] if row.folds[0] == row.folds[1] else count] += 1
    return found
