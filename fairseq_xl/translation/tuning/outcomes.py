"""What a decoding scores under every length penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LENGTH_PENALTIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True)
class Outcome:
    """What a decoding scored under one length penalty."""

    bleu: float
    ratio: float
    """Length of the output over that of the reference."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished hypothesis of a beam."""

    text: str
    log_score: float
    """Sum over its steps."""
    steps: int
    """Its words and the end of sentence."""


def best_texts(beams: Sequence[Sequence[Hypothesis]], penalty: float) -> list[str]:
    """Of each beam the text that fairseq's ``--lenpen penalty`` ranks first."""
    return [max(beam, key=lambda one: one.log_score / one.steps**penalty).text for beam in beams]


def outcomes(beams: Sequence[Sequence[Hypothesis]], references: Sequence[str]) -> dict[str, Outcome]:
    """BLEU and length of tokenised text for each of ``LENGTH_PENALTIES``, by its name.

    A ``<unk>`` counts as the three wrong tokens that it is for sacreBLEU's own tokeniser.
    """
    import sacrebleu

    found = {}
    for penalty in LENGTH_PENALTIES:
        texts = [text.replace("<unk>", "< unk >") for text in best_texts(beams, penalty)]
        # The text is tokenised already, and sacreBLEU need not warn of that.
        score = sacrebleu.corpus_bleu(texts, [list(references)], tokenize="none", force=True)
        found[f"{penalty:g}"] = Outcome(score.score, score.sys_len / max(score.ref_len, 1))
    return found


def best_penalty(found: dict[str, Outcome]) -> str:
    """The length penalty of the highest BLEU; of equals the one nearest to 1, fairseq's default."""
    return max(found, key=lambda penalty: (found[penalty].bleu, -abs(float(penalty) - 1)))
