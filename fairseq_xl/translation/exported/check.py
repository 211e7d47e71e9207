"""Whether an export translates as the model does, and where it does otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.training.batches import batches
from fairseq_xl.translation.exported.translator import ExportedTranslator, rows
from fairseq_xl.translation.fairseq_search import FairseqTranslator
from fairseq_xl.translation.translator import Found, Translator

TOLERANCE = 1e-4
"""Largest difference between log-probabilities. Logits beyond 100 are rounded more coarsely and may differ by more."""
SENTENCES = 60
"""How many are translated to compare."""


@dataclass(frozen=True)
class Reference:
    """The probabilities that an export should have, as the model itself computes them.

    They are those of the posterior or of a softmax. Padding, which a search never writes, has none. A penalty of
    unknown words lowers their logit, so that the others' probabilities rise. fairseq lowers the probability alone.
    """

    translator: FairseqTranslator
    temperature: float
    unkpen: float

    @torch.inference_mode()
    def log_probs(self, source: list[str], words: list[str]) -> tuple[np.ndarray, float]:
        """Log-probabilities (T + 1, V) after each of some words (T), and the largest logit."""
        (model,) = self.translator.models
        decoder, dictionary = model.decoder, self.translator.task.target_dictionary
        before = torch.tensor([[dictionary.eos(), *map(dictionary.index, words)]])
        output, _ = model(**self.translator.sample([source])["net_input"], prev_output_tokens=before)
        output = output.float() / self.temperature
        scorer = decoder.scorer
        if scorer is None:
            largest = output.abs().max().item()
            found = output.log_softmax(-1)
        else:
            largest = torch.linalg.vector_norm(output, dim=-1).max().item()
            score, scorer.score = scorer.score, "vmf_posterior"
            found = scorer.log_scores(output, decoder.targets)
            scorer.score = score
        found = found[0].double()
        found[:, dictionary.pad()] = -torch.inf
        found[:, dictionary.unk()] -= self.unkpen
        return found.log_softmax(-1).numpy(), largest

    def of(self, source: list[str], words: list[str]) -> tuple[np.ndarray, float]:
        """Log-probabilities (T + 1,) of some words and the end after them, and how far others may be off."""
        scores, largest = self.log_probs(source, words)
        return scores[np.arange(len(words) + 1), self._indices(words)], TOLERANCE * max(1.0, largest / 100)

    def tied(self, source: list[str], one: list[str], other: list[str]) -> bool:
        """Whether, where two translations part, their words are equally probable up to rounding."""
        place = next(i for i, pair in enumerate(zip([*one, None], [*other, None], strict=False)) if pair[0] != pair[1])
        scores, largest = self.log_probs(source, one[:place])
        first, second = (scores[-1, self._indices(words)[place]] for words in (one, other))
        return abs(first - second) <= TOLERANCE * max(1.0, largest / 100)

    def _indices(self, words: list[str]) -> list[int]:
        dictionary = self.translator.task.target_dictionary
        return [*map(dictionary.index, words), dictionary.eos()]


def sentences(original: FairseqTranslator, path: Path | None) -> list[list[str]]:
    """Tokens of sentences to compare by, the longest first: a file's first, or made of the dictionary's words."""
    if path is not None:
        lines = (original.pipeline.tokens(line) for line in read_lines(path))
        found = list(islice((line[: original.longest - 1] for line in lines if line), SENTENCES))
        if not found:
            raise InputError(f"{path} holds no sentences to compare by")
    else:
        dictionary, draw = original.task.source_dictionary, np.random.default_rng(1)
        words = np.arange(dictionary.nspecial, len(dictionary))
        counts = np.array(dictionary.count[dictionary.nspecial :], dtype=float) + 1e-9
        longest = min(20, original.longest - 1)
        lengths = draw.integers(1, longest + 1, SENTENCES)
        found = [[dictionary[i] for i in draw.choice(words, length, p=counts / counts.sum())] for length in lengths]
    return sorted(found, key=len, reverse=True)


def searched(translator: Translator, sources: list[list[str]]) -> list[Found]:
    """The best hypothesis of each of some sources, which come longest first."""
    found: list[Found] = []
    for batch in batches([len(source) + 1 for source in sources], translator.max_tokens):
        found += (best[0] for best in translator.search([sources[place] for place in batch], 1))
    return found


def scores(model: Any, sources: list[list[str]], found: list[list[str]]) -> Iterator[np.ndarray]:
    """CTranslate2's log-probabilities (T + 1,) of some translations and their ends."""
    for one in model.score_batch(rows(sources), found, max_batch_size=32, max_input_length=0):
        yield np.array(one.log_probs)


