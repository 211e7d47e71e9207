"""eole's encoder-decoder model with predicted vectors in the place of its softmax."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from eole.constants import DefaultTokens
from eole.encoders.rnn_encoder import RNNEncoder
from eole.models.model import EncoderDecoderModel, get_model_class
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from fairseq_xl.eole.generator import VectorGenerator
from fairseq_xl.eole.settings import FILE, Continuous
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.losses import FrozenTable
from fairseq_xl.vectors.dictionary import is_filler
from fairseq_xl.vectors.targets import log_frequency, target_rows

INPUT = "tgt_emb.embeddings.weight"
TABLE = "generator.targets.table"


class Words:
    """eole's target vocabulary as a list of words: special tokens first, see ``WordList``."""

    def __init__(self, vocabs: dict[str, Any], counts: dict[str, int]):
        self.symbols: list[str] = list(vocabs["tgt"].ids_to_tokens)
        self.count = [counts.get(symbol, 0) for symbol in self.symbols]
        self._row = {symbol: row for row, symbol in enumerate(self.symbols)}
        self._special = vocabs["specials"]
        rows = [self._row.get(symbol, -1) for symbol in self._special.values()]
        self.nspecial = len(rows)
        if set(rows) != set(range(len(rows))):
            raise InputError(
                f"the special tokens {', '.join(self._special.values())} must be the first of the target vocabulary: "
                "leave them out of the file, and eole puts them there"
            )

    def __len__(self) -> int:
        return len(self.symbols)

    def bos(self) -> int:
        return self._row[self._special["bos_token"]]

    def pad(self) -> int:
        return self._row[self._special["pad_token"]]

    def eos(self) -> int:
        return self._row[self._special["eos_token"]]

    def unk(self) -> int:
        return self._row[self._special["unk_token"]]


def rounds_size(symbol: str) -> bool:
    """What eole, or fairseq-preprocess, appends to round a vocabulary's size."""
    return symbol.startswith(DefaultTokens.VOCAB_PAD) or is_filler(symbol)


class PackedRNNEncoder(RNNEncoder):
    """eole's recurrent encoder, whose states of a sentence do not depend on the padding that its batch needs."""

    def forward(self, emb: Tensor, pad_mask: Tensor | None = None, **others: Any) -> tuple[Tensor, Any]:
        """States (B, S, C) and the last ones, of embeddings (B, S, E) and a mask (B, 1, S), true where padded."""
        if pad_mask is None:
            return super().forward(emb, **others)
        lengths = (~pad_mask.squeeze(1)).sum(1).clamp_min(1).cpu()
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=emb.shape[1])
        return states, self._apply_bridge(last) if self.use_bridge else last


