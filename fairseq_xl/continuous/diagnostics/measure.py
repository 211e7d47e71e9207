"""Run a continuous model over a data set and measure it.

There are two settings, because Table 2 of Bhat, Kumar & Tsvetkov 2019 does not say which it has:

- *teacher forcing*: each prediction follows the reference's words before it. All other measurements use this setting
  too.
- *own decoding*: each prediction follows the words that greedy decoding (``fairseq-generate --beam 1``) chose. It is
  paired with the reference's word at the same position, up to the end of the shorter sentence. A translation that is
  good but worded or ordered otherwise counts as wrong from there on. Positions that only one of the two has are left
  out; how many words each has is reported.

The end of a sentence is a word in both.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.continuous.criteria.mixture import hinge_margin
from fairseq_xl.continuous.diagnostics import hubness
from fairseq_xl.continuous.diagnostics.accuracy import ACCURACIES, ErrorMargins, Geometry, Positions, look_up
from fairseq_xl.continuous.diagnostics.settings import Settings
from fairseq_xl.continuous.diagnostics.stability import SOURCES, Stability, negatives_of
from fairseq_xl.continuous.diagnostics.word_neighbours import SharedNeighbours, WordNeighbours
from fairseq_xl.continuous.models.loading import load_continuous_model, load_split
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.report.record import read_training


def diagnose(checkpoint: Path, data: Path, settings: Settings, device: str | None = None) -> dict[str, Any]:
    """What one checkpoint is, and all that is measured of it, as plain data.

    Args:
        checkpoint: of a continuous model.
        data: the data directory of fairseq-preprocess.
        settings: what to measure.
        device: such as ``cpu``; by default a GPU where there is one.

    Raises:
        InputError: no such checkpoint, folder or device; a model without vector outputs; see :func:`measure`.
    """
    model, task = load_continuous_model(checkpoint, data, device)
    training = read_training(checkpoint)
    criterion = training.options["criterion"]
    label = f"{checkpoint.name} on {settings.split}"
    return {
        "checkpoint": str(checkpoint),
        "criterion": criterion,
        "epoch": training.epoch,
        "updates": training.updates,
        **measure(model, task, settings, hinge_margin(criterion), label),
    }


def measure(model: Any, task: Any, settings: Settings, margin: float | None, label: str = "") -> dict[str, Any]:
    """Everything measured of a model on a split, as plain data.

    Args:
        model: with continuous outputs, in evaluation mode.
        task: its task.
        settings: see there.
        margin: of the hinge it was trained with, if any.
        label: of the progress bar.

    Raises:
        InputError: no such split, a word that the dictionary lacks, too few words for the accuracies or ``k``,
            predictions that are not finite.
    """
    dataset = load_split(task, settings.split)
    measured = _Measurements(model.decoder.targets, task.target_dictionary, settings, margin)
    batches = task.get_batch_iterator(
        dataset,
        max_tokens=settings.max_tokens,
        max_positions=(model.encoder.max_positions(), model.decoder.max_positions()),
        ignore_invalid_inputs=True,
    ).next_epoch_itr(shuffle=False)
    generator = task.build_generator([model], SimpleNamespace(beam=1))
    for sample in progress_bar(label, True, None, " batches", batches):
        measured.update(model, task, generator, sample)
    return {
        "languages": [task.cfg.source_lang, task.cfg.target_lang],
        "skipped_sentences": len(dataset) - measured.sentences,
        **measured.result(),
    }


class _Measurements:
    """Everything measured of one model, batch by batch."""

    def __init__(self, targets: TargetTable, dictionary: Any, settings: Settings, margin: float | None):
        self.targets, self.dictionary = targets, dictionary
        self.k, self.negatives = settings.top, settings.negatives
        self.near = max(settings.top, *ACCURACIES)
        words, size = len(targets.candidates()), len(targets.table)
        if words <= self.near:
            raise InputError(
                f"the model knows {words} words, too few for accuracy@{ACCURACIES[-1]} and the {settings.top} nearest "
                "others (-k)"
            )
        self.random = torch.Generator(targets.table.device).manual_seed(settings.seed)
        self.sentences = self.reference_words = self.hypothesis_words = 0
        self.forced, self.own = ErrorMargins(), ErrorMargins()
        self.geometry = Geometry()
        self.stability = {name: Stability(margin) for name in SOURCES}
        self.shared = SharedNeighbours()
        rows = [_row(word, dictionary) for word in settings.words]
        self.words = WordNeighbours(rows, targets)
        self.hubs = hubness.Occurrences(targets.candidates(), size)
        self.times = torch.zeros(size, dtype=torch.long)  # how often each word is a target

    @torch.no_grad()
    def update(self, model: Any, task: Any, generator: Any, sample: dict[str, Any]) -> None:
        from fairseq import utils

        if self.targets.table.is_cuda:
            sample = utils.move_to_cuda(sample)
        pred, _ = model(**sample["net_input"])
        is_word = sample["target"] != self.dictionary.pad()
        forced = self._look_up(pred[is_word], sample["target"][is_word])
        self.forced.update(forced)
        self.geometry.update(forced)
        sampled = negatives_of(forced, self.targets, self.negatives, self.random)
        for name, negative in sampled.items():
            self.stability[name].update(negative, forced)
        self.shared.update(forced, self.targets)
        self.words.update(forced)
        self.hubs.update(forced.words[:, : self.k])
        self.times += torch.bincount(forced.index.cpu(), minlength=len(self.times))

        pred, index, length = own_decoding(model, task, generator, sample)
        self.own.update(self._look_up(pred, index))
        self.sentences += len(sample["target"])
        self.reference_words += int(is_word.sum())
        self.hypothesis_words += length

    def _look_up(self, pred: Tensor, index: Tensor) -> Positions:
        if not torch.isfinite(pred).all():
            raise InputError("the model predicts numbers that are not finite: is its training sound?")
        index = self.targets.as_predicted(index, self.dictionary.unk())
        return look_up(pred, index, self.targets, self.near)

    def result(self) -> dict[str, Any]:
        symbols = self.dictionary.symbols
        return {
            "sentences": self.sentences,
            "reference_words": self.reference_words,
            "teacher_forcing": self.forced.result(),
            "own_decoding": {**self.own.result(), "hypothesis_words": self.hypothesis_words},
            "geometry": self.geometry.result(),
            "stability": {name: found.result() for name, found in self.stability.items()},
            "hubness": {
                "predictions": self.hubs.result(symbols),
                "targets": hubness.of_targets(self.targets, self.times, self.k).result(symbols),
                "table": hubness.of_table(self.targets, self.k).result(symbols),
            },
            "wrong_sharing_nearest_word": self.shared.result(),
            "words": self.words.result(self.targets, symbols, self.k),
        }


@torch.no_grad()
def own_decoding(model: Any, task: Any, generator: Any, sample: dict[str, Any]) -> tuple[Tensor, Tensor, int]:
    """Predictions of greedy decoding, paired by position with the reference.

    The finished translation is read by the model once more, which gives the predictions it was chosen by.

    Returns:
        raw predictions (N, d), their targets (N,), and the number of words decoded.
    """
    from fairseq.data.data_utils import collate_tokens

    pad, eos = task.target_dictionary.pad(), task.target_dictionary.eos()
    decoded = [best[0]["tokens"] for best in task.inference_step(generator, [model], sample)]
    said = collate_tokens(decoded, pad)
    source = {name: sample["net_input"][name] for name in ("src_tokens", "src_lengths")}
    before = collate_tokens(decoded, pad, eos, move_eos_to_beginning=True)
    pred, _ = model(**source, prev_output_tokens=before)
    reference = sample["target"]
    width = min(said.shape[1], reference.shape[1])
    both = (said[:, :width] != pad) & (reference[:, :width] != pad)
    return pred[:, :width][both], reference[:, :width][both], int((said != pad).sum())


def _row(word: str, dictionary: Any) -> int:
    row = dictionary.index(word)
    if row == dictionary.unk() and word != dictionary.unk_word:
        raise InputError(
            f"--words: {word!r} is not in the target dictionary: write words as the preprocessed data has them"
        )
    return row
