"""Small untrained models, and a batch that they read."""

from __future__ import annotations

from typing import Any

import torch

from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.continuous.models.transformer import ContinuousTransformer
from fairseq_xl.continuous.models.transformer_config import TransformerTinyConfig

SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 1, 1]])
PREVIOUS = torch.tensor([[2, 5, 6, 7], [2, 8, 1, 1]])
LENGTHS = torch.tensor([5, 3])


def lstm(task: Any, vectors: str | None, **options: Any) -> ContinuousLSTM:
    cfg = TinyConfig(target_vectors=vectors, encoder_hidden_dim=8, decoder_hidden_dim=8, encoder_embed_dim=8)
    return _built(ContinuousLSTM, cfg, task, 1, options)


def transformer(task: Any, vectors: str | None, seed: int = 1, **options: Any) -> ContinuousTransformer:
    return _built(ContinuousTransformer, TransformerTinyConfig(target_vectors=vectors), task, seed, options)


def _built(architecture: Any, cfg: Any, task: Any, seed: int, options: dict[str, Any]) -> Any:
    for name, value in options.items():
        assert hasattr(cfg, name), name
        setattr(cfg, name, value)
    torch.manual_seed(seed)
    return architecture.build_model(cfg, task).eval()


def wandering(model: Any) -> Any:
    """The model for evaluation, with predictions that go over the whole table: an untrained one's hardly move."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(6)
    return model.eval()


def batch(words: int, sentences: int = 7) -> dict[str, Any]:
    """Sentences of six tokens to translate, of a dictionary of so many words."""
    generator = torch.Generator().manual_seed(4)
    tokens = torch.randint(4, words, (sentences, 6), generator=generator)
    tokens[:, -1] = 2
    lengths = torch.full((sentences,), 6)
    return {"id": torch.arange(sentences), "net_input": {"src_tokens": tokens, "src_lengths": lengths}}
