"""The output layer of a trained translation model as word vectors.

Its softmax has learnt which words translation confuses. Text of the target language alone cannot show that. See
Tokarchuk & Niculae, On Target Representation in Continuous-output Neural Machine Translation, 2022.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints
from fairseq_xl.vectors.formats.checks import RowCheck
from fairseq_xl.vectors.table import WordVectors

# Names of the matrix before a softmax in our models and in fairseq's Transformers, LSTM and convolutions. The last name
# is the decoder's input. Some models share it with the output and store it once.
_LAYERS = (
    *("decoder.softmax_weight", "decoder.output_projection.weight", "decoder.fc_out.weight"),
    *("decoder.fc3.weight", "decoder.embed_tokens.weight"),
)
_OF_CONTINUOUS_MODELS = "targets.table"


def read_output_layer(path: str | Path, dictionary: str | Path, words: Collection[str]) -> WordVectors:
    """The rows (n, d) of those of ``words`` that the model has, in their order. Biases are left out.

    Args:
        path: a checkpoint that fairseq-train wrote, of a model with a softmax. Nothing in it is run.
        dictionary: the target dictionary it was trained with (dict.LANGUAGE.txt).
        words: words of the dictionary, ``</s>`` or ``<unk>``.

    Raises:
        InputError: The checkpoint is unusable or has no softmax. The dictionary is another one. A row has no direction.
    """
    from fairseq.data import Dictionary  # it takes seconds, and the package needs fairseq only here

    layers = checkpoints.read(path)["model"]
    if any(name.endswith(_OF_CONTINUOUS_MODELS) for name in layers):
        raise InputError(
            f"{path} predicts vectors and has no output layer of its own. Give a model with a softmax, or the file "
            "of vectors that this one was trained with"
        )
    symbols = Dictionary.load(str(dictionary))
    found = [layers[name] for name in _LAYERS if name in layers and layers[name].dim() == 2]
    if any(name.startswith("decoder.adaptive_softmax") for name in layers):
        found = []  # the words are spread over several matrices
    fitting = [layer for layer in found if len(layer) == len(symbols)]
    if not fitting:
        sizes = ", ".join(str(len(layer)) for layer in found)
        raise InputError(
            f"{path} has no output layer for the {len(symbols)} entries of {dictionary}"
            + (f" (its layers have {sizes}): give the target dictionary it was trained with" if sizes else "")
        )
    chosen = [word for word in dict.fromkeys(words) if word in symbols]
    rows = torch.tensor([symbols.index(word) for word in chosen], dtype=torch.long)
    matrix = fitting[0][rows].float().numpy()
    RowCheck(Path(path), lambda row: f"row {int(rows[row])} of the output layer").check(chosen, matrix)
    return WordVectors(chosen, matrix)
