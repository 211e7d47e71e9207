"""An encoder as an ONNX model, for programs without torch."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fairseq_xl.encode.encoder import SentenceEncoder
from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.io.packages import require

TOLERANCE = 1e-4
_OPSET = 17


class _Encoder(nn.Module):
    """``encode_sentences`` as torch's exporter wants it: as ``forward``."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        return self.model.encode_sentences(tokens, lengths)


def export(encoder: SentenceEncoder, output: Path) -> float:
    """Write the model and run it with onnxruntime on batches of other sizes than it was traced with.

    Args:
        encoder: on the CPU.
        output: the file; from ``tokens`` (N, T) and ``lengths`` (N,), int64, to ``embeddings`` (N, d) float32.

    Returns:
        the largest difference from the model's own vectors.

    Raises:
        InputError: onnxruntime is not installed; a model that ONNX has no words for; a difference of more than 1e-4;
            an output that cannot be written.
    """
    require("onnx", "onnx", "ONNX export")  # torch's exporter imports it
    onnxruntime = require("onnxruntime", "onnx", "ONNX export")
    with atomic_outputs(output) as (temporary,):
        with warnings.catch_warnings():
            # Of torch's plans for its exporter, and of fixed sizes, which are tested below.
            warnings.simplefilter("ignore")
            try:
                torch.onnx.export(
                    _Encoder(encoder.model).eval(),
                    _batch(encoder, [5, 3]),
                    utf8_name(temporary),
                    input_names=["tokens", "lengths"],
                    output_names=["embeddings"],
                    dynamic_axes={"tokens": {0: "n", 1: "t"}, "lengths": {0: "n"}, "embeddings": {0: "n"}},
                    opset_version=_OPSET,
                    dynamo=False,
                )
            except torch.onnx.OnnxExporterError as error:
                raise _not_for_onnx(error) from None
        refusals = onnxruntime.capi.onnxruntime_pybind11_state
        try:
            session = onnxruntime.InferenceSession(utf8_name(temporary), providers=["CPUExecutionProvider"])
            worst = 0.0
            for lengths in ([1], [7, 2, 7, 1, 4], [min(40, encoder.longest)] * 3, [2] * 33):
                tokens, counts = _batch(encoder, lengths)
                given = {"tokens": tokens.numpy(), "lengths": counts.numpy()}
                (found,) = session.run(None, {each.name: given[each.name] for each in session.get_inputs()})
                with torch.inference_mode():
                    expected = encoder.model.encode_sentences(tokens, counts).numpy()
                worst = float(np.maximum(worst, np.abs(found - expected).max()))  # max() would pass NaN over
        except (refusals.Fail, refusals.InvalidGraph) as error:  # the exporter fixed a size, or took a type amiss
            raise _not_for_onnx(error) from None
        if not worst <= TOLERANCE:
            raise InputError(
                f"the ONNX model differs from the model by {worst:.1e}, so {output} was not written: this version of "
                "torch cannot export it"
            )
    return worst


def _not_for_onnx(error: Exception) -> InputError:
    return InputError(f"a model of this kind cannot be written as ONNX ({error}): use fairseq-xl embed text")


def _batch(encoder: SentenceEncoder, lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Random tokens (N, T) that end and are padded as sentences are, and their lengths (N,)."""
    dictionary = encoder.task.source_dictionary
    lengths = [length * getattr(encoder.task, "tokens_of_a_place", 1) for length in lengths]
    draw = torch.Generator().manual_seed(1)
    shape = (len(lengths), max(lengths))
    tokens = torch.randint(dictionary.nspecial, len(dictionary), shape, generator=draw)
    counts = torch.tensor(lengths)
    places = torch.arange(shape[1]).expand(shape)
    tokens[places == counts.unsqueeze(1) - 1] = dictionary.eos()
    tokens[places >= counts.unsqueeze(1)] = dictionary.pad()
    return tokens, counts
