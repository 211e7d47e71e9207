"""Sentence embeddings by models of the packages transformers and sentence-transformers, which are optional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.encode.pretrained import load_sentence_transformer, load_transformer
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.tagging.tagged import TaggedText

BATCH = 64


def pooled_max(texts: Sequence[TaggedText], name: str) -> list[Matrix]:
    """Maximum over the last hidden states of a sentence's pieces (BERT_max of the paper's Table 4)."""
    return _transformers(texts, name, lambda output, mask: _hidden(output, mask, -torch.inf).amax(1))


def pooled_average(texts: Sequence[TaggedText], name: str) -> list[Matrix]:
    """Average of the same (BERT_avg)."""
    return _transformers(
        texts, name, lambda output, mask: _hidden(output, mask, 0.0).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
    )


def pooled_output(texts: Sequence[TaggedText], name: str) -> list[Matrix]:
    """What the model itself makes of its first state (BERT_output)."""

    def pool(output: Any, mask: Tensor) -> Tensor:
        if getattr(output, "pooler_output", None) is None:
            raise InputError(f"{name} has no pooled output: take transformers-max or transformers-average")
        return output.pooler_output

    return _transformers(texts, name, pool)


def sentence_transformer(texts: Sequence[TaggedText], name: str) -> list[Matrix]:
    """Whatever a sentence-transformers model gives for a sentence."""
    model = load_sentence_transformer(name)
    return [model.encode(text.texts, batch_size=BATCH, convert_to_numpy=True) for text in texts]


def _hidden(output: Any, mask: Tensor, outside: float) -> Tensor:
    """(N, T, d) last states, with ``outside`` where there is no piece; a sentence without pieces has zeros."""
    states = output.last_hidden_state.masked_fill(~mask.unsqueeze(2), outside)
    return states.masked_fill(~mask.any(1)[:, None, None], 0.0)


@torch.no_grad()
def _transformers(texts: Sequence[TaggedText], name: str, pool: Callable[[Any, Tensor], Tensor]) -> list[Matrix]:
    """Pool a model's states over the pieces of each sentence; [CLS] and [SEP] are no pieces."""
    tokenizer, model = load_transformer(name)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    matrices: list[Matrix] = []
    for text in texts:
        rows: list[np.ndarray] = []
        with progress_bar(f"{name}, {text.language}", True, total=len(text), unit=" sentences") as bar:
            for start in range(0, len(text), BATCH):
                batch = text.texts[start : start + BATCH]
                tokens = tokenizer(
                    batch, padding=True, truncation=True, return_tensors="pt", return_special_tokens_mask=True
                ).to(device)
                special = tokens.pop("special_tokens_mask").bool()
                output = model(**tokens)
                rows.append(pool(output, tokens["attention_mask"].bool() & ~special).float().cpu().numpy())
                bar.update(len(batch))
        matrices.append(np.concatenate(rows))
    return matrices
