"""What can be evaluated: ``[LABEL=]ENCODER``, a baseline or whatever :mod:`fairseq_xl.encode.registry` knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.encode import registry
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText

if TYPE_CHECKING:
    from fairseq_xl.syntactic.evaluation.cosines import Matrix

Texts = Sequence[TaggedText]
BASELINES = {
    "length": "the number of words of the raw text alone",
    "tags": "how often each tag occurs: it is told the tags, but not their order",
    "characters": "TF-IDF of character n-grams",
}
"""What the functions of those names in :mod:`.baselines` embed a sentence by."""

KINDS = (
    f"{', '.join(BASELINES)}, the folder or the checkpoint of a model, {registry.described()}. In a name {{name}} "
    "stands for a text file's name without its ending, and {lang} for its language"
)
"""What can be named, for the help of a command."""


@dataclass(frozen=True)
class Encoder:
    """An encoder that was asked for.

    Attributes:
        label: the row of a table.
        spec: what was asked for, without the label.
        embed: from texts to one matrix (N, d) for each.
    """

    label: str
    spec: str
    embed: Callable[[Texts], list[Matrix]]


def parse_encoder(text: str) -> Encoder:
    """The encoder that a user named.

    What stands before the first ``=`` (and before any ``:``) is the label. A word that is as a whole the path of
    something there has none, such as ``runs/lr=0.1/checkpoint.pt``.

    Raises:
        InputError: no such baseline, kind or path, or a kind without a name.
    """
    head, _, _ = text.partition(":")
    label, equals, _ = head.partition("=")
    labelled = bool(equals) and not os.path.exists(text)
    spec = text[len(label) + 1 :] if labelled else text
    called = label if labelled else spec
    if spec in BASELINES:
        return Encoder(called, spec, lambda texts: _baseline(spec)(texts))
    if spec.partition(":")[0] in BASELINES:
        raise InputError(f"encoder {spec!r}: {spec.partition(':')[0]} takes nothing after it")
    if "{" not in spec:
        try:
            registry.check_spec(spec)
        except InputError as error:
            raise InputError(f"{error}, {', '.join(BASELINES)}") from None
    return Encoder(called, spec, lambda texts: _embed(called, spec, texts))


TRANSFORMS = {"center": "centred", "whiten": "whitened"}
"""Steps of :class:`fairseq_xl.vectors.transform.Transformation`, and how a row says that they were taken."""


def transformed(encoder: Encoder, step: str) -> Encoder:
    """The encoder with the vectors of each text centred or whitened by themselves, so that what all sentences of a
    language share does not count.

    Args: step: one of TRANSFORMS.
    """

    def embed(texts: Texts) -> list[Matrix]:
        import numpy as np

        from fairseq_xl.vectors.table import WordVectors
        from fairseq_xl.vectors.transform import Transformation, transform

        made: list[Matrix] = []
        for text, matrix in zip(texts, encoder.embed(texts), strict=True):
            if not isinstance(matrix, np.ndarray):
                raise InputError(f"{encoder.label} has sparse vectors on {text.source.name}: leave out --transform")
            table = WordVectors([str(row) for row in range(len(matrix))], matrix)
            made.append(transform(table, Transformation(**{step: True})).matrix)
        return made

    return Encoder(f"{encoder.label}, {TRANSFORMS[step]}", f"{encoder.spec}, {step}", embed)


def _baseline(name: str) -> Callable[[Texts], list[Matrix]]:
    from fairseq_xl.syntactic.evaluation import baselines

    return getattr(baselines, name)


def _embed(label: str, spec: str, texts: Texts) -> list[Matrix]:
    """One matrix for each text, by an encoder that is loaded once for all texts that have the same."""
    load = cache(registry.load_encoder)
    matrices: list[Matrix] = []
    place = label
    try:
        if spec.startswith("npy:"):
            check_names(texts)
            if len(texts) > 1 and "{name}" not in spec:
                raise InputError(f"one array is not the vectors of {len(texts)} texts: write {{name}} for their names")
        for text in texts:
            place = f"{label}, on {text.source.name}"
            encoder = load(spec.replace("{name}", text.name).replace("{lang}", text.language))
            matrices.append(encoder.encode(text.texts))
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return matrices


def check_names(texts: Texts) -> None:
    """Raises: InputError: two texts whose files would have the same name."""
    known: dict[str, Path] = {}
    for text in texts:
        other = known.setdefault(text.name, text.source)
        if other != text.source:
            raise InputError(f"{other} and {text.source} are both called {text.name!r}: rename one of them")
