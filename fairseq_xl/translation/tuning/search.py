"""From one point to the next: one option after another.

Beam search sums log-scores over steps, so it depends on how sharp they are. It also depends on CSLS, on the penalty of
unknown words and on the length penalty. Greedy search depends on CSLS and the penalty of unknown words alone, unless
word frequencies are added. The length penalty only ranks finished hypotheses, so every value of it is read off one
decoding. The flatter the scores, the more they favour short hypotheses, and the larger the penalty that makes up for
it. The search therefore chooses the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fairseq_xl.translation.tuning.outcomes import Outcome
from fairseq_xl.translation.tuning.points import UNKPENS, Point, csls_weights, sharpnesses
from fairseq_xl.translation.tuning.results import Results


def search(start: Point, outcomes_of: Callable[[Point], dict[str, Outcome]], rounds: int = 2) -> Point:
    """Coordinate search: the best score and sharpness, CSLS weight, penalty of unknown words, and again until all stay.

    Args:
        start: the options to begin with.
        outcomes_of: a point's outcomes by length penalty; asked again and again for the same points.
        rounds: at most so many.
    """

    def bleu(point: Point) -> float:
        return max(outcome.bleu for outcome in outcomes_of(point).values())

    best = start
    for _ in range(rounds):
        before = best
        # Of equals the one there was: max takes the first.
        best = max([best, *sharpnesses(best)], key=bleu)
        best = max([best, *csls_weights(best)], key=bleu)
        best = max([best, *(replace(best, unkpen=value) for value in UNKPENS)], key=bleu)
        if best == before:
            break
    return best


Found = dict[Point, tuple[Outcome, dict[str, Outcome]]]
"""Of each point the greedy outcome, and those of the beam by length penalty."""


def tune(start: Point, results: Results, decode: Callable[[Point], dict[str, Outcome]]) -> tuple[Point, Found]:
    """The best point that a search from ``start`` finds, and all that was tried, in order."""
    found: Found = {}

    def outcomes_of(point: Point) -> dict[str, Outcome]:
        if point not in found:
            greedy = results.get(replace(point, beam=1), decode)["1"]
            found[point] = greedy, results.get(point, decode)
        return found[point][1]

    return search(start, outcomes_of), found
