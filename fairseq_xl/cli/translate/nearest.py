"""``fairseq-xl translate nearest``: what a model predicts, word by word, and which words are near."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import fairseq_xl
from fairseq_xl.io.lines import decode_lines
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Nearest:
    """Translate a sentence greedily with a continuous-output model. The command shows the nearest target words of each
    predicted vector with their cosines. It also shows the vector's norm (kappa, the model's confidence). Words are
    chosen by the cosine alone, without CSLS, prior or word bias.
    """

    model: Path = argument("checkpoint of a continuous model")
    data: Path = option("data directory made by fairseq-preprocess", metavar="DIR")
    sentence: list[str] | None = option(
        "source sentences, tokenised as the training data was; standard input when omitted", None
    )
    k: int = option("neighbours of each word", 5, alias="-k", low=1)
    max_length: int = option("stop after so many words", 200, low=1)
    device: str | None = option("such as cpu or cuda:1", None, shown="a GPU where there is one")

    def run(self) -> None:
        fairseq_xl.register()
        from fairseq_xl.continuous.diagnostics.nearest import nearest_while_translating
        from fairseq_xl.continuous.models.loading import load_continuous_model

        model, task = load_continuous_model(self.model, self.data, self.device)
        for sentence in self.sentence or decode_lines(sys.stdin.buffer, "standard input"):
            print(f"source: {sentence}")
            for step in nearest_while_translating(model, task, sentence, self.k, self.max_length):
                (word, cosine), *others = step.neighbours
                near = "  ".join(f"{w} {c:.2f}" for w, c in others)
                print(f"  {word:<16} {cosine:5.2f}  kappa {step.kappa:6.1f}  | {near}")