class VectorModel(EncoderDecoderModel):
    """The model of one section ``continuous``: see :func:`vector_model`."""

    settings: ClassVar[Continuous]
    dim: ClassVar[int]
    """d; 0 where the vector file says it"""
    counts: ClassVar[dict[str, int]]

    generator: VectorGenerator

    @classmethod
    def build_blocks(cls, model_config: Any, vocabs: dict[str, Any], running_config: Any = None) -> VectorModel:
        """eole's hook for encoder and decoder."""
        made = super().build_blocks(model_config, vocabs, running_config=running_config)
        if isinstance(made.encoder, RNNEncoder) and not model_config.left_pad:
            made.encoder = PackedRNNEncoder(model_config.encoder, running_config)
        return made

    def build_generator(self, model_config: Any, running_config: Any, vocabs: dict[str, Any]) -> None:
        """eole's hook for the output layer.

        Raises:
            InputError: a vector file that cannot be used; an option of eole that only a softmax has.
        """
        _refuse_softmax_options(model_config, running_config)
        words = Words(vocabs, self.counts)
        if self.dim:  # a checkpoint fills it
            targets = FrozenTable(
                torch.zeros(len(words), self.dim), torch.zeros(len(words), dtype=torch.bool), target_norm="trust"
            )
        else:
            table, banned = self._rows(words)
            targets = FrozenTable(torch.from_numpy(table), torch.from_numpy(banned))
        if self.settings.word_bias:
            targets.bias = nn.Parameter(torch.zeros(len(words)))
        frequency = torch.from_numpy(log_frequency(words))
        self.generator = VectorGenerator(model_config.decoder.hidden_size, targets, frequency, self.settings)
        if self._reads_targets:
            width = self.tgt_emb.word_vec_size
            if width != targets.dim:
                raise InputError(
                    f"model.embeddings.tgt_word_vec_size is {width} and the target vectors have {targets.dim} "
                    "dimensions: make them the same, or set continuous.decoder_input: learnt"
                )
            self.tgt_emb.embeddings.weight.requires_grad_(False)

    def _rows(self, words: Words) -> tuple[np.ndarray, np.ndarray]:
        settings = self.settings
        return target_rows(
            words,
            settings.target_vectors,
            special=settings.special_vectors,
            missing=settings.missing_vectors,
            min_coverage=settings.min_coverage,
            fillers=rounds_size,
        )

    @property
    def _reads_targets(self) -> bool:
        return self.settings.decoder_input == "targets"

    def _read_targets(self) -> None:
        """Let the decoder read the frozen table, where it does."""
        if self._reads_targets:
            self.tgt_emb.embeddings.weight.data.copy_(self.generator.targets.table)

    def _initialize_weights_and_embeddings(self, running_config: Any) -> None:
        super()._initialize_weights_and_embeddings(running_config)
        self._read_targets()
        if self.generator.targets.bias is not None:
            nn.init.zeros_(self.generator.targets.bias)

    def load_safe_state_dict(self, model_path: str, *args: Any, **kwargs: Any) -> Any:
        """eole's hook for checkpoints.

        Raises:
            InputError: one without a table, or one of other target vectors than those to go on with.
        """
        given = None if self.dim else self.generator.targets.table.clone()
        found = super().load_safe_state_dict(model_path, *args, **kwargs)
        if TABLE not in found:
            raise InputError(f"{model_path} holds no table of target vectors: {FILE} beside it is another model's")
        table = self.generator.targets.table
        if given is not None and not torch.allclose(given.to(table.device), table, rtol=0, atol=1e-6):
            raise InputError(
                f"{model_path} was trained with other target vectors than those of continuous.target_vectors: give "
                "what it was begun with, or begin anew in another training.model_path"
            )
        self._read_targets()
        return found

    @classmethod
    def stored(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """What a checkpoint keeps of a state: the table once, though the decoder reads it, too."""
        tied = cls.settings.decoder_input == "targets"
        return {name: value for name, value in state.items() if not (tied and name == INPUT)}


def vector_model(
    model_config: Any, settings: Continuous, counts: dict[str, int] | None = None, dim: int = 0
) -> type[VectorModel]:
    """The class to call ``for_training`` or ``for_inference`` of.

    Args:
        model_config: eole's section ``model``.
        settings: ours.
        counts: how often each target word is in the training text; a checkpoint has them.
        dim: of the table that a checkpoint will fill; 0 reads the file of target vectors.

    Raises:
        InputError: a model of eole that is not one of text to text.
    """
    if get_model_class(model_config) is not EncoderDecoderModel:
        raise InputError("section continuous is for models of text with an encoder and a decoder: see model")
    return type("VectorModel", (VectorModel,), {"settings": settings, "counts": counts or {}, "dim": dim})


def target_counts(path: Path) -> dict[str, int]:
    """The counts of a vocabulary file of lines ``word count``; none where it has words alone.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    counts = {}
    for line in read_lines(path):
        word, _, count = line.replace("\t", " ").rpartition(" ")
        if word and count.isdecimal():
            counts[word] = int(count)
    return counts


def _refuse_softmax_options(model_config: Any, running_config: Any) -> None:
    for section, config, options in (
        ("model", model_config, {"share_decoder_embeddings": False, "share_embeddings": False, "add_estimator": False}),
        ("model", model_config, {"generator_function": "softmax"}),
        ("training", running_config, {"label_smoothing": 0.0, "update_vocab": False, "freeze_decoder": False}),
        ("training", running_config, {"lora_layers": [], "lora_embedding": False, "rl_algorithm": None}),
        ("training", running_config, {"lm_prior_model": None, "torch_compile": False}),
    ):
        for name, off in options.items():
            if getattr(config, name, off) != off:
                raise InputError(f"{section}.{name} does not go with predicted vectors: leave it out")
