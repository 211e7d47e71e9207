"""``fairseq-xl translate nearest``: what a model predicts, word by word, and which words are near it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import fairseq_xl
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines
from fairseq_xl.io.settings import argument, device_option, option, refuse_given, user_dir_option


@dataclass(kw_only=True)
class Nearest:
    """Translate a sentence greedily with a continuous-output model. The command shows the nearest target words of each
    predicted vector with their cosines. It also shows the vector's norm (kappa, the model's confidence). Words are
    chosen by the cosine alone, without CSLS, prior or word bias. With --reference it reads a given translation, and
    shows what is near to the syn-margin losses' negatives, too.
    """

    model: Path = argument("checkpoint of a continuous model")
    data: Path = option("data directory made by fairseq-preprocess", metavar="DIR")
    sentence: list[str] | None = option(
        "source sentences, tokenised as the training data was; standard input when omitted", None
    )
    reference: list[str] | None = option(
        "translations of the sentences, tokenised, one for each --sentence. Give them to see what the syn-margin "
        "losses push away. Each word has the neighbours of its prediction, and of the negatives by projection and by "
        "difference",
        None,
    )
    top: int = option("neighbours of each word", 5, alias="-k", low=1, metavar="N")
    max_length: int = option("stop after so many words, without --reference", 200, low=1)
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        if self.reference is not None:
            refuse_given(self, ["max_length"], "has no effect with --reference")
        if self.reference is not None and len(self.reference) != len(self.sentence or []):
            raise InputError("--reference has another number of sentences than --sentence: give one for each")
        fairseq_xl.register()
        from fairseq_xl.continuous.diagnostics.nearest import nearest_of_targets, nearest_while_translating
        from fairseq_xl.continuous.models.loading import load_continuous_model

        model, task = load_continuous_model(self.model, self.data, self.device)
        if self.reference is not None:
            for sentence, reference in zip(self.sentence or [], self.reference, strict=True):
                print(f"source: {sentence}")
                for given in nearest_of_targets(model, task, sentence, reference, self.top):
                    print(f"  {given.target}")
                    for kind in ("prediction", "projection", "difference"):
                        print(f"    {kind:<10}  {_shown(getattr(given, kind))}")
            return
        for sentence in self.sentence or decode_lines(sys.stdin.buffer, "standard input"):
            print(f"source: {sentence}")
            for step in nearest_while_translating(model, task, sentence, self.top, self.max_length):
                (word, cosine), *others = step.neighbours
                print(f"  {word:<16} {cosine:5.2f}  kappa {step.kappa:6.1f}  | {_shown(others)}")


def _shown(neighbours: Iterable[tuple[str, float]]) -> str:
    return "  ".join(f"{word} {cosine:.2f}" for word, cosine in neighbours)