def compare_greedy(
    reference: Reference, greedy: FairseqTranslator, export: ExportedTranslator, sources: list[list[str]]
) -> list[str]:
    """Sentences that say how greedy search compares.

    Raises:
        InputError: another output, or other probabilities.
    """
    theirs, ours = searched(greedy, sources), searched(export, sources)
    ties = 0
    for source, one, other in zip(sources, theirs, ours, strict=True):
        if one.tokens != other.tokens:
            if not reference.tied(source, one.tokens, other.tokens):
                raise InputError(
                    f"the export was not written: greedily it translates {' '.join(source)!r} by "
                    f"{' '.join(other.tokens)!r}, the model by {' '.join(one.tokens)!r}"
                )
            ties += 1
    worst = 0.0
    words = [found.tokens for found in ours]
    for source, given, found in zip(sources, words, scores(export.model, sources, words), strict=True):
        expected, tolerance = reference.of(source, given)
        off = float(np.abs(found - expected).max())
        if not off <= tolerance:
            raise InputError(
                f"the export was not written: a log-probability in the translation of {' '.join(source)!r} is off by "
                f"{off:.1e}"
            )
        worst = max(worst, off)
    lines = [f"greedy: {len(sources) - ties} of {len(sources)} translations are identical"]
    if ties:
        lines[0] += f"; {ties} part where two words are equally probable up to rounding"
    return [*lines, f"log-probabilities of their words differ by {worst:.1e} at most"]


def compare_beams(
    reference: Reference, fairseq: FairseqTranslator, export: ExportedTranslator, sources: list[list[str]]
) -> list[str]:
    """Sentences that say how beam search compares, and what the model itself thinks of what differs."""
    theirs, ours = searched(fairseq, sources), searched(export, sources)
    apart = [(source, a.tokens, b.tokens) for source, a, b in zip(sources, theirs, ours, strict=True)]
    apart = [(source, one, other) for source, one, other in apart if one != other]
    same = len(sources) - len(apart)
    lines = [f"beam {export.beam}: {same} of {len(sources)} translations are identical"]
    if apart:
        better = 0
        for source, one, other in apart:
            first, second = (
                float(reference.of(source, words)[0].sum()) / (len(words) + 1) ** export.lenpen
                for words in (one, other)
            )
            better += second > first
        lines.append(
            f"of the others the model itself scores CTranslate2's higher in {better} and fairseq's in "
            f"{len(apart) - better}. The probabilities are the same, but the two searches keep and end hypotheses by "
            "rules of their own"
        )
        if reference.unkpen:
            lines.append(
                "unkpen lowers the logit of <unk>, so that other words gain what it loses; fairseq lowers the sum alone"
            )
    return lines


def compare_types(exact: ExportedTranslator, small: ExportedTranslator, sources: list[list[str]], name: str) -> str:
    """A sentence that says what smaller weights change."""
    theirs, ours = ([found.tokens for found in searched(one, sources)] for one in (exact, small))
    same = sum(one == other for one, other in zip(theirs, ours, strict=True))
    pairs = zip(scores(exact.model, sources, theirs), scores(small.model, sources, theirs), strict=True)
    off = [float(np.abs(one - other).mean()) for one, other in pairs]
    return (
        f"{name}: {same} of {len(sources)} greedy translations are those of float32; log-probabilities differ by "
        f"{math.fsum(off) / len(off):.3f} on average"
    )
