"""Translating a split of a data directory under the options that a search asks about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from fairseq.dataclass.configs import GenerationConfig

from fairseq_xl.continuous.models.loading import load_split
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.translation.tuning.outcomes import Hypothesis, Outcome, outcomes
from fairseq_xl.translation.tuning.points import SOFTMAX, Point, Tuning


def as_saved(model: Any, beam: int) -> Point:
    """The options that a model was saved with."""
    scorer = getattr(model.decoder, "scorer", None)
    if scorer is None:
        return Point(SOFTMAX, 1.0, 1.0, 0.0, beam)
    prior = scorer.word_bonus(model.decoder.targets) is not None
    return Point(scorer.score, scorer.scale, 1.0, scorer.csls_weight, beam, prior)


def dependencies(model: Path, data: Path, settings: Tuning) -> dict[str, Any]:
    """What outcomes depend on beside the point: of which checkpoint, data and limits they are."""
    return {
        "checkpoint": _fingerprint(model),
        "data": _fingerprint(*sorted(data.glob(f"{settings.split}.*"))),
        "split": settings.split,
        "limit": settings.limit,
        "longest": [settings.max_len_a, settings.max_len_b],
        "post_process": settings.post_process,
    }


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]


def decoder(model: Any, task: Any, settings: Tuning) -> Callable[[Point], dict[str, Outcome]]:
    """A function that translates the split under a point's options.

    Raises:
        InputError: no such split, or one without references.
    """
    dataset = load_split(task, settings.split)
    # Not the first ones: a set may be sorted, as Tatoeba's is by length.
    count = min(settings.limit or len(dataset), len(dataset))
    chosen = [place * len(dataset) // count for place in range(count)]
    references = [_text(task, dataset.tgt[number], settings.post_process, True) for number in chosen]
    chosen.sort(key=lambda number: -int(dataset.src_sizes[number]))
    size = settings.batch_size
    batches = [chosen[first : first + size] for first in range(0, len(chosen), size)]

    def decode(point: Point) -> dict[str, Outcome]:
        beams = dict[int, list[Hypothesis]]()
        with progress_bar(point.key, True, len(chosen), " sentences") as bar:
            for found in translate(model, task, dataset, point, batches, settings):
                beams.update(found)
                bar.update(len(found))
        return outcomes([beams[number] for number in sorted(beams)], references)

    return decode


def translate(
    model: Any, task: Any, dataset: Any, point: Point, batches: list[list[int]], settings: Tuning
) -> Iterator[dict[int, list[Hypothesis]]]:
    """For each batch the finished beams by the sentences' numbers, from the task's own generator."""
    if point.score != SOFTMAX:
        scorer = model.decoder.scorer
        scorer.score, scorer.scale, scorer.csls_weight = point.score, point.scale, point.csls_weight
    options = GenerationConfig(
        beam=point.beam,
        temperature=point.temperature,
        unkpen=point.unkpen,
        max_len_a=settings.max_len_a,
        max_len_b=settings.max_len_b,
    )
    generator = task.build_generator([model], options)
    on_gpu = next(model.parameters()).is_cuda
    for numbers in batches:
        sample = dataset.collater([dataset[number] for number in numbers])
        sample = utils.move_to_cuda(sample) if on_gpu else sample
        found = task.inference_step(generator, [model], sample)
        yield {
            number: [
                Hypothesis(
                    _text(task, one["tokens"].cpu(), settings.post_process),
                    float(one["positional_scores"].sum()),
                    len(one["tokens"]),
                )
                for one in beam
            ]
            for number, beam in zip(sample["id"].tolist(), found, strict=True)
        }


def _text(task: Any, tokens: torch.Tensor, subwords: str | None, reference: bool = False) -> str:
    """Tokens as text, pieces joined; an unknown word of a reference is written so that no output matches it."""
    return task.target_dictionary.string(tokens, subwords, escape_unk=reference)
