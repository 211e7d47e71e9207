"""From labelled files to a prepared folder: clean, split, count n-grams, encode."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.labelled import PARTS, Example, Source
from fairseq_xl.siamese.data.checks import check_folder
from fairseq_xl.siamese.data.folder import MANIFEST, SIDES, VERSION, encode, write_corpus
from fairseq_xl.siamese.data.morphemes import Segmenter
from fairseq_xl.text.splits import nested, stratified, unique
from fairseq_xl.text.trigrams import ngrams, normalise


@dataclass(frozen=True)
class Settings:
    """How a folder is prepared.

    Attributes:
        languages: codes of the poor and, unless monolingual, the rich language.
        classes: names in order; empty: all of the poor language's training text, by name.
        most_frequent: keep the poor language's N most frequent classes; 0: all.
        shared: keep only the classes that both languages' training texts have.
        others: ``error`` or ``drop``: texts of other classes.
        orders: lengths of n-grams, the longest first.
        lower: whether case is folded.
        minimum: an n-gram seen less often in the training text is unknown.
        morphemes: sides whose words are segmented.
        valid_share, test_share: parts cut from the poor language's training files where no file gives them.
        seed: of the split.
        poor_size: keep that many of the poor language's training texts, for learning curves; 0: all.
        rich_size: the same for the rich language.
        shuffle_rich: give the rich language's training texts each other's classes: the control.
    """

    languages: tuple[str, ...]
    classes: tuple[str, ...] = ()
    most_frequent: int = 0
    shared: bool = False
    others: str = "error"
    orders: tuple[int, ...] = (3,)
    lower: bool = False
    minimum: int = 1
    morphemes: tuple[str, ...] = ()
    valid_share: float = 0.1
    test_share: float = 0.1
    seed: int = 1
    poor_size: int = 0
    rich_size: int = 0
    shuffle_rich: bool = False


@dataclass
class _Side:
    """Normalised texts and class numbers by part, and what was left out."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, list[int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=Counter)


