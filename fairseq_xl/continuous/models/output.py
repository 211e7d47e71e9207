"""The parts that all continuous models share: the table they begin with, and the output of their decoders."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from omegaconf import open_dict
from torch import Tensor, nn

from fairseq_xl.continuous.models.config import DecodingConfig, VectorOutputConfig
from fairseq_xl.continuous.models.scorer import VectorScorer
from fairseq_xl.continuous.models.targets import TargetTable, build_table
from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.targets import WordList

logger = logging.getLogger(__name__)


class VectorOutput:
    """The part of a decoder after its hidden states, beside ``FairseqIncrementalDecoder``.

    A decoder calls :meth:`set_output` and :meth:`add_softmax` when it is built and owns an ``output_projection``
    from its states (…, C) to the vectors' dimension d. Criteria and generators ask it for ``output_kind`` and, where
    that is ``continuous``, for the frozen table ``targets`` and the ``scorer``.
    """

    output_kind: str
    output_scale: float
    targets: TargetTable | None
    scorer: VectorScorer | None
    output_projection: nn.Linear
    training: bool
    _scored: Tensor | None = None

    if TYPE_CHECKING:  # of the module that this is part of

        def state_dict(self) -> dict[str, Tensor]: ...

    def set_output(self, cfg: VectorOutputConfig, dictionary: WordList, targets: TargetTable | None) -> None:
        """``targets`` is kept for a continuous output only: a softmax begins at its rows and leaves them.

        Raises:
            InputError: ``output_scale`` is not a positive number. A softmax is given one, a word bias,
                ``untie_decoder_input``, or an option of how vectors score words.
        """
        self.output_kind = str(cfg.decoder_output)
        self.output_scale = float(cfg.output_scale)
        continuous = self.output_kind == "continuous"
        if not 0 < self.output_scale < float("inf"):
            raise InputError(f"--output-scale {self.output_scale:g} must be a number above 0")
        if self.output_scale != 1 and not continuous:
            raise InputError("--output-scale is for a continuous output: leave it out for a softmax")
        if cfg.word_bias and not continuous:
            raise InputError("--word-bias is for a continuous output: a softmax has a bias of its own")
        if cfg.untie_decoder_input and not continuous:
            raise InputError(
                "--untie-decoder-input is for a continuous output: leave it out, for a softmax's input is tied by "
                "--decoder-output softmax_tied alone"
            )
        if not continuous:
            for each in fields(DecodingConfig):
                if each.name.startswith("decode_") and getattr(cfg, each.name) != each.default:
                    option = each.name.replace("_", "-")
                    raise InputError(f"--{option} is for a continuous output: leave it out for a softmax")
        if cfg.word_bias and targets is not None and targets.bias is None:
            targets.bias = nn.Parameter(torch.zeros(len(dictionary)))
        self.targets = targets if continuous else None
        self.scorer = VectorScorer(cfg, dictionary) if continuous else None

    def add_softmax(
        self, cfg: VectorOutputConfig, dictionary: WordList, targets: TargetTable | None, words: nn.Embedding | None
    ) -> None:
        """The matrix after ``output_projection`` of a softmax; ``words`` are what the decoder reads."""
        if self.output_kind == "continuous":
            return
        if self.output_kind == "softmax":
            words = word_embedding(cfg, dictionary, targets)
        assert words is not None
        self.softmax_weight = words.weight
        self.softmax_bias = nn.Parameter(torch.zeros(len(dictionary)))

    def output_layer(self, features: Tensor) -> Tensor:
        """Vectors (N, T, d) or logits (N, T, V) from states (N, T, C)."""
        output = self.output_projection(features)
        if hasattr(self, "softmax_weight"):
            if self._scored is None:
                return F.linear(output, self.softmax_weight, self.softmax_bias)
            return F.linear(output, F.embedding(self._scored, self.softmax_weight), self.softmax_bias[self._scored])
        return output if self.output_scale == 1 else output * self.output_scale

    @contextmanager
    def scoring(self, words: Tensor) -> Iterator[None]:
        """Within, a softmax gives logits of the ``words`` (M,) alone: (N, T, M). Predicted vectors stay as they are."""
        self._scored = words
        try:
            yield
        finally:
            self._scored = None

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Make the weights of a softmax those of this continuous output: ``fairseq-train --finetune-from-model``.

        The softmax's matrix goes, and this model's table stays. Where the table was made of that matrix it holds its
        directions, and the lengths of the rows are lost. The predictions become longer by the mean of these lengths.
        The softmax's biases become those of ``--word-bias``, and are lost without it.

        Args:
            state_dict: a whole model's, changed in place. It stays as it is unless it has a softmax and this model has
                none.
            name: of this decoder in it, ``decoder``.

        Raises:
            InputError: the softmax's decoder reads embeddings of its own, and this one the table.
        """
        later = getattr(super(), "upgrade_state_dict_named", None)
        if later is not None:
            later(state_dict, name)
        if self.targets is None or f"{name}.softmax_weight" not in state_dict:
            return
        words = state_dict.pop(f"{name}.softmax_weight")
        if len(words) != len(self.targets.table):
            raise InputError(
                f"the checkpoint's softmax has {len(words)} words, but the target dictionary has "
                f"{len(self.targets.table)} entries. Use the data folder (dict.*.txt) that it was trained with"
            )
        bias = state_dict.pop(f"{name}.softmax_bias")
        own = {f"{name}.{key}": value for key, value in self.state_dict().items()}
        read = [key for key in state_dict if key.startswith(f"{name}.embed_tokens.") and key not in own]
        for key in read:
            if not torch.equal(state_dict.pop(key), words):
                raise InputError(
                    "the decoder of this checkpoint's softmax reads embeddings that it learnt, and this model's "
                    "decoder the target vectors: give --untie-decoder-input, or one of --decoder-output softmax_tied"
                )
        words = words.float()[~self.targets.banned.cpu()]
        length = float(torch.linalg.vector_norm(words, dim=-1).mean())
        scaled = {"output_projection": length / self.output_scale}  # which multiplies what is predicted, too
        if read:
            scaled |= {"embed_projection": length, "embed_tokens.projection": length}
        for layer, factor in scaled.items():
            for part in ("weight", "bias"):
                if f"{name}.{layer}.{part}" in state_dict:
                    state_dict[f"{name}.{layer}.{part}"] = state_dict[f"{name}.{layer}.{part}"] * factor
        for key, value in own.items():
            if key.startswith(f"{name}.targets."):
                state_dict[key] = bias if key == f"{name}.targets.bias" else value
        logger.info("the encoder and decoder begin with a softmax's weights; its output matrix is left out")

    def norms(self, output: Tensor) -> dict[str, list[Tensor]]:
        """What decoding must know beside the output: for vectors ``norm``, a list of their norms (N, T)."""
        norms: dict[str, list[Tensor]] = {}
        if self.output_kind == "continuous":
            norms["norm"] = [torch.linalg.vector_norm(output.detach().float(), dim=-1)]
        return norms

    def get_normalized_probs(
        self, net_output: tuple[Tensor, dict[str, Any]], log_probs: bool, sample: Any = None
    ) -> Tensor:
        """Scores (N, T, V): exact nearest-neighbour scores of vectors, or the softmax.

        Raises:
            InputError: a softmax criterion asks for them while it trains a continuous output.
        """
        output, extra = net_output
        if self.output_kind != "continuous":
            output = output.float()
            return output.log_softmax(-1) if log_probs else output.softmax(-1)
        if self.training:
            raise InputError(
                "this criterion trains a softmax, but the model predicts vectors: use --criterion syn_margin_proj, "
                "vmf or another continuous one, or --decoder-output softmax"
            )
        assert self.scorer is not None
        assert self.targets is not None
        scores = self.scorer.log_scores(output, self.targets, extra["norm"][0][:, -output.shape[1] :])
        return scores if log_probs else scores.exp()


