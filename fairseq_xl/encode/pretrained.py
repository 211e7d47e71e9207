"""Sentence embeddings by models of the packages sentence-transformers and transformers, by name or folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.training.device import usable

EXTRA = "pretrained"
BATCH = 64
Pool = Callable[[Any, Tensor], Tensor]
"""(N, d) from a model's output for N sentences and the mask (N, T) of their pieces."""


def load_sentence_transformer(name: str, device: str | None = None) -> Any:
    """A ``SentenceTransformer``.

    Raises:
        InputError: the package is not installed, or it finds no such model.
    """
    package = require("sentence_transformers", EXTRA)
    try:
        return package.SentenceTransformer(name, **({} if device is None else {"device": device}))
    except (OSError, ValueError) as error:
        raise _unknown("sentence-transformers", name, error) from None


def load_transformer(name: str) -> tuple[Any, Any]:
    """A tokeniser, which can pad, and its ``AutoModel``, in evaluation mode.

    Raises:
        InputError: the package is not installed, or it finds no such model.
    """
    package = require("transformers", EXTRA)
    try:
        tokenizer, model = package.AutoTokenizer.from_pretrained(name), package.AutoModel.from_pretrained(name).eval()
    except (OSError, ValueError) as error:
        raise _unknown("transformers", name, error) from None
    if tokenizer.pad_token is None:
        # OpenAI-GPT has no padding token of its own: what stands there is masked, so any other will do.
        tokenizer.pad_token = tokenizer.unk_token or tokenizer.eos_token
    return tokenizer, model


def _unknown(package: str, name: str, error: Exception) -> InputError:
    return InputError(f"{package} cannot load {name!r} ({error}): give a model's name or folder")


def _hidden(output: Any, mask: Tensor, outside: float) -> Tensor:
    """(N, T, d) last states, with ``outside`` where there is no piece; a sentence without pieces has zeros."""
    states = output.last_hidden_state.masked_fill(~mask.unsqueeze(2), outside)
    return states.masked_fill(~mask.any(1)[:, None, None], 0.0)


def average(output: Any, mask: Tensor) -> Tensor:
    """Average of the last hidden states of a sentence's pieces (BERT_avg of Liu et al. 2019, Table 4)."""
    return _hidden(output, mask, 0.0).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def maximum(output: Any, mask: Tensor) -> Tensor:
    """Maximum over the same (BERT_max)."""
    return _hidden(output, mask, -torch.inf).amax(1)


def pooled_output(output: Any, mask: Tensor) -> Tensor:
    """What the model itself makes of its first state (BERT_output). Raises: InputError: it makes nothing of it."""
    if getattr(output, "pooler_output", None) is None:
        raise InputError("the model has no pooled output: take transformers or transformers-max")
    return output.pooler_output


POOLS = {"transformers": average, "transformers-max": maximum, "transformers-output": pooled_output}
"""By the kind of encoder that :mod:`.registry` knows."""


def encode_sentence_transformer(name: str, device: str | None = None) -> Callable[[Sequence[str]], np.ndarray]:
    """From sentences to whatever a sentence-transformers model gives for them, (N, d)."""
    model = load_sentence_transformer(name, device)
    return lambda sentences: model.encode(list(sentences), batch_size=BATCH, convert_to_numpy=True)


def encode_transformer(name: str, pool: Pool, device: str | None = None) -> Callable[[Sequence[str]], np.ndarray]:
    """From sentences to a model's states pooled over their pieces, (N, d); [CLS] and [SEP] are no pieces."""
    tokenizer, model = load_transformer(name)
    place = usable(device)
    model = model.to(place)
    longest = _longest(tokenizer, model.config)

    @torch.inference_mode()
    def encode(sentences: Sequence[str]) -> np.ndarray:
        rows: list[np.ndarray] = []
        with progress_bar(name, True, len(sentences), " sentences") as bar:
            for start in range(0, len(sentences), BATCH):
                batch = list(sentences[start : start + BATCH])
                tokens = tokenizer(
                    batch,
                    padding=True,
                    truncation=longest is not None,
                    max_length=longest,
                    return_tensors="pt",
                    return_special_tokens_mask=True,
                ).to(place)
                special = tokens.pop("special_tokens_mask").bool()
                output = model(**tokens)
                rows.append(pool(output, tokens["attention_mask"].bool() & ~special).float().cpu().numpy())
                bar.update(len(batch))
        return np.concatenate(rows) if rows else np.zeros((0, model.config.hidden_size), np.float32)

    return encode


def _longest(tokenizer: Any, config: Any) -> int | None:
    """The pieces that a model reads at most; None where nothing says so."""
    if tokenizer.model_max_length < 10**6:  # where none is stated it is 10^30
        return tokenizer.model_max_length
    positions = getattr(config, "max_position_embeddings", None)
    return positions - 2 if positions else None  # RoBERTa has two positions for padding
