"""A continuous_lstm as two ONNX models, for programs with a search of their own: the encoder and one decoder step.

    encoder.onnx  tokens (N, S) -> states (N, S, C), padding (N, S), hidden and cell (N, layers, H), feed (N, H)
    decoder.onnx  previous (N), and what the encoder gave -> scores and words (N, K), attention (N, S), and the next
                  hidden, cell and feed
    steps.json    languages, text steps, indices of the special tokens, how words are scored, checksums
    dict.*.txt, truecaser.SOURCE, subwords.SOURCE.model  as in a model folder

``words`` are the K nearest, best first, and ``scores`` their log-probabilities. At first ``previous`` is the end of the
sentence. A program hands on what a step returns, and ends where a step gives the end of the sentence.
"""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder, digest
from fairseq_xl.io.packages import require
from fairseq_xl.losses import Scoring
from fairseq_xl.translation.exported.check import sentences
from fairseq_xl.translation.exported.options import Exporting
from fairseq_xl.translation.fairseq_search import FairseqTranslator
from fairseq_xl.translation.folder import dictionary_name, read_config
from fairseq_xl.translation.options import Decoding, VectorScores

CONFIG, ENCODER, DECODER = "steps.json", "encoder.onnx", "decoder.onnx"
VERSION = 2
WORDS = 20
"""How many a step gives: enough for beams of ten, which look at twice as many."""
TOLERANCE = 1e-4
STEPS = 20
"""How many are compared of each sentence."""
STATES = ("states", "padding", "hidden", "cell", "feed")


class Encoder(nn.Module):
    """What is done once for a source."""

    def __init__(self, model: ContinuousLSTM):
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        encoded = self.model.encoder(tokens)
        return encoded["states"], encoded["padding"], *self.model.decoder.first_state(encoded)


class WholeLSTM(nn.Module):
    """ONNX's own operator in place of an ``nn.LSTM`` of one layer and direction, from a state of zeros.

    torch's exporter unrolls an ``nn.LSTM`` to the length of its example. What this computes in torch is nothing: it is
    for the exporter alone.
    """

    inner: Tensor
    recurrent: Tensor
    bias: Tensor

    def __init__(self, lstm: nn.LSTM):
        super().__init__()
        self.hidden_dim = lstm.hidden_size
        inner, recurrent, *biases = map(self._ordered, lstm.all_weights[0])
        self.register_buffer("inner", inner)
        self.register_buffer("recurrent", recurrent)
        self.register_buffer("bias", torch.cat(biases, 1))

    @staticmethod
    def _ordered(weight: Tensor) -> Tensor:
        """(1, 4H, …) in ONNX's order of gates: input, output, forget, cell."""
        let_in, forget, new, let_out = weight.detach().chunk(4)
        return torch.cat([let_in, let_out, forget, new]).unsqueeze(0)

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """Hidden states (T, N, H) from x (T, N, C)."""
        shape = (x.shape[0], 1, x.shape[1], self.hidden_dim)
        inputs = (x, self.inner, self.recurrent, self.bias)
        made = torch.onnx.ops.symbolic("LSTM", inputs, {"hidden_size": self.hidden_dim}, dtype=x.dtype, shape=shape)
        return made.squeeze(1), None


def for_the_exporter(encoder: Encoder) -> Encoder:
    """A copy whose recurrence keeps any length."""
    made = copy.deepcopy(encoder)
    lstm = made.model.encoder.lstm
    for name in ("forwards", "backwards"):
        setattr(lstm, name, nn.ModuleList(map(WholeLSTM, getattr(lstm, name))))
    return made


