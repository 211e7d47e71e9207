"""Pair classifiers as fairseq models: word vectors, and a module that decides.

Such a module is a plain ``nn.Module``. It is called with the word vectors of the sentences, ``left`` (N, T, C) and
``right`` (N, U, C). It also gets ``left_padding`` (N, T) and ``right_padding`` (N, U), which are true where there is no
word, at the end of a row. Each row has a word. The module returns logits (N,): log p/(1 - p) of "they mean the same".
If it has a method ``encode(words, padding) -> (N, d)``, that is what it knows of one sentence.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar

import torch.nn.functional as F
from fairseq.dataclass import FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor, nn

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.modules.fingerprint import Fingerprint
from fairseq_xl.modules.recurrent import pack_left


@dataclass
class PairClassifierConfig(FairseqDataclass):
    hidden_dim: int = option(
        "features that each encoder of a sentence makes: raise it for more pairs. The number is even where the encoder "
        "reads in both directions",
        128,
    )
    tune_vectors: bool = option(
        "train the word vectors, too: for many pairs, or where the folder was prepared without vectors", False
    )
    project_dim: int = option(
        "size of a learned projection of the word vectors: give one where they are wide and pairs are few; 0: none", 0
    )
    dropout: float = option("between layers; raise it against over-fitting", 0.2)
    symmetric: bool = option(
        "take the mean of the logits of both orders of the two sentences, so that their order cannot matter. It takes "
        "twice the time",
        False,
    )


class WordEmbedding(nn.Module):
    """Look up a word's vector and project it.

    Args:
        table: (V, d) vectors of all words. That of ``pad`` is set to zero.
        pad: index of the padding token.
        tuned: whether training changes the vectors.
        project_dim: size of the learned linear projection; 0: none.
    """

    def __init__(
        self,
        table: Tensor,
        pad: int,
        tuned: bool = False,
        project_dim: int = 0,
    ):
        super().__init__()
        table = table.clone()
        table[pad] = 0
        if tuned:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table)
        self.pad = pad
        self.project = nn.Linear(table.shape[1], project_dim, bias=False) if project_dim else nn.Identity()
        self.dim = project_dim or table.shape[1]

    def forward(self, tokens: Tensor) -> Tensor:
        """(N, T, dim) of tokens (N, T)."""
        return self.project(F.embedding(tokens, self.table, self.pad))


class PairClassifier(BaseFairseqModel):
    """Word vectors and a classifier of them; subclasses are made by :func:`register_classifier`.

    ``forward`` gives logits (N,) of left_tokens (N, T) and right_tokens (N, U), padded on either side. Each row has a
    word. A checkpoint loads only with the dictionary it was trained with.
    """

    make: ClassVar[Callable[..., nn.Module]]

    def __init__(self, cfg: PairClassifierConfig, task: Any):
        super().__init__()
        dictionary = task.source_dictionary
        self.fingerprint = Fingerprint(dictionary.symbols, "dictionary")
        self.embedding = WordEmbedding(
            task.directory.vectors(),
            dictionary.pad(),
            cfg.tune_vectors,
            cfg.project_dim,
        )
        self.classifier = self.make(self.embedding.dim, cfg)
        self.pad, self.symmetric = dictionary.pad(), cfg.symmetric
        self.longest = task.directory.tokenizer.longest

    @classmethod
    def build_model(cls, cfg: PairClassifierConfig, task: Any) -> "PairClassifier":
        """Raises: InputError: sizes do not go together, or there are no vectors and they are not trained."""
        if not cfg.tune_vectors and task.directory.manifest["vectors"] is None:
            raise InputError(
                f"{task.directory.folder} was prepared without --vectors: prepare it with some, or train them with "
                "--tune-vectors"
            )
        try:
            return cls(cfg, task)
        except ValueError as error:
            raise InputError(str(error)) from error

    def forward(self, left_tokens: Tensor, right_tokens: Tensor) -> Tensor:
        left, left_padding = self._words(left_tokens)
        right, right_padding = self._words(right_tokens)
        logits = self.classifier(left, right, left_padding, right_padding)
        if self.symmetric:
            logits = (logits + self.classifier(right, left, right_padding, left_padding)) / 2
        return logits

    def encode_sentences(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(N, d) of tokens (N, T): what ``fairseq_xl.encode`` asks of a model.

        Raises:
            InputError: the classifier only knows pairs.
        """
        encode = getattr(self.classifier, "encode", None)
        if encode is None:
            raise InputError(
                "this architecture reads two sentences together and has no vector of one: encode with a siamese_ one "
                "or infersent"
            )
        return encode(*self._words(tokens))

    def _words(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        tokens, _ = pack_left(tokens, self.pad)
        return self.embedding(tokens), tokens.eq(self.pad)

    def max_positions(self) -> int:
        """The number of words to which the data directory cuts a sentence."""
        return self.longest


def register_classifier(
    name: str, config: type[PairClassifierConfig] = PairClassifierConfig, **fixed: Any
) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Decorate a module to train it with ``fairseq-train --arch NAME``.

    Args:
        name: of the architecture.
        config: its options. The module's constructor takes the size of a word's vector first, and those options whose
            names its other parameters have.
        fixed: parameters that are not options.
    """

    def register(module: type[nn.Module]) -> type[nn.Module]:
        known = {each.name for each in fields(config)} - set(fixed)
        options = [each for each in inspect.signature(module).parameters if each in known]

        def make(input_dim: int, cfg: PairClassifierConfig) -> nn.Module:
            chosen = {each: getattr(cfg, each) for each in options}
            plain = {each: str(value) if isinstance(value, Enum) else value for each, value in chosen.items()}
            return module(input_dim, **fixed, **plain)

        about = {"__doc__": module.__doc__, "make": staticmethod(make)}
        register_model(name, dataclass=config)(type(f"{module.__name__}Model", (PairClassifier,), about))
        return module

    return register
