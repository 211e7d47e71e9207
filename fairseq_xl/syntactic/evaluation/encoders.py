"""What can be evaluated: ``[LABEL=]KIND[:ARGUMENT]``, a model of this suite, a baseline, or vectors from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import baselines, pretrained
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.tagging.tagged import TaggedText
from fairseq_xl.vectors.formats.npy import open_array

Texts = Sequence[TaggedText]


@dataclass(frozen=True)
class Encoder:
    """An encoder that was asked for.

    Attributes:
        label: the row of a table.
        spec: KIND[:ARGUMENT].
        embed: from texts to one matrix (N, d) for each.
    """

    label: str
    spec: str
    embed: Callable[[Texts], list[Matrix]]


def of_model(texts: Texts, path: str) -> list[Matrix]:
    """The embeddings of a model that ``fairseq_xl.SentenceEncoder`` loads."""
    from fairseq_xl import SentenceEncoder

    encoder = SentenceEncoder.load(path)
    return [encoder.encode(text.texts) for text in texts]


def of_files(texts: Texts, path: str) -> list[Matrix]:
    """Rows of .npy files, one for each row of each text; ``{name}`` in the path stands for the text's file name.

    Raises:
        InputError: one file for several texts; files that are missing, hold something else or not a text's number of
            rows.
    """
    matrices: list[Matrix] = []
    if len(texts) > 1 and "{name}" not in path:
        raise InputError(f"{path} cannot be the vectors of {len(texts)} texts: write {{name}} for their names")
    check_names(texts)
    for text in texts:
        file = Path(path.replace("{name}", text.name))
        if not file.is_file():
            raise InputError(f"there is no {file} with the vectors of {text.source}: encode that file's texts")
        array = open_array(file)
        if array.ndim != 2 or array.dtype.kind != "f":
            raise InputError(
                f"{file} holds an array of shape {array.shape} and type {array.dtype}: expected real numbers of "
                "shape (sentences, dimension)"
            )
        if len(array) != len(text):
            raise InputError(
                f"{file} has {len(array)} rows but {text.source} has {len(text)} sentences: encode that file again"
            )
        matrices.append(array)
    return matrices


def check_names(texts: Texts) -> None:
    """Raises: InputError: two texts whose files would have the same name."""
    known: dict[str, Path] = {}
    for text in texts:
        other = known.setdefault(text.name, text.source)
        if other != text.source:
            raise InputError(f"{other} and {text.source} are both called {text.name!r}: rename one of them")


# kind -> (function, what stands after the colon, one line of help)
KINDS: dict[str, tuple[Callable[..., list[Matrix]], str | None, str]] = {
    "model": (of_model, "PATH", "a model folder or checkpoint, as fairseq-xl embed text takes it"),
    "npy": (of_files, "PATTERN", "vectors from elsewhere: {name} stands for a text file's name without its ending"),
    "length": (baselines.length, None, "the number of words alone"),
    "tags": (baselines.bag_of_tags, None, "how often each tag occurs: it is told the tags, but not their order"),
    "characters": (baselines.characters, None, "TF-IDF of character n-grams"),
    "words": (baselines.mean_vectors, "FILE", "the mean of word vectors; {lang} stands for the language"),
    "transformers-max": (pretrained.pooled_max, "NAME", "a transformers model, maximum over the pieces' last states"),
    "transformers-average": (pretrained.pooled_average, "NAME", "the same, average"),
    "transformers-output": (pretrained.pooled_output, "NAME", "the same, the model's own pooled output"),
    "sentence-transformers": (pretrained.sentence_transformer, "NAME", "a sentence-transformers model"),
}


def parse_encoder(text: str) -> Encoder:
    """The encoder that a user named.

    Raises:
        InputError: no such kind, or an argument too many or too few.
    """
    head, _, _ = text.partition(":")
    label, equals, _ = head.partition("=")
    spec = text[len(label) + 1 :] if equals else text
    kind, colon, argument = spec.partition(":")
    if kind not in KINDS:
        raise InputError(f"there is no encoder {kind!r}: choose from {', '.join(KINDS)}")
    function, wanted, _ = KINDS[kind]
    if wanted is None and colon:
        raise InputError(f"encoder {spec!r}: {kind} takes nothing after it")
    if wanted is not None and not argument:
        raise InputError(f"encoder {spec!r}: write {kind}:{wanted}")

    def embed(texts: Texts) -> list[Matrix]:
        try:
            matrices = function(texts, argument) if argument else function(texts)
            for text, matrix in zip(texts, matrices, strict=True):
                _check(matrix, text)
        except InputError as error:
            raise InputError(f"{called}: {error}") from None
        return matrices

    called = label if equals else spec
    return Encoder(called, spec, embed)


def _check(matrix: Matrix, text: TaggedText) -> None:
    """Every number of an embedding must be finite; sparse ones are made here."""
    if isinstance(matrix, np.ndarray):
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise InputError(f"the vector of sentence {row + 1} of {text.source} holds NaN or infinity")
