"""Which decoding options suit a trained model: a search on the development set, one option after another.

Beam search sums log-scores over steps, so it depends on how sharp they are. It also depends on CSLS, on the penalty of
unknown words and on the length penalty. Greedy search depends on CSLS and the penalty of unknown words alone, unless
word frequencies are added. The length penalty only ranks finished hypotheses, so every value of it is read off one
decoding. The flatter the scores, the more they favour short hypotheses, and the larger the penalty that makes up for
it. The search therefore chooses the two together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import refuse_pipe
from fairseq_xl.io.settings import option
from fairseq_xl.text.unknown_words import SUBWORDS
from fairseq_xl.translation.options import Decoding, VectorScores

SOFTMAX = "softmax"
"""The score of a model that predicts words, not vectors: only its sharpness can be changed."""
SHARPNESS = {
    "cosine": (5.0, 10.0, 20.0, 40.0, 80.0),
    "vmf_posterior": (0.25, 0.5, 1.0, 2.0, 4.0),
    SOFTMAX: (0.5, 1.0, 1.5, 2.0, 3.0),
}
"""What is tried of --decode-scale for the cosine, of --temperature for the others."""
CSLS_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
UNK_PENALTIES = (0.0, 1.0, 2.0, 3.0, 5.0)
"""What is tried of --unkpen."""
LENGTH_PENALTIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)


@dataclass(kw_only=True)
class Tuning:
    """What is translated to choose by, and within which limits."""

    split: str = option("split to choose by. Never give the test set", "valid")
    beam: int = option("size of the beam to choose for: that of the translations to come", 5, low=2, metavar="N")
    max_len_a: float = option(
        "as in fairseq, no output is longer than A times its source and B (fairseq's own defaults: 0 and 200)",
        1.5,
        low=0,
        high=1e6,
        metavar="A",
    )
    max_len_b: int = option("see --max-len-a", 5, low=1, metavar="B")
    post_process: str | None = option(
        "join the pieces of words, as fairseq-generate does, before BLEU and lengths are measured. Give it for models "
        "of subwords, or else their pieces are compared",
        None,
        choices=SUBWORDS,
    )
    limit: int | None = option(
        "only N sentences, spread evenly over the split, for a quicker and rougher choice", None, low=1, metavar="N"
    )
    batch_size: int = option("sentences translated at once. Lower it where memory runs out", 64, low=1, metavar="N")


@dataclass(frozen=True)
class Point:
    """Options that need a decoding of their own."""

    score: str
    scale: float
    temperature: float
    csls_weight: float
    beam: int
    prior: bool = False
    """Whether the model adds word frequencies (``--decode-prior-weight``) or a bias that was learnt for each word,
    which sharpness weighs against cosines."""
    unk_penalty: float = 0.0
    """fairseq's --unkpen."""

    @property
    def key(self) -> str:
        """Equal for points that give the same translations: greedy search sees the CSLS weight, and sharpness only
        through a prior or a penalty."""
        parts = []
        if self.beam > 1 or self.prior or self.unk_penalty:
            if self.score != SOFTMAX:
                parts.append(self.score)
            if self.score == "cosine":
                parts.append(f"scale {self.scale:g}")
            parts.append(f"temperature {self.temperature:g}")
        if self.score != SOFTMAX:
            parts.append(f"CSLS {self.csls_weight:g}")
        if self.unk_penalty:
            parts.append(f"unkpen {self.unk_penalty:g}")
        return ", ".join([*parts, f"beam {self.beam}"])


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


class Results:
    """What was decoded before, by :attr:`Point.key`, in a file that grows a line with each decoding.

    Args:
        path: the file; made if there is none.
        about: what the results depend on beside the point; must be what the file says.

    Raises:
        InputError: a file of something else, or with other dependencies.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.found: dict[str, dict[str, Outcome]] = {}
        refuse_pipe(path)
        if not path.exists():
            self._append(about)
            return
        try:
            written = path.read_text(encoding="utf-8")
            # A run that was killed may have left half a line, be it the first, or none.
            text = written[: written.rfind("\n") + 1]
            if not text and json.dumps(about).startswith(written):
                path.write_text("", encoding="utf-8")
                self._append(about)
                return
            first, *lines = [loads(line) for line in text.splitlines()]
            for line in lines:
                self.found[line["point"]] = {
                    penalty: Outcome(**outcome) for penalty, outcome in line["outcomes"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path} holds no results of translate tune ({error}): give another --results") from None
        if first != about:
            names = about if isinstance(first, dict) else ()
            other = [name for name in names if first.get(name) != about[name]]
            raise InputError(f"{path} holds results of another {', '.join(other) or 'search'}: give another --results")
        with atomic_text(path) as stream:
            stream.write(text)

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    def get(self, point: Point, decode: Callable[[Point], dict[str, Outcome]]) -> dict[str, Outcome]:
        """The outcomes of a point, decoded unless they are known."""
        if point.key not in self.found:
            found = decode(point)
            named = {penalty: asdict(outcome) for penalty, outcome in found.items()}
            self._append({"point": point.key, "outcomes": named})
            self.found[point.key] = found
        return self.found[point.key]


def best_penalty(found: dict[str, Outcome]) -> str:
    """The length penalty of the highest BLEU; of equals the one nearest to 1, fairseq's default."""
    return max(found, key=lambda penalty: (found[penalty].bleu, -abs(float(penalty) - 1)))


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
        best = max([best, *(replace(best, unk_penalty=value) for value in UNK_PENALTIES)], key=bleu)
        if best == before:
            break
    return best


def sharpnesses(point: Point) -> list[Point]:
    """The point with every score that its model can have, and every sharpness of it."""
    change = {"cosine": "scale"}
    plain = {**asdict(point), "temperature": 1.0}
    return [
        Point(**{**plain, "score": score, change.get(score, "temperature"): value})
        for score, values in SHARPNESS.items()
        if (score == SOFTMAX) == (point.score == SOFTMAX)
        for value in values
    ]


def csls_weights(point: Point) -> list[Point]:
    """The point with every CSLS weight, which only vectors have."""
    weights = () if point.score == SOFTMAX else CSLS_WEIGHTS
    return [Point(**{**asdict(point), "csls_weight": weight}) for weight in weights]


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


_COLUMNS = ("score", "sharpness", "CSLS", "unkpen", "beam 1", "ratio", "beam {}", "ratio", "lenpen", "BLEU", "ratio")


def table(found: Found, start: Point, best: Point) -> Iterator[str]:
    """A line for each point: greedy, the beam with --lenpen 1, and with the length penalty that suits it."""
    rows = [[column.format(best.beam) for column in _COLUMNS]]
    for point, (greedy, outcomes) in found.items():
        penalty = best_penalty(outcomes)
        sharpness = f"temperature {point.temperature:g}"
        if point.score == "cosine":
            sharpness = f"scale {point.scale / point.temperature:g}"
        row = [point.score, sharpness, f"{point.csls_weight:g}", f"{point.unk_penalty:g}"]
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
    if best.temperature != 1 and (made.beam != 1 or best.unk_penalty or best.prior):
        made.temperature = best.temperature
    if best.unk_penalty:
        made.unkpen = best.unk_penalty
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
