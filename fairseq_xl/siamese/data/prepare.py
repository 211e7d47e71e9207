"""From labelled files to a data directory: clean, split, count n-grams, encode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.io.atomic import atomic_text, write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.labelled import Example, Source
from fairseq_xl.io.tables import SPLITS
from fairseq_xl.siamese.data.directory import DICTIONARY, MANIFEST, VECTORS, VERSION, encode, write_corpus
from fairseq_xl.siamese.data.morphemes import Segmenter
from fairseq_xl.siamese.data.ngram_vectors import NgramVectors
from fairseq_xl.siamese.data.settings import Settings
from fairseq_xl.siamese.data.word_for_word import HighResourceSource
from fairseq_xl.text.ngrams import ngrams, normalise
from fairseq_xl.text.splits.labelled import nested, stratified, unique

Examples = Mapping[str, list[Example]]
"""By split."""


@dataclass
class _Side:
    """Normalised texts and class numbers by split, and what was left out."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, list[int]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def keep(self, numbers: list[int]) -> None:
        """Keep these training texts alone."""
        self.texts["train"] = [self.texts["train"][i] for i in numbers]
        self.labels["train"] = [self.labels["train"][i] for i in numbers]


def prepare(output: Path, settings: Settings) -> dict[str, Any]:
    """Write the directory, wholly or not at all, and return its manifest.

    Raises:
        InputError: whatever is wrong with the files, their labels, or the sizes asked for; a directory that cannot be
            written, or that holds something else.
    """
    settings.check()
    with atomic_folder(output, MANIFEST, "a data directory of fairseq-xl classify prepare") as folder:
        return _prepare(folder, settings)


def _prepare(folder: Path, settings: Settings) -> dict[str, Any]:
    examples = {"low": _read(settings.low_resource)}
    if settings.high_resource:
        examples["high"] = _read_high(settings)
    classes = _classes(examples, settings)
    sides = {side: _clean(found, classes, settings) for side, found in examples.items()}
    low, high = sides["low"], sides.get("high")
    _cut_splits(low, settings, classes)
    if high:
        _leave_out_held(high, low)
    for side, found in sides.items():
        if size := settings.size(side):
            if size > (there := len(found.labels["train"])):
                raise InputError(
                    f"--{side}-resource-size {size} is more than the {there} sentences of the training text: give at "
                    "most as many"
                )
            found.keep(nested(found.labels["train"], size, settings.seed))
    if high and settings.shuffle_high_resource:
        random = np.random.default_rng(settings.seed)
        high.labels["train"] = random.permutation(high.labels["train"]).tolist()
    for side, found in sides.items():
        _check_classes(found.labels["train"], classes, side, settings.size(side))
    segmenters = {side: Segmenter.train(sides[side].texts["train"]) for side in settings.morphemes if side in sides}
    dictionary = _dictionary(sides, segmenters, settings)
    vectors = _vectors(sides, segmenters, dictionary, settings)
    manifest = {
        "version": VERSION,
        "languages": dict(zip(sides, settings.languages, strict=False)),
        "classes": classes,
        "ngrams": settings.ngrams,
        "lower": settings.lower,
        "min_count": settings.min_count,
        "morphemes": sorted(segmenters),
        "seed": settings.seed,
        "high_resource_labels_shuffled": settings.shuffle_high_resource,
        "lexicon": _lexicon(settings),
        "vectors": {} if vectors is None else _about(vectors, settings),
        "units": len(dictionary) - dictionary.nspecial,
        "sentences": {side: {split: len(t) for split, t in found.texts.items()} for side, found in sides.items()},
        "left_out": {side: dict(found.left_out) for side, found in sides.items()},
    }
    if vectors is not None:
        np.save(folder / VECTORS, vectors)
    _write(folder, manifest, sides, segmenters, dictionary)
    return manifest


def _write(
    output: Path,
    manifest: dict[str, Any],
    sides: Mapping[str, _Side],
    segmenters: Mapping[str, Segmenter],
    dictionary: Dictionary,
) -> None:
    for side, segmenter in segmenters.items():
        segmenter.save(output / f"morphemes.{side}.txt")
    with atomic_text(output / DICTIONARY) as stream:
        dictionary.save(stream)
    for side, found in sides.items():
        for split, texts in found.texts.items():
            names = [manifest["classes"][label] for label in found.labels[split]]
            encoded = (encode(text, dictionary, manifest["ngrams"], segmenters.get(side)) for text in texts)
            write_corpus(output / f"{split}.{side}", names, texts, encoded, len(dictionary))
    write_json(output / MANIFEST, manifest, indent=1, ensure_ascii=False)


def _vectors(
    sides: Mapping[str, _Side], segmenters: Mapping[str, Segmenter], dictionary: Dictionary, settings: Settings
) -> np.ndarray | None:
    """Where n-gram embeddings are to begin, or None."""
    if not settings.vectors:
        return None
    if len(settings.vectors) > 1 and _lexicon(settings) != "none":
        raise InputError(
            "--vectors of the high-resource language and its lexicon=FILE exclude each other: a translated text has no "
            "words of its language"
        )
    means = NgramVectors(dictionary, settings.ngrams)
    for (side, found), path in zip(sides.items(), settings.vectors, strict=False):
        shuffled = settings.seed if settings.shuffle_vectors and side == "high" else None
        means.add(found.texts["train"], Path(path), segmenters.get(side), shuffled)
    return means.rows()