def vector_dim(cfg: VectorOutputConfig, targets: TargetTable | None) -> int:
    """The dimension of predicted vectors. A softmax without a vector file has one, too."""
    return targets.dim if targets is not None else cfg.target_dim or 300


def learnt_words(cfg: VectorOutputConfig, dictionary: WordList, targets: TargetTable | None) -> nn.Embedding | None:
    """The embedding (V, d) that the decoder reads. ``None`` if it reads the frozen table."""
    if str(cfg.decoder_output) == "continuous" and not cfg.untie_decoder_input:
        return None
    return word_embedding(cfg, dictionary, targets)


def word_embedding(cfg: VectorOutputConfig, dictionary: WordList, targets: TargetTable | None) -> nn.Embedding:
    """(V, d), starting from the target vectors unless ``--softmax-init random`` or there are none."""
    dim = vector_dim(cfg, targets)
    embedding = nn.Embedding(len(dictionary), dim, dictionary.pad())
    nn.init.normal_(embedding.weight, std=dim**-0.5)
    if targets is not None and cfg.softmax_init == "vectors":
        with torch.no_grad():
            embedding.weight.copy_(targets.table)
    nn.init.zeros_(embedding.weight[dictionary.pad()])
    return embedding


def target_table(cfg: VectorOutputConfig, dictionary: WordList) -> TargetTable | None:
    """The table that a model needs: read, or left for the checkpoint to fill.

    Raises:
        InputError: vectors missing, unreadable or unfit.
    """
    if cfg.swap_vectors and (cfg.decoder_output != "continuous" or cfg.untie_decoder_input):
        raise InputError("swap_vectors needs a continuous output whose decoder input is tied to the targets")
    if cfg.targets_in_checkpoint and not cfg.swap_vectors:
        if cfg.decoder_output != "continuous":
            return None
        return TargetTable.awaiting_checkpoint(dictionary.symbols, cfg.target_dim)
    path = cfg.swap_vectors or cfg.target_vectors
    if str(cfg.missing_vectors) == "unk" and cfg.decoder_output != "continuous":
        raise InputError("--missing-vectors unk is for a continuous output: a softmax predicts every word")
    if not path:
        if cfg.decoder_output == "continuous":
            raise InputError("a continuous output needs --target-vectors FILE (make one with fairseq-xl vectors train)")
        return None
    targets = build_table(
        dictionary,
        path,
        dim=cfg.target_dim or None,
        special=str(cfg.special_vectors),
        missing=str(cfg.missing_vectors),
        min_coverage=cfg.min_coverage,
        swap=bool(cfg.swap_vectors),
    )
    remember(cfg, target_dim=targets.dim, targets_in_checkpoint=True)
    return targets


def remember(cfg: VectorOutputConfig, **values: Any) -> None:
    """Write into the run's whole configuration, from which the trainer fills its checkpoints.

    Without this a model could not be loaded where a file that it began with has since moved.
    """
    run = _whole_run(cfg)
    if run is not None and "model" in run:
        with open_dict(run):
            for name, value in values.items():
                run.model[name] = value


def resumes(cfg: VectorOutputConfig) -> bool:
    """Whether the training that builds a model will then load all of it from a checkpoint of its own."""
    run = _whole_run(cfg)
    if run is None or run.get("checkpoint") is None:
        return False
    restored = str(run.checkpoint.restore_file)
    if restored == "checkpoint_last.pt":  # fairseq's default, and the only name it looks for in save_dir
        restored = os.path.join(run.checkpoint.save_dir, restored)
    return os.path.exists(restored)


def _whole_run(cfg: VectorOutputConfig) -> Any | None:
    """fairseq gives ``build_model`` a copy of the model's part of the configuration. Its parent is the original."""
    return getattr(cfg, "__dict__", {}).get("_parent")
