"""Models and batches for the measurements: a continuous_lstm of the papers' size on made-up words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.data import Dictionary
from fairseq.optim.adam import Adam

from benchmarks.naive import NaiveProjection
from fairseq_xl.continuous.criteria import distances, margins, sampled_softmax, vmf, vmf_posterior
from fairseq_xl.continuous.models.config import Iwslt16Config
from fairseq_xl.continuous.models.lstm import ContinuousLSTM, ContinuousLSTMDecoder, ContinuousLSTMEncoder
from fairseq_xl.continuous.models.targets import TargetTable

VARIANTS = (
    "softmax",
    "softmax_tied",
    "softmax_sampled",
    "vmf",
    "cosine",
    "syn_margin_proj",
    "syn_margin_diff",
    "negative_sampling",
    "most_informative_negative",
    "vmf_posterior",
    "vmf_posterior_sampled",
    "syn_margin_proj_naive",
)
"""Outputs and losses. The sampled ones have 1,000 shared negatives; the naive one is the loss as the paper writes it,
under autograd."""


def dictionary(words: int) -> Dictionary:
    """fairseq's special tokens and ``words`` made-up ones, as common as Zipf's law says."""
    made = Dictionary()
    for i in range(words):
        made.symbols.append(f"w{i}")
        made.count.append(1 + words // (i + 1))
        made.indices[f"w{i}"] = len(made.symbols) - 1
    return made


def table(words: Dictionary, dim: int = 300) -> TargetTable:
    """Unit vectors around a thousand centres, so that words have neighbours."""
    generator = torch.Generator().manual_seed(0)
    size = len(words)
    centres = torch.randn(min(1000, size), dim, generator=generator)
    rows = torch.randn(size, dim, generator=generator)
    rows += centres[torch.randint(len(centres), (size,), generator=generator)]
    rows = F.normalize(rows, dim=-1)
    rows[words.pad()] = 0
    banned = torch.zeros(size, dtype=torch.bool)
    banned[[words.bos(), words.pad()]] = True
    return TargetTable(rows, banned, words.symbols)


def build(variant: str, words: Dictionary, source_words: int, args: Any, device: str) -> ContinuousLSTM:
    """The papers' model with the output that the variant trains."""
    cfg = Iwslt16Config(input_feeding=args.input_feeding)
    if args.size:
        cfg.encoder_hidden_dim = cfg.decoder_hidden_dim = args.size
    cfg.decoder_output = variant.removesuffix("_sampled") if variant.startswith("softmax") else "continuous"
    torch.manual_seed(0)
    targets = table(words)
    encoder = ContinuousLSTMEncoder(cfg, dictionary(source_words))
    return ContinuousLSTM(encoder, ContinuousLSTMDecoder(cfg, words, targets)).to(device)


def criterion(variant: str, words: Dictionary) -> Any:
    """The criterion that trains a variant."""
    task = SimpleNamespace(target_dictionary=words)
    margin: dict[str, Any] = {"margin": 0.5}
    if variant == "softmax_sampled":
        return sampled_softmax.SampledSoftmax(task, sentence_avg=False, negatives=1000, negatives_power=0.75)
    if variant.startswith("softmax"):
        return CrossEntropyCriterion(task, sentence_avg=False)
    if variant == "syn_margin_proj_naive":
        return NaiveProjection(task, sentence_avg=False)
    own: dict[str, dict[str, Any]] = {
        "vmf": {"form": "paper", "lambda1": 0.02, "lambda2": 0.1},
        "cosine": {},
        "negative_sampling": {**margin, "negatives": 5},
        "most_informative_negative": {**margin, "search_chunk": 16.0},
        "vmf_posterior": {"negatives": 0, "negatives_power": 0.0, "label_smoothing": 0.0},
        "vmf_posterior_sampled": {"negatives": 1000, "negatives_power": 0.75, "label_smoothing": 0.0},
    }
    made = {
        "vmf": vmf.Vmf,
        "cosine": distances.Cosine,
        "syn_margin_proj": margins.SynMarginProj,
        "syn_margin_diff": margins.SynMarginDiff,
        "negative_sampling": margins.NegativeSampling,
        "most_informative_negative": margins.MostInformativeNegative,
        "vmf_posterior": vmf_posterior.VmfPosterior,
        "vmf_posterior_sampled": vmf_posterior.VmfPosterior,
    }[variant]
    return made(task, sentence_avg=False, **own.get(variant, margin))


def batch(words: int, source_words: int, sentences: int, length: int, device: str) -> dict[str, Any]:
    """Sentences of one length, words drawn by rank as Zipf's law has them."""
    generator = torch.Generator().manual_seed(1)

    def draw(count: int) -> torch.Tensor:
        uniform = torch.rand(sentences, length - 1, generator=generator)
        ranks = (count**uniform - 1).long().clamp(0, count - 1) + 4
        return torch.cat([ranks, torch.full((sentences, 1), 2)], 1).to(device)

    source, target = draw(source_words), draw(words)
    previous = torch.cat([target[:, -1:], target[:, :-1]], 1)
    return {
        "id": torch.arange(sentences),
        "nsentences": sentences,
        "ntokens": target.numel(),
        "net_input": {
            "src_tokens": source,
            "src_lengths": torch.full((sentences,), length, device=device),
            "prev_output_tokens": previous,
        },
        "target": target,
    }


class TrainingStep:
    """One update of Adam on one batch: ``step()`` runs it."""

    def __init__(self, variant: str, words: Dictionary, args: Any, device: str):
        count = len(words) - words.nspecial
        self.model = build(variant, words, args.source_words, args, device).train()
        self.criterion = criterion(variant, words)
        self.sample = batch(count, args.source_words, args.sentences, args.length, device)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.parameters = sum(p.numel() for p in trained)
        adam: dict[str, Any] = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "lr": 1e-4}
        fused = args.adam == "fused"
        self.optimizer = torch.optim.AdamW(trained, fused=True, **adam) if fused else Adam(trained, **adam)
        self.tokens = self.sample["ntokens"]
        self.amp = torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=args.bf16)

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        with self.amp:
            loss, size, _ = self.criterion(self.model, self.sample)
        (loss / size).backward()
        self.optimizer.step()
