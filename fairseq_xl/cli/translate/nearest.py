"""``fairseq-xl translate nearest``: what a model predicted, word by word, and which words were near."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fairseq_xl.io.errors import InputError


@dataclass
class Step:
    """One predicted word: its norm κ = ‖e‖, and the nearest words with their cosines, nearest first."""

    kappa: float
    neighbours: list[tuple[str, float]]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Translate a sentence greedily with a continuous-output model and show, for each predicted vector, the "
        "nearest target words with their cosines and the vector's length (kappa, the model's confidence)."
    )
    parser.add_argument("--checkpoint", required=True, type=Path, help="checkpoint of a continuous model")
    parser.add_argument("--data", required=True, type=Path, help="folder made by fairseq-preprocess")
    parser.add_argument(
        "--sentence",
        action="append",
        help="source sentence, tokenised as the training data was; repeatable; standard input when omitted",
    )
    parser.add_argument("-k", type=int, default=5, help="neighbours per word (default: 5)")
    parser.add_argument("--max-length", type=int, default=200, help="stop after so many words")


def run(args: argparse.Namespace) -> None:
    import fairseq_xl

    fairseq_xl.register()
    model, task = load_continuous_model(args.checkpoint, args.data)
    for sentence in args.sentence or (line.rstrip("\n") for line in sys.stdin):
        print(f"source: {sentence}")
        for step in nearest_while_translating(model, task, sentence, args.k, args.max_length):
            (word, cosine), *others = step.neighbours
            near = "  ".join(f"{w} {c:.2f}" for w, c in others)
            print(f"  {word:<16} {cosine:5.2f}  kappa {step.kappa:6.1f}  | {near}")


def load_continuous_model(checkpoint: Path, data: Path) -> tuple[Any, Any]:
    """As :func:`load_translation_model`, of a continuous model.

    Raises:
        InputError: no such checkpoint or folder; a model without vector outputs.
    """
    model, task = load_translation_model(checkpoint, data)
    if getattr(model.decoder, "targets", None) is None:
        raise InputError(f"{checkpoint} holds a model without vector outputs, so nothing is near")
    return model, task


def load_translation_model(checkpoint: Path, data: Path) -> tuple[Any, Any]:
    """A model ready to translate, and its task with the dictionaries in ``data``.

    Raises:
        InputError: no such checkpoint or folder.
    """
    from fairseq import checkpoint_utils

    if not checkpoint.is_file():
        raise InputError(f"no checkpoint at {checkpoint}")
    if not data.is_dir():
        raise InputError(f"no folder {data}: give the one fairseq-preprocess wrote")
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(checkpoint)], arg_overrides={"data": str(data)}
    )
    models[0].eval()
    return models[0], task


@torch.no_grad()
def nearest_while_translating(model: Any, task: Any, sentence: str, k: int, max_length: int = 200) -> list[Step]:
    """Greedy translation by nearest neighbour, with each step's k nearest words (the first is the choice)."""
    from fairseq_xl.losses import nearest

    source = task.source_dictionary.encode_line(sentence, add_if_not_exist=False).long()
    dictionary, decoder = task.target_dictionary, model.decoder
    encoded = model.encoder(source.unsqueeze(0))
    tokens = torch.tensor([[dictionary.eos()]])
    state: dict[str, Any] = {}
    steps: list[Step] = []
    while len(steps) < max_length:
        pred, _ = decoder(tokens, encoded, state)
        cosines, words = nearest(pred[0], decoder.targets, k)
        names = [dictionary[w] for w in words[0].tolist()]
        steps.append(Step(pred[0].norm().item(), list(zip(names, cosines[0].tolist(), strict=True))))
        tokens = torch.cat([tokens, words[:, :1]], 1)
        if tokens[0, -1].item() == dictionary.eos():
            break
    return steps
