"""``--task upos_translation``: from sentences of many languages to the tags of their translations."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.logging import metrics
from fairseq.logging.meters import MetersDict
from fairseq.tasks import FairseqTask, register_task
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.dataset import MixedPairs, PairData, Sampling
from fairseq_xl.syntactic.data.directory import MANIFEST, Manifest, Pair, read_manifest
from fairseq_xl.syntactic.data.filters import tidy
from fairseq_xl.syntactic.data.sides import load_dictionary, load_side
from fairseq_xl.syntactic.models.config import UposTranslationConfig
from fairseq_xl.syntactic.models.criterion import BY_PAIR
from fairseq_xl.text import subwords


@register_task("upos_translation", dataclass=UposTranslationConfig)
class UposTranslationTask(FairseqTask):
    """Any number of pairs in one run, with one dictionary of source pieces and one of targets.

    Validation logs accuracy and loss of all tags together, and ``accuracy_SRC-TGT`` and ``loss_SRC-TGT`` of each pair.
    ``mean_accuracy`` and ``mean_loss`` give every pair the same weight. Choose checkpoints by
    ``--best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric``.
    """

    def __init__(
        self, cfg: UposTranslationConfig, folder: Path, manifest: Manifest, source: Dictionary, target: Dictionary
    ):
        super().__init__(cfg)
        self.folder = folder
        self.manifest = manifest
        self.pairs: tuple[Pair, ...] = manifest.chosen(str(cfg.target), cfg.pairs.split(",") if cfg.pairs else ())
        self.languages = manifest.languages
        self._source, self._target = source, target

    @classmethod
    def setup_task(cls, cfg: UposTranslationConfig, **_: Any) -> UposTranslationTask:
        """Raises: InputError: no data directory, or a damaged one; options that do not fit it."""
        if not cfg.data:
            raise InputError("name the folder that `fairseq-xl embed prepare` made")
        if not cfg.sampling_temperature > 0:  # NaN, too; infinity gives every pair the same share
            raise InputError(
                f"--sampling-temperature is {cfg.sampling_temperature}: give a number above 0, where 1 is no change"
            )
        if cfg.sentences_per_pair < 0:
            raise InputError(f"--sentences-per-pair is {cfg.sentences_per_pair}: give 0 (all) or more")
        if cfg.own_share is not None and not 0 < cfg.own_share < 1:
            raise InputError(f"--own-share is {cfg.own_share}: give a number between 0 and 1, such as 0.5")
        folder = Path(cfg.data)
        manifest = read_manifest(folder)
        target = str(cfg.target)
        if target not in manifest.targets:
            raise InputError(f"{cfg.data} has no targets of the kind {target!r}")
        names = manifest.source_dictionary, manifest.targets[target]
        source, predicted = (load_dictionary(folder / name) for name in names)
        return cls(cfg, folder, manifest, source, predicted)

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's. A checkpoint's weights make the vectors needless that its pieces began from."""
        if from_checkpoint and getattr(cfg, "encoder_embed_path", None):
            cfg = copy.copy(cfg)
            cfg.encoder_embed_path = None
        return super().build_model(cfg, from_checkpoint)

    def load_dataset(self, split: str, combine: bool = False, **_: Any) -> None:
        """Raises: InputError: files that are missing, or not as the manifest says."""
        pairs = []
        for number, pair in enumerate(self.pairs):
            if pair.sentences.get(split) == 0:
                continue
            prefix = self.folder / pair.prefix(split)
            sides = [
                load_side(f"{prefix}.source", self.source_dictionary),
                load_side(f"{prefix}.{self.cfg.target}", self.target_dictionary),
            ]
            counts = {len(side) for side in sides} | {pair.sentences.get(split, len(sides[0]))}
            if len(counts) > 1:
                raise InputError(
                    f"{prefix}.* have {len(sides[0])} and {len(sides[1])} sentences, and {MANIFEST} says "
                    f"{pair.sentences.get(split)}: prepare the data again"
                )
            source, target = sides
            pairs.append(
                PairData(source, target, number, self.languages.index(pair.target), pair.source == pair.target)
            )
        if not pairs:
            raise InputError(f"no pair in {self.folder} has sentences of {split!r}")
        sampling = None
        if split == "train":
            cfg = self.cfg
            if cfg.own_share is not None and len({pair.own for pair in pairs}) == 1:
                raise InputError(
                    "--own-share needs pairs of two languages and pairs of a language with itself: leave it out, or "
                    "prepare both (embed prepare --own-tags)"
                )
            sampling = Sampling(
                cfg.sampling_temperature, cfg.sentences_per_pair, cfg.own_share, cfg.batches_of_one_pair, cfg.seed
            )
        dictionary = self.target_dictionary
        self.datasets[split] = MixedPairs(pairs, dictionary.pad(), dictionary.eos(), sampling)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """As fairseq's, and the figures of each pair, where the criterion logs them."""
        super().reduce_metrics(logging_outputs, criterion)
        if not any(BY_PAIR + "tokens" in log for log in logging_outputs):
            return
        tokens, loss, correct = (
            sum(log[BY_PAIR + name].double() for log in logging_outputs).tolist()
            for name in ("tokens", "loss", "correct")
        )
        names = [str(pair) for pair in self.pairs]
        metrics.log_scalar("accuracy", 100 * sum(correct) / max(sum(tokens), 1), sum(tokens), round=3)
        for name, count, lost, right in zip(names, tokens, loss, correct, strict=True):
            if count:
                metrics.log_scalar(f"accuracy_{name}", 100 * right / count, count, round=3)
                metrics.log_scalar(f"loss_{name}", lost / count / math.log(2), count, round=3)
        for figure in ("accuracy", "loss"):
            metrics.log_derived(f"mean_{figure}", _mean([f"{figure}_{name}" for name in names]))

    @property
    def source_dictionary(self) -> Dictionary:
        return self._source

    @property
    def target_dictionary(self) -> Dictionary:
        return self._target

    def max_positions(self) -> None:
        """No limits but the model's."""

    # --- what fairseq_xl.encode asks of a task ---

    def encode_text(self, sentence: str) -> Tensor:
        """Numbers (T,) of a raw sentence's pieces and its end; an empty tensor for one without words."""
        model = str(self.folder / self.manifest.sentencepiece)
        pieces = subwords.encode(tidy(sentence), model).split()
        if not pieces:
            return torch.empty(0, dtype=torch.long)
        # A special token that is spelled out in the text is a piece like any other, an unknown one.
        numbers = [self._source.index(piece) for piece in pieces]
        known = [i if i >= self._source.nspecial else self._source.unk() for i in numbers]
        return torch.tensor([*known, self._source.eos()])

    def text_files(self) -> list[str]:
        """Names of the files of the data folder that the task needs to encode text."""
        manifest = self.manifest
        names = [MANIFEST, manifest.sentencepiece, manifest.source_dictionary, *manifest.targets.values()]
        return list(dict.fromkeys(names))


def _mean(names: list[str]) -> Callable[[MetersDict], float]:
    """Of those figures that there are."""

    def mean(meters: MetersDict) -> float:
        found = [meters[name].avg for name in names if name in meters]
        return round(sum(found) / len(found), 3)

    return mean
