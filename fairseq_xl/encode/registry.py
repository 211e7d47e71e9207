"""Whatever turns sentences into vectors, by a word of a command line or of a configuration file.

    load_encoder("OUT/encoder").encode(["Ein Hund rennt."])    # (1, d)

A path names a model of this suite; KIND:NAME is one of :data:`KINDS`. A new kind is one line there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from fairseq_xl.encode.averaged import MEAN, Averaging
from fairseq_xl.io.errors import InputError

Encode = Callable[[Sequence[str]], np.ndarray]
"""From N sentences to (N, d)."""


@dataclass(frozen=True)
class TextEncoder:
    """An encoder and the word that named it."""

    spec: str
    vectors: Encode

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Vectors (N, d), float32 or what a file holds; zeros for a sentence of which the encoder knows nothing.

        Raises:
            InputError: what the encoder wants of its sentences; vectors that are not finite or of another number.
        """
        found = np.asarray(self.vectors(sentences))
        if found.ndim != 2 or len(found) != len(sentences):
            raise InputError(f"{self.spec} has shape {found.shape}, but there are {len(sentences)} sentences")
        finite = np.isfinite(found).all(axis=1)
        if not finite.all():
            raise InputError(f"the vector of sentence {int(np.argmin(finite)) + 1} holds NaN or infinity")
        return found


def load_encoder(spec: str, device: str | None = None, averaging: Averaging = MEAN) -> TextEncoder:
    """The encoder that a user named.

    Args:
        spec: an encoder folder or a checkpoint of this suite, or KIND:NAME, see :data:`KINDS`.
        device: such as ``cpu`` or ``cuda:1``; by default a GPU where there is one.
        averaging: of ``vectors`` alone: words, weights, and principal components to take away.

    Raises:
        InputError: as :func:`check_spec`; a model or file that cannot be read; a package that is missing.
    """
    kind, name = check_spec(spec)
    if not kind:
        from fairseq_xl import SentenceEncoder  # which registers with fairseq

        return TextEncoder(spec, SentenceEncoder.load(name, device).encode)
    return TextEncoder(spec, KINDS[kind][0](kind, name, device, averaging))


def check_spec(spec: str) -> tuple[str, str]:
    """Kind and name of an encoder; the kind of a model of this suite is ``""``.

    Raises:
        InputError: no such kind or path, or a kind without a name.
    """
    kind, _, name = spec.partition(":")
    if kind in KINDS:
        if not name:
            raise InputError(f"encoder {spec!r}: write {kind}:{KINDS[kind][1]}")
        return kind, name
    if not Path(spec).exists():
        raise InputError(f"there is no encoder {spec!r}: name a model's folder, a checkpoint, or {described()}")
    return "", spec


def described() -> str:
    """What can be named beside paths, for a sentence."""
    return ", ".join(f"{kind}:{name}" for kind, (_, name) in KINDS.items())


def _rows(kind: str, name: str, device: str | None, averaging: Averaging) -> Encode:
    """Rows of a .npy file, which are taken for the vectors of the sentences in their order."""
    from fairseq_xl.vectors.formats.npy import open_array

    if not Path(name).is_file():
        raise InputError(f"there is no {name} with the vectors of sentences: encode them")
    array = open_array(Path(name))
    if array.ndim != 2 or array.dtype.kind != "f":
        raise InputError(
            f"{name} holds an array of shape {array.shape} and type {array.dtype}: expected real numbers of shape "
            "(sentences, dimension)"
        )

    def encode(sentences: Sequence[str]) -> np.ndarray:
        if len(array) != len(sentences):
            raise InputError(f"{name} has {len(array)} rows, but there are {len(sentences)} sentences: encode these")
        return array

    return encode


def _vectors(kind: str, name: str, device: str | None, averaging: Averaging) -> Encode:
    return partial(averaging.encode, path=Path(name))


def _pretrained(kind: str, name: str, device: str | None, averaging: Averaging) -> Encode:
    from fairseq_xl.encode import pretrained  # torch takes a second

    if kind == "sentence-transformers":
        return pretrained.encode_sentence_transformer(name, device)
    return pretrained.encode_transformer(name, pretrained.POOLS[kind], device)


KINDS: dict[str, tuple[Callable[[str, str, str | None, Averaging], Encode], str]] = {
    "npy": (_rows, "FILE"),
    "vectors": (_vectors, "FILE"),
    "sentence-transformers": (_pretrained, "NAME"),
    "transformers": (_pretrained, "NAME"),
    "transformers-max": (_pretrained, "NAME"),
    "transformers-output": (_pretrained, "NAME"),
}
"""Kind -> what makes an :data:`Encode` of kind, name, device and averaging; what stands after the colon.

npy                    rows of an array from elsewhere: row n belongs to sentence n
vectors                the mean of word vectors, or SIF, of any file that ``fairseq-xl vectors`` reads
sentence-transformers  a model's name or folder
transformers           the same; average over the last states of a sentence's pieces
transformers-max       the same, maximum
transformers-output    the same, the model's own pooled output
"""