def _about(vectors: np.ndarray, settings: Settings) -> dict[str, Any]:
    """What the manifest says of n-gram vectors: their dimension, how many n-grams have one, whether they are dealt."""
    known = int(vectors.any(1).sum())
    return {"dim": vectors.shape[1], "units": known, "shuffled": settings.shuffle_vectors}


def _read(lines: list[str]) -> dict[str, list[Example]]:
    sources = [Source.parse(line) for line in lines]
    return {split: [e for s in sources if s.split == split for e in s.examples()] for split in SPLITS}


def _lexicon(settings: Settings) -> str:
    """What the manifest says of the high-resource words: as they are, translated, or shuffled."""
    if settings.shuffle_lexicon:
        return "shuffled"
    sources = [HighResourceSource.parse(line) for line in settings.high_resource]
    return "translated" if any("lexicon" in source.options for source in sources) else "none"


def _read_high(settings: Settings) -> dict[str, list[Example]]:
    """The high-resource language's texts, translated word for word where they are to be."""
    sources = [HighResourceSource.parse(line) for line in settings.high_resource]
    if settings.shuffle_lexicon and not any("lexicon" in source.options for source in sources):
        raise InputError("--shuffle-lexicon: no --high-resource source names a lexicon=FILE")
    shuffled = settings.seed if settings.shuffle_lexicon else None
    return {split: [e for s in sources if s.split == split for e in s.translated(shuffled)] for split in SPLITS}


def _classes(examples: Mapping[str, Examples], settings: Settings) -> list[str]:
    """The classes' names; of ``class_source`` those of its training text, or all where none of it is for training."""
    train = {side: found["train"] for side, found in examples.items()}
    chosen_from = train["low"]
    if settings.class_source:
        others = _read(settings.class_source)
        chosen_from = others["train"] or [example for found in others.values() for example in found]
    counts = Counter(example.label for example in chosen_from)
    for found in train.values() if settings.shared else ():
        known = {example.label for example in found}
        counts = Counter({label: count for label, count in counts.items() if label in known})
    if settings.classes:
        classes = list(settings.classes)
    elif settings.most_frequent:
        # Ties are broken by name, so that a run elsewhere has the same classes.
        classes = sorted(sorted(counts), key=lambda c: -counts[c])[: settings.most_frequent]
        if len(classes) < settings.most_frequent:
            way_out = ": take these (without --most-frequent)"
            if settings.shared and len(examples) > 1:
                way_out = f", which both languages have{way_out}, or the low-resource language alone"
            raise InputError(
                f"--most-frequent {settings.most_frequent}: there are {len(classes)} classes to choose from{way_out}"
            )
    else:
        classes = sorted(counts)
    if len(classes) < 2:
        raise InputError(f"a classifier needs two classes at least, but there is {', '.join(classes) or 'none'}")
    return classes


def _clean(examples: Examples, classes: list[str], settings: Settings) -> _Side:
    """Splits that share no text: what is in test is in no other, what is in valid not in train."""
    number = {name: i for i, name in enumerate(classes)}
    side = _Side()
    known: set[str] = set()
    for split in reversed(SPLITS):
        kept = []
        for example in examples[split]:
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
        if cleaned.texts or split == "train":
            side.texts[split], side.labels[split] = cleaned.texts, cleaned.labels
    return side


def _cut_splits(side: _Side, settings: Settings, classes: list[str]) -> None:
    """Cut valid and test from train where no file gives them."""
    shares = {"valid": settings.valid_share, "test": settings.test_share}
    wanted = {split: share for split, share in shares.items() if share > 0 and split not in side.texts}
    if not wanted:
        return
    texts, labels = side.texts["train"], side.labels["train"]
    pieces = stratified([classes[label] for label in labels], list(wanted.values()), settings.seed)
    for split, piece in zip([*wanted, "train"], pieces, strict=True):
        side.texts[split] = [texts[i] for i in piece]
        side.labels[split] = [labels[i] for i in piece]


def _leave_out_held(high: _Side, low: _Side) -> None:
    """Leave what the low-resource language is validated and tested on out of the other's training text.

    One file may be both.
    """
    held = {text for split in ("valid", "test") for text in low.texts.get(split, ())}
    texts = high.texts["train"]
    kept = [i for i, text in enumerate(texts) if text not in held]
    if len(kept) < len(texts):
        high.left_out["in the low-resource language's valid or test"] = len(texts) - len(kept)
        high.keep(kept)


def _check_classes(labels: list[int], classes: list[str], side: str, size: int) -> None:
    missing = sorted(set(range(len(classes))) - set(labels))
    if missing:
        names = ", ".join(classes[i] for i in missing)
        where = f"the {side}-resource language's training text"
        if 0 < size < 2 * len(classes):
            raise InputError(
                f"{where} has no sentence of {names}: --{side}-resource-size {size} is too small for every class"
            )
        raise InputError(
            f"{where} has no sentence of {names}: choose the classes that both languages have with --classes, and "
            "--others drop"
        )


def _dictionary(sides: Mapping[str, _Side], segmenters: Mapping[str, Segmenter], settings: Settings) -> Dictionary:
    dictionary = Dictionary()
    for side, found in sides.items():
        segmenter = segmenters.get(side)
        for text in found.texts["train"]:
            for unit in ngrams(segmenter(text) if segmenter else text, settings.ngrams):
                dictionary.add_symbol(unit)
    dictionary.finalize(threshold=settings.min_count, padding_factor=1)
    if len(dictionary) == dictionary.nspecial:
        raise InputError(f"--min-count {settings.min_count}: no n-gram stands so often in the training text: lower it")
    return dictionary
