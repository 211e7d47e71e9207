"""``fairseq-xl translate tune``: choose decoding options on the development set."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from fairseq_xl.cli.translate.nearest import load_translation_model
from fairseq_xl.continuous.decoding import tuning
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.unknown_words import SUBWORDS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``fairseq-xl translate tune``."""
    parser.description = (
        "Choose decoding options of a translation model on the development set, by BLEU of tokenised output against"
        " the tokenised reference, in which words unknown to the dictionary can never be matched (sacreBLEU without"
        " a tokeniser of its own: compare it with nothing but itself). For continuous outputs tries the decoding"
        " score and its sharpness (--decode-scale for the cosine, fairseq's --temperature for vmf_posterior, where"
        " it divides kappa), then the hub weight, and again; for a softmax, the --temperature. fairseq's length"
        " penalty is read off each decoding. Prints a table and the options to paste after fairseq-generate, and as"
        " recipes and fairseq-xl translate pack take them."
    )
    parser.add_argument("--checkpoint", required=True, type=Path, help="checkpoint of a translation model")
    parser.add_argument("--data", required=True, type=Path, help="folder made by fairseq-preprocess")
    text = "file to keep each decoding's outcome in; a search that was interrupted goes on from it"
    parser.add_argument("--results", required=True, type=Path, metavar="FILE", help=text)
    text = "which set to choose by (default: %(default)s); never the test set"
    parser.add_argument("--subset", default="valid", help=text)
    text = "size of the beam to choose for: that of the translations to come (default: %(default)s)"
    parser.add_argument("--beam", type=int, default=5, metavar="N", help=text)
    text = "as fairseq's: no output longer than A times its source and B (default: 1.5 and 5; fairseq: 0 and 200)"
    parser.add_argument("--max-len-a", type=float, default=1.5, metavar="A", help=text)
    parser.add_argument("--max-len-b", type=int, default=5, metavar="B", help="see --max-len-a")
    text = (
        "join the pieces of words, as fairseq-generate does, before BLEU and lengths are taken: for models of"
        " subwords, whose pieces are compared otherwise"
    )
    parser.add_argument("--post-process", choices=SUBWORDS, help=text)
    text = "only N sentences, spread evenly over the set, for a quicker and rougher choice (default: all)"
    parser.add_argument("--limit", type=int, metavar="N", help=text)
    text = "sentences translated at once; lower it where memory runs out (default: %(default)s)"
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help=text)
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")


def run(args: argparse.Namespace) -> None:
    """Search, and print the table and the options."""
    import fairseq_xl

    fairseq_xl.register()
    for option, least in (("beam", 2), ("batch_size", 1), ("limit", 1)):
        value = getattr(args, option)
        if value is not None and value < least:
            raise InputError(f"--{option.replace('_', '-')} is {value}: give {least} or more")
    model, task = load_translation_model(args.checkpoint, args.data)
    decode = decoder(model, task, args)
    about = {
        "checkpoint": _fingerprint(args.checkpoint),
        "data": _fingerprint(*sorted(args.data.glob(f"{args.subset}.*"))),
        "subset": args.subset,
        "limit": args.limit,
        "longest": [args.max_len_a, args.max_len_b],
        **({"post_process": args.post_process} if args.post_process else {}),
    }
    args.results.parent.mkdir(parents=True, exist_ok=True)
    results = tuning.Results(args.results, about)

    start = as_saved(model, args.beam)
    rows: dict[tuning.Point, tuple[tuning.Outcome, dict[str, tuning.Outcome]]] = {}

    def outcomes_of(point: tuning.Point) -> dict[str, tuning.Outcome]:
        if point not in rows:
            greedy = results.get(replace(point, beam=1), decode)["1"]
            rows[point] = greedy, results.get(point, decode)
        return rows[point][1]

    best = tuning.search(start, outcomes_of)
    print_table(rows, start, best)
    print_options(best, *rows[best], (args.max_len_a, args.max_len_b))


def as_saved(model: Any, beam: int) -> tuning.Point:
    """The options that a model was saved with."""
    scorer = getattr(model.decoder, "scorer", None)
    if scorer is None:
        return tuning.Point(tuning.SOFTMAX, 1.0, 1.0, 0.0, beam)
    return tuning.Point(scorer.score, scorer.scale, 1.0, scorer.hub_weight, beam, scorer.bonus is not None)


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]