class Step(nn.Module):
    """One step of the decoder, with the search for the nearest words.

    Args:
        model: one with vectors or a softmax.
        temperature: divides the logits, as ``--temperature`` of fairseq does.
    """

    never: Tensor
    penalty: Tensor | None
    bonus: Tensor | None

    def __init__(self, model: ContinuousLSTM, temperature: float = 1.0):
        super().__init__()
        decoder = model.decoder
        self.decoder = decoder
        self.temperature = temperature
        never = torch.zeros(len(decoder.dictionary), dtype=torch.bool)
        never[decoder.dictionary.pad()] = True  # which a search never writes
        penalty = bonus = None
        if decoder.scorer is not None:
            never |= decoder.targets.banned
            penalty, bonus = decoder.scorer.penalty(decoder.targets), decoder.scorer.word_bonus(decoder.targets)
        self.register_buffer("never", never)
        self.register_buffer("penalty", penalty)
        self.register_buffer("bonus", bonus)
        self.count = min(WORDS, int((~never).sum()))

    def forward(
        self, previous: Tensor, states: Tensor, padding: Tensor, hidden: Tensor, cell: Tensor, feed: Tensor
    ) -> tuple[Tensor, ...]:
        """Of N sentences; see this module."""
        x = self.decoder.read(previous.unsqueeze(1))
        features, weights, after = self.decoder.recurrence(x, (hidden, cell, feed), states, padding)
        scores, words = self._logits(self.decoder.output_layer(features)[:, 0]).log_softmax(-1).topk(self.count)
        return scores, words, weights[:, 0], *after

    def _logits(self, output: Tensor) -> Tensor:
        scorer, targets = self.decoder.scorer, self.decoder.targets
        if scorer is None:
            logits = output.float() / self.temperature
        else:
            scoring = Scoring(scorer.score, scorer.scale, self.temperature, self.penalty, self.bonus)
            unit, sharpness = scoring.unit_and_sharpness(output)
            logits = scoring.logits(unit @ targets.table.t(), sharpness, slice(None))
        return logits.masked_fill(self.never, -torch.inf)


def export(exporting: Exporting, options: Decoding) -> list[str]:
    """Write a model's two parts, once they have been seen to compute the same step by step.

    Args:
        exporting: what is written.
        options: how vectors score words, and the temperature; they go before the model folder's own.

    Returns:
        sentences that say how the two compare.

    Raises:
        InputError: no model folder; a model or an option that cannot be exported; parts that compute something else;
            an output that cannot be written.
    """
    for package in ("onnx", "onnxscript", "onnxruntime"):
        require(package, "onnx", "ONNX export")
    _refuse_options(exporting, options)
    config = read_config(exporting.model)
    original = FairseqTranslator.open(exporting.model, "cpu", 2000, options.given())
    model = _exportable(original, exporting.model)
    temperature = float(options.temperature or config.options.get("temperature") or 1.0)
    encoder, step = Encoder(model).eval(), Step(model, temperature).eval()
    source, target = original.task.source_dictionary, original.task.target_dictionary
    sources = _indices(original, exporting.sentences)
    described = {
        "version": VERSION,
        **config.steps(),
        "source": {"pad": source.pad(), "eos": source.eos(), "unk": source.unk()},
        "target": {"eos": target.eos(), "unk": target.unk()},
        "decode_score": "softmax" if model.decoder.scorer is None else model.decoder.scorer.score,
        "temperature": temperature,
        "words": step.count,
    }
    with atomic_folder(exporting.output, CONFIG, "an ONNX export") as folder:
        _write(folder, encoder, step, pad_sequence(sources[:3], True, source.pad()))
        worst = _compare(folder, encoder, step, sources, source.pad(), target.eos())
        names = (dictionary_name(config.source_lang), dictionary_name(config.target_lang), *config.step_files())
        for name in names:
            shutil.copyfile(exporting.model / name, folder / name)
        described["files"] = {path.name: digest(path) for path in sorted(folder.iterdir())}
        write_json(folder / CONFIG, described, indent=2, ensure_ascii=False)
    return [f"{len(sources)} sentences step by step: log-probabilities and states differ by {worst:.1e} at most"]


def _refuse_options(exporting: Exporting, options: Decoding) -> None:
    kept = {"temperature", *(each.name for each in fields(VectorScores))}
    for name in options.given():
        if name not in kept:
            raise InputError(f"{name}: an ONNX export holds the model, and its search is your program's: leave it out")
    if exporting.compute_type not in (None, "float32"):
        raise InputError(f"compute_type {exporting.compute_type} is for --format ctranslate2: leave it out")


def _exportable(original: FairseqTranslator, folder: Path) -> ContinuousLSTM:
    """Raises: InputError: an ensemble, another model, a score that is none over the words of one step."""
    if len(original.models) > 1:
        raise InputError(f"{folder} is an ensemble of {len(original.models)} models: give one of them")
    (model,) = original.models
    if not isinstance(model, ContinuousLSTM):
        raise InputError(
            f"a {type(model).__name__} is not exported to ONNX, only a continuous_lstm is: for a "
            "continuous_transformer say --format ctranslate2"
        )
    if model.decoder.scorer is not None and model.decoder.scorer.score == "vmf_density":
        raise InputError("decode_score vmf_density is not exported: say vmf_posterior, which ranks words alike")
    return model


