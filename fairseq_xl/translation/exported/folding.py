"""A continuous output as an ordinary output layer.

The decoder's last states h (C) become the prediction e = s(W h + b) (d). Under the vMF posterior the logit of word w is
κ cos(û, u_w) = eᵀu_w, which is linear in h. With the table U (V, d), the rows of s U W and the numbers s U b are an
output layer (V, C). Whatever a model adds to a word's logit, such as a prior, adds to its bias. A temperature divides
all but the prior. The cosine ranks words as the posterior does, but divides by ‖e‖, which no output layer can.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.errors import InputError

NEVER = -1e9
"""The logit of a word that is never predicted."""


@dataclass(frozen=True)
class Output:
    """What turns a decoder's last states into scores, before it is folded; all arrays are float32.

    words: (V, d) vectors: a frozen table, or a softmax's weights
    banned: (V,) bool, words that are never predicted
    weight, bias: (d, C) and (d,), from states to predictions
    scale: the model's output scale over the temperature
    added: (V,) what is added to the logits
    """

    words: np.ndarray
    banned: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    scale: float
    added: np.ndarray

    def folded(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (V, C) and bias (V,) of the output layer."""
        scale = np.float32(self.scale)
        weight = self.words @ (scale * self.weight)
        bias = self.words @ (scale * self.bias) + self.added
        return weight, np.where(self.banned, NEVER, bias).astype(np.float32)


def save_folding(path: Path, output: Output, inputs: np.ndarray, body: dict[str, np.ndarray]) -> None:
    """Write what another table can be folded with.

    Args:
        path: the file.
        output: with the table.
        inputs: (C, d), from the table's vectors to what the decoder reads.
        body: all other weights, by name.
    """
    own = {"words": output.words, "banned": output.banned, "weight": output.weight, "bias": output.bias}
    arrays: dict[str, Any] = {**own, "scale": np.float32(output.scale), "inputs": inputs, **body}
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def load_folding(path: Path) -> tuple[Output, np.ndarray, dict[str, np.ndarray]]:
    """What :func:`save_folding` was given; nothing is added to the logits.

    Raises:
        InputError: another file.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            body = dict(arrays)
        own = {name: body.pop(name) for name in ("words", "banned", "weight", "bias")}
        output = Output(**own, scale=float(body.pop("scale")), added=np.zeros(len(own["words"]), np.float32))
        return output, body.pop("inputs"), body
    except (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({error}): export the model again") from None