def prepare(
    output: Path,
    poor: Sequence[Source],
    rich: Sequence[Source],
    settings: Settings,
    class_sources: Sequence[Source] = (),
) -> dict[str, Any]:
    """Write the folder and return its manifest.

    ``class_sources`` are what classes are chosen from instead of the poor language's training text: their own, or all
    of them where none is for training.

    The manifest comes last: a folder with one is complete.

    Raises:
        InputError: whatever is wrong with the files, their labels, or the sizes asked for; a folder that cannot be
            written.
    """
    check_folder(output)
    if len(settings.languages) < 1 + bool(rich):
        raise InputError(f"--languages {' '.join(settings.languages)}: name the poor language and the rich one")
    read = {
        side: {part: [e for s in sources if s.part == part for e in s.examples()] for part in PARTS}
        for side, sources in zip(SIDES, (poor, rich), strict=True)
        if sources
    }
    chosen_from = read["poor"]["train"]
    if class_sources:
        counted = [s for s in class_sources if s.part == "train"] or class_sources
        chosen_from = [e for s in counted for e in s.examples()]
    classes = _classes(chosen_from, {side: parts["train"] for side, parts in read.items()}, settings)
    sides = {side: _clean(parts, classes, settings) for side, parts in read.items()}
    _cut_parts(sides["poor"], settings, classes)
    if "rich" in sides:
        _leave_out_held(sides["rich"], sides["poor"])
    random = np.random.default_rng(settings.seed)
    for side, size in zip(SIDES, (settings.poor_size, settings.rich_size), strict=True):
        if size and side in sides:
            _shrink(sides[side], size, settings.seed)
    if settings.shuffle_rich and "rich" in sides:
        labels = sides["rich"].labels
        labels["train"] = random.permutation(labels["train"]).tolist()
    for side, size in zip(SIDES, (settings.poor_size, settings.rich_size), strict=True):
        if side in sides:
            _check_classes(sides[side].labels["train"], classes, side, size)
    segmenters = {side: Segmenter.train(sides[side].texts["train"]) for side in settings.morphemes if side in sides}
    dictionary = _dictionary(sides, segmenters, settings)

    output.mkdir(parents=True, exist_ok=True)
    (output / MANIFEST).unlink(missing_ok=True)
    for stale in (f"{part}.{side}{end}" for part in PARTS for side in SIDES for end in (".tsv", ".bin", ".idx")):
        (output / stale).unlink(missing_ok=True)
    for side, segmenter in segmenters.items():
        segmenter.save(output / f"morphemes.{side}.txt")
    with atomic_text(output / "dict.txt") as stream:
        dictionary.save(stream)
    for side, found in sides.items():
        for part, texts in found.texts.items():
            names = [classes[label] for label in found.labels[part]]
            encoded = (encode(t, dictionary, settings.orders, segmenters.get(side)) for t in texts)
            write_corpus(output / f"{part}.{side}", names, texts, encoded, len(dictionary))
    manifest = {
        "version": VERSION,
        "languages": dict(zip(SIDES, settings.languages, strict=False)),
        "classes": classes,
        "orders": list(settings.orders),
        "lower": settings.lower,
        "minimum": settings.minimum,
        "morphemes": sorted(segmenters),
        "seed": settings.seed,
        "rich_labels_shuffled": settings.shuffle_rich,
        "units": len(dictionary) - dictionary.nspecial,
        "sentences": {s: {p: len(t) for p, t in found.texts.items()} for s, found in sides.items()},
        "left_out": {side: dict(found.left_out) for side, found in sides.items()},
    }
    with atomic_text(output / MANIFEST) as stream:
        json.dump(manifest, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    return manifest


def _classes(chosen_from: list[Example], examples: dict[str, list[Example]], settings: Settings) -> list[str]:
    counts = Counter(example.label for example in chosen_from)
    for found in examples.values() if settings.shared else ():
        known = {example.label for example in found}
        counts = Counter({label: count for label, count in counts.items() if label in known})
    if settings.classes:
        classes = list(settings.classes)
    elif settings.most_frequent:
        # Ties are broken by name, so that a run elsewhere has the same classes.
        classes = sorted(sorted(counts), key=lambda c: -counts[c])[: settings.most_frequent]
        if len(classes) < settings.most_frequent:
            raise InputError(
                f"--most-frequent {settings.most_frequent}: there are {len(classes)} classes to choose from"
                + _way_out(settings, examples)
            )
    else:
        classes = sorted(counts)
    if len(classes) < 2:
        raise InputError(f"a classifier needs two classes at least, but there is {', '.join(classes) or 'none'}")
    return classes


def _way_out(settings: Settings, examples: dict[str, list[Example]]) -> str:
    if settings.shared and len(examples) > 1:
        return ", which both languages have: take these (without --most-frequent), or the poor language alone"
    return ": take these (without --most-frequent)"


def _clean(parts: dict[str, list[Example]], classes: list[str], settings: Settings) -> _Side:
    """Parts that share no text: what is in test is in no other part, what is in valid not in train."""
    number = {name: i for i, name in enumerate(classes)}
    side = _Side()
    known: set[str] = set()
    for part in reversed(PARTS):
        kept = []
        for example in parts[part]:
            if example.label in number:
                kept.append((normalise(example.text, settings.lower), number[example.label]))
            elif settings.others == "error" and not settings.most_frequent:
                raise InputError(
                    f"{example.where}: the class {example.label!r} is none of {', '.join(classes)}: map it with "
                    "classes=FILE, or leave such texts out with --others drop"
                )
            else:
                side.left_out["other class"] += 1
        cleaned = unique(kept, known)
        known.update(cleaned.texts)
        side.left_out.update(cleaned.left_out)
        if cleaned.texts or part == "train":
            side.texts[part], side.labels[part] = cleaned.texts, cleaned.labels
    return side


def _cut_parts(side: _Side, settings: Settings, classes: list[str]) -> None:
    """Cut valid and test from train where no file gives them."""
    shares = {"valid": settings.valid_share, "test": settings.test_share}
    wanted = {part: share for part, share in shares.items() if share > 0 and part not in side.texts}
    if not wanted:
        return
    texts, labels = side.texts["train"], side.labels["train"]
    pieces = stratified([classes[label] for label in labels], list(wanted.values()), settings.seed)
    for part, piece in zip([*wanted, "train"], pieces, strict=True):
        side.texts[part] = [texts[i] for i in piece]
        side.labels[part] = [labels[i] for i in piece]


def _leave_out_held(rich: _Side, poor: _Side) -> None:
    """Leave what the poor language is validated and tested on out of the rich training text: one file may be both."""
    held = {text for part in ("valid", "test") for text in poor.texts.get(part, ())}
    texts, labels = rich.texts["train"], rich.labels["train"]
    kept = [i for i, text in enumerate(texts) if text not in held]
    rich.texts["train"], rich.labels["train"] = [texts[i] for i in kept], [labels[i] for i in kept]
    if len(kept) < len(texts):
        rich.left_out["in the poor language's valid or test"] = len(texts) - len(kept)


def _shrink(side: _Side, size: int, seed: int) -> None:
    kept = nested(side.labels["train"], size, seed)
    side.texts["train"] = [side.texts["train"][i] for i in kept]
    side.labels["train"] = [side.labels["train"][i] for i in kept]


def _check_classes(labels: list[int], classes: list[str], side: str, size: int) -> None:
    missing = sorted(set(range(len(classes))) - set(labels))
    if missing:
        names = ", ".join(classes[i] for i in missing)
        where = f"the {side} language's training text"
        if 0 < size < 2 * len(classes):
            raise InputError(f"{where} has no sentence of {names}: --{side}-size {size} is too small for every class")
        raise InputError(
            f"{where} has no sentence of {names}: choose the classes that both languages have with --classes, and "
            "--others drop"
        )


def _dictionary(sides: dict[str, _Side], segmenters: dict[str, Segmenter], settings: Settings) -> Dictionary:
    dictionary = Dictionary()
    for side, found in sides.items():
        segmenter = segmenters.get(side)
        for text in found.texts["train"]:
            for unit in ngrams(segmenter(text) if segmenter else text, settings.orders):
                dictionary.add_symbol(unit)
    dictionary.finalize(threshold=settings.minimum, padding_factor=1)
    if len(dictionary) == dictionary.nspecial:
        raise InputError(f"--minimum {settings.minimum}: no n-gram stands so often in the training text: lower it")
    return dictionary
