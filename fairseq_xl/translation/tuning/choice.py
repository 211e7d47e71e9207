"""What was tried as a table, and the best of it as options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairseq_xl.translation.options import Decoding, VectorScores
from fairseq_xl.translation.tuning.outcomes import Outcome, best_penalty
from fairseq_xl.translation.tuning.points import SOFTMAX, Point, Tuning
from fairseq_xl.translation.tuning.search import Found

_COLUMNS = ("score", "sharpness", "CSLS", "unkpen", "beam 1", "ratio", "beam {}", "ratio", "lenpen", "BLEU", "ratio")


def table(found: Found, start: Point, best: Point) -> Iterator[str]:
    """A line for each point: greedy, the beam with --lenpen 1, and with the length penalty that suits it."""
    rows = [[column.format(best.beam) for column in _COLUMNS]]
    for point, (greedy, outcomes) in found.items():
        penalty = best_penalty(outcomes)
        sharpness = f"temperature {point.temperature:g}"
        if point.score == "cosine":
            sharpness = f"scale {point.scale / point.temperature:g}"
        row = [point.score, sharpness, f"{point.csls_weight:g}", f"{point.unkpen:g}"]
        for outcome in (greedy, outcomes["1"]):
            row += [f"{outcome.bleu:.2f}", f"{outcome.ratio:.3f}"]
        row += [penalty, f"{outcomes[penalty].bleu:.2f}", f"{outcomes[penalty].ratio:.3f}"]
        row += ["as saved"] * (point == start) + ["best"] * (point == best)
        rows.append(row)
    widths = [max(len(row[place]) for row in rows) for place in range(len(_COLUMNS))]
    yield "BLEU and ratio of lengths (output / reference) of tokenised text, at beam 1 and, with"
    yield f"--lenpen 1 and with the best --lenpen, at beam {best.beam}:"
    yield ""
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, *row[len(_COLUMNS) :]]).rstrip()


def chosen(best: Point, greedy: Outcome, outcomes: dict[str, Outcome], settings: Tuning) -> Decoding:
    """The options of a point: of the beam, or of greedy search where that is better."""
    made = Decoding(beam=1, max_len_a=settings.max_len_a, max_len_b=settings.max_len_b)
    penalty = best_penalty(outcomes)
    if greedy.bleu < outcomes[penalty].bleu:
        made.beam, made.lenpen = best.beam, float(penalty)
    # Greedy search, too, depends on the sharpness beside a penalty or a bonus that does not.
    if best.temperature != 1 and (made.beam != 1 or best.unkpen or best.prior):
        made.temperature = best.temperature
    if best.unkpen:
        made.unkpen = best.unkpen
    if best.score != SOFTMAX:
        made.decode_score, made.decode_csls_weight = best.score, best.csls_weight
        if best.score == "cosine":
            made.decode_scale = best.scale
    return made


def _given(decoding: Decoding) -> dict[str, Any]:
    return {name: f"{value:g}" if isinstance(value, float) else value for name, value in decoding.given().items()}


def search_option(decoding: Decoding) -> str:
    """The options as the recipes' ``--search`` takes them. Recipes have beams of their own."""
    return " ".join(f"{name}={value}" for name, value in _given(decoding).items() if name != "beam")


def paste(decoding: Decoding) -> Iterator[str]:
    """The options as fairseq-generate, the commands of ``fairseq-xl translate`` and the recipes take them."""
    given = _given(decoding)
    vectors = decoding.given(VectorScores)
    words = {name: f"--{name.replace('_', '-')} {value}" for name, value in given.items()}
    generate = [word for name, word in words.items() if name not in vectors]
    if vectors:
        generate.append(f'--model-overrides "{vectors}"')
    for what, line in (
        ("options of fairseq-generate", " ".join(generate)),
        ("of `fairseq-xl translate text` and `pack`", " ".join(words.values())),
        ("of a recipe, which has beams of its own", f"--search '{search_option(decoding)}'"),
    ):
        yield ""
        yield f"{what}:"
        yield ""
        yield f"  {line}"