def _indices(original: FairseqTranslator, path: Path | None) -> list[Tensor]:
    """Sources to compare by, the longest first, as the encoder reads them."""
    rows = sentences(original, path)
    batch = original.sample(rows)["net_input"]
    return [row[:length] for row, length in zip(batch["src_tokens"], batch["src_lengths"].tolist(), strict=True)]


def _write(folder: Path, encoder: Encoder, step: Step, tokens: Tensor) -> None:
    sizes = {"n": torch.export.Dim("n"), "s": torch.export.Dim("s")}
    rows, columns = {0: sizes["n"]}, {0: sizes["n"], 1: sizes["s"]}
    with torch.inference_mode():
        encoded = encoder(tokens)
    # What a step reads is cloned, for tensors made in inference mode cannot be traced.
    given = (torch.full((len(tokens),), int(tokens[0, -1])), *(part.clone() for part in encoded))
    shapes = (rows, columns, columns, rows, rows, rows)
    parts: list[tuple[str, nn.Module, tuple[Tensor, ...], Any, list[str], list[str]]] = [
        (ENCODER, for_the_exporter(encoder), (tokens,), (columns,), ["tokens"], list(STATES)),
        (
            *(DECODER, step, given, shapes, ["previous", *STATES]),
            ["scores", "words", "attention", *(f"next_{name}" for name in STATES[2:])],
        ),
    ]
    for name, module, example, dynamic, inputs, outputs in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch's own plans
            torch.onnx.export(
                module,
                example,
                str(folder / name),
                input_names=inputs,
                output_names=outputs,
                dynamic_shapes=dynamic,
                dynamo=True,
                external_data=False,
                verbose=False,
            )


def _compare(folder: Path, encoder: Encoder, step: Step, sources: list[Tensor], pad: int, eos: int) -> float:
    """The largest difference of a log-probability or a state, over batches of several sizes.

    It is relative where values are above 1, since a sharp score's logits are in the thousands.

    Raises:
        InputError: more than 1e-4.
    """
    ours = [_session(folder / name) for name in (ENCODER, DECODER)]
    worst = 0.0
    for size in (1, 7):
        for first in range(0, len(sources), size):
            tokens = pad_sequence(sources[first : first + size], True, pad)
            worst = float(np.maximum(worst, _difference(ours, encoder, step, tokens, eos)))
            if size == 1 and first >= 6:  # enough that are alone
                break
    if not worst <= TOLERANCE:
        raise InputError(f"the export was not written: its steps differ from the model's by {worst:.1e}")
    return worst


def _session(path: Path) -> Callable[..., list[np.ndarray]]:
    onnxruntime = require("onnxruntime", "onnx", "ONNX export")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    return lambda *values: session.run(None, dict(zip(names, values, strict=True)))


@torch.inference_mode()
def _difference(ours: list[Any], encoder: Encoder, step: Step, tokens: Tensor, eos: int) -> float:
    found, expected = ours[0](tokens.numpy()), encoder(tokens)
    worst = _worst(found, expected)
    previous = torch.full((len(tokens),), eos)
    for _ in range(STEPS):
        made, wanted = ours[1](previous.numpy(), *found), step(previous, *expected)
        # Words that are equally probable up to rounding may change places: scores are compared, not words.
        worst = float(np.maximum(worst, _worst([made[0], *made[2:]], [wanted[0], *wanted[2:]])))
        found, expected = [*found[:2], *made[3:]], (*expected[:2], *wanted[3:])
        previous = wanted[1][:, 0]
    return worst


def _worst(found: list[np.ndarray], expected: Any) -> float:
    pairs = ((one.astype(float), other.double().numpy()) for one, other in zip(found, expected, strict=True))
    # NaN stays, as it would not with max(). The bound of the divisor keeps −∞ on one side alone from being it.
    return float(np.max([(np.abs(one - other) / np.clip(np.abs(other), 1, 1e30)).max() for one, other in pairs]))