def decoder(model: Any, task: Any, args: argparse.Namespace) -> Callable[[tuning.Point], dict[str, tuning.Outcome]]:
    """A function that translates the subset under a point's options.

    Raises:
        InputError: no such subset, or one without references.
    """
    try:
        task.load_dataset(args.subset)
    except FileNotFoundError:
        raise InputError(
            f"{args.data} holds no set {args.subset}: name one that fairseq-preprocess binarised"
        ) from None
    dataset = task.dataset(args.subset)
    if dataset.tgt is None:
        raise InputError(f"the set {args.subset} in {args.data} has no target side to compare with")
    cuda = torch.cuda.is_available() and not args.cpu
    if cuda:
        model.cuda()
    longest = (args.max_len_a, args.max_len_b)
    # Not the first ones: a set may be sorted, as Tatoeba's is by length.
    count = min(args.limit or len(dataset), len(dataset))
    chosen = [place * len(dataset) // count for place in range(count)]
    references = [_text(task, dataset.tgt[number], args.post_process, True) for number in chosen]
    chosen.sort(key=lambda number: -int(dataset.src_sizes[number]))
    batches = [chosen[first : first + args.batch_size] for first in range(0, len(chosen), args.batch_size)]

    def decode(point: tuning.Point) -> dict[str, tuning.Outcome]:
        beams = dict[int, list[tuning.Hypothesis]]()
        with tqdm(total=len(chosen), desc=point.key, unit=" sentences", delay=1) as bar:
            for beam in translate(model, task, dataset, point, batches, cuda, longest, args.post_process):
                beams.update(beam)
                bar.update(len(beam))
        return tuning.outcomes([beams[number] for number in sorted(beams)], references)

    return decode


def translate(
    model: Any,
    task: Any,
    dataset: Any,
    point: tuning.Point,
    batches: list[list[int]],
    cuda: bool,
    longest: tuple[float, int],
    subwords: str | None = None,
) -> Iterator[dict[int, list[tuning.Hypothesis]]]:
    """For each batch the finished beams by the sentences' numbers, from the task's own generator."""
    from fairseq import utils
    from fairseq.dataclass.configs import GenerationConfig

    if point.score != tuning.SOFTMAX:
        scorer = model.decoder.scorer
        scorer.score, scorer.scale, scorer.hub_weight = point.score, point.scale, point.hub_weight
    options = GenerationConfig(
        beam=point.beam, temperature=point.temperature, max_len_a=longest[0], max_len_b=longest[1]
    )
    generator = task.build_generator([model], options)
    for numbers in batches:
        sample = dataset.collater([dataset[number] for number in numbers])
        sample = utils.move_to_cuda(sample) if cuda else sample
        found = task.inference_step(generator, [model], sample)
        yield {
            number: [
                tuning.Hypothesis(
                    _text(task, one["tokens"].cpu(), subwords),
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


COLUMNS = ("score", "sharpness", "hub", "beam 1", "ratio", "beam {}", "ratio", "lenpen", "BLEU", "ratio")


def print_table(
    rows: dict[tuning.Point, tuple[tuning.Outcome, dict[str, tuning.Outcome]]], start: tuning.Point, best: tuning.Point
) -> None:
    """A line for each point: greedy, the beam with --lenpen 1, and with the length penalty that suits it."""
    lines = [[column.format(best.beam) for column in COLUMNS]]
    for point, (greedy, found) in rows.items():
        penalty = tuning.best_penalty(found)
        sharpness = (
            f"scale {point.scale / point.temperature:g}"
            if point.score == "cosine"
            else f"temperature {point.temperature:g}"
        )
        line = [point.score, sharpness, f"{point.hub_weight:g}"]
        for outcome in (greedy, found["1"]):
            line += [f"{outcome.bleu:.2f}", f"{outcome.ratio:.3f}"]
        line += [penalty, f"{found[penalty].bleu:.2f}", f"{found[penalty].ratio:.3f}"]
        line += ["as saved"] * (point == start) + ["best"] * (point == best)
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS))]
    print("BLEU and ratio of lengths (output / reference) of tokenised text, at beam 1 and, with")
    print(f"--lenpen 1 and with the best --lenpen, at beam {best.beam}:\n")
    for line in lines:
        cells = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=False)]
        print("  ".join([*cells, *line[len(COLUMNS) :]]).rstrip())


def print_options(
    best: tuning.Point, greedy: tuning.Outcome, found: dict[str, tuning.Outcome], longest: tuple[float, int]
) -> None:
    """The options to paste: of the beam, or of greedy search where that is better."""
    penalty = tuning.best_penalty(found)
    search: dict[str, Any] = {"beam": 1, "max_len_a": f"{longest[0]:g}", "max_len_b": longest[1]}
    if greedy.bleu < found[penalty].bleu:
        search |= {"beam": best.beam, "lenpen": penalty}
        if best.temperature != 1:
            search["temperature"] = f"{best.temperature:g}"
    overrides: dict[str, Any] = {}
    if best.score != tuning.SOFTMAX:
        overrides["decode_score"] = best.score
        if best.score == "cosine":
            overrides["decode_scale"] = best.scale
        overrides["decode_hub_weight"] = best.hub_weight
    words = [f"--{name.replace('_', '-')} {value}" for name, value in search.items()]
    if overrides:
        words.append(f'--model-overrides "{overrides}"')
    print(f"\noptions of fairseq-generate:\n\n  {' '.join(words)}")
    pairs = " ".join(f"{name}={value}" for name, value in (search | overrides).items())
    print("\nthe same for `fairseq-xl translate pack --options` and, without the beam, for a recipe's --search:")
    print(f"\n  '{pairs}'")
