"""the Siamese classifier: pairs a second of training, sentences a second of prediction, and what is padding

The presets of the recipes, from prepared text to updated weights. `padded` is the same step with each batch one
rectangle as wide as its longest sentence, `padding` the share of the places computed that hold no n-gram. Sentences
are made up, of lengths like tweets', or the lines of --text.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import utils
from torch import Tensor

from benchmarks.measure import in_turns, ratio
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.modules.recurrent import pack_left
from fairseq_xl.siamese.data.prepare import prepare
from fairseq_xl.siamese.data.settings import Settings
from fairseq_xl.siamese.models.criterion import ContrastiveCriterion
from fairseq_xl.siamese.models.encoder import length_groups
from fairseq_xl.siamese.models.model import SiameseConfig, SiameseModel
from fairseq_xl.siamese.models.task import ENCODED_AT_ONCE, SiameseContrastiveConfig, SiameseContrastiveTask

# As in recipes/lib/classification.sh: lengths of n-grams, the model, the criterion.
PRESETS: dict[str, tuple[list[int], SiameseConfig, dict[str, Any]]] = {
    "paper": ([3], SiameseConfig(), {"margin": 0.5}),
    "siamese": (
        [3, 2, 1],
        SiameseConfig(embed_dim=64, hidden_dim=128, pooling="max", dropout=0.3, unit_dropout=0.1, class_head=True),
        {"margin": 0.0, "all_pairs": True, "class_weight": 1.0},
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--presets", nargs="+", choices=tuple(PRESETS), default=list(PRESETS), help="default: both")
    parser.add_argument("--pairs", type=int, default=64, help="of a batch (default: 64)")
    parser.add_argument("--batches", type=int, default=4, help="of a turn (default: 4)")
    parser.add_argument("--sentences", type=int, default=2000, help="to draw pairs from and to predict")
    parser.add_argument("--text", type=Path, help="take its lines instead of made-up sentences")


def run(args: argparse.Namespace, report: Any) -> None:
    texts = sentences(args)
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "text.tsv"
        source.write_text("".join(f"{'ab'[n % 2]}\t{text}\n" for n, text in enumerate(texts)), encoding="utf-8")
        for preset in args.presets:
            folder = Path(temporary) / preset
            ngrams = PRESETS[preset][0]
            settings = Settings(low_resource=[str(source)], ngrams=ngrams, valid_share=0.0, test_share=0.0)
            prepare(folder, settings)
            measure(args, report, preset, folder)


def sentences(args: argparse.Namespace) -> list[str]:
    """Different lines of letters, as long as tweets are."""
    if args.text:
        found = list(dict.fromkeys(line for line in read_lines(args.text) if line.strip() and "\t" not in line))
        if len(found) < args.sentences:
            raise InputError(
                f"{args.text} has {len(found)} different lines, {args.sentences} are wanted: lower --sentences"
            )
        return found[: args.sentences]
    random = np.random.default_rng(0)
    lengths = random.lognormal(np.log(75), 0.45, args.sentences).clip(5, 140).astype(int)
    letters = np.array(list("eaoinstrlcdumpgbvhfq "))
    return ["".join(random.choice(letters, length)).strip() + f" {n}" for n, length in enumerate(lengths)]


def measure(args: argparse.Namespace, report: Any, preset: str, folder: Path) -> None:
    _, config, options = PRESETS[preset]
    torch.manual_seed(1)
    task = SiameseContrastiveTask.setup_task(SiameseContrastiveConfig(data=str(folder), seed=1))
    task.load_dataset("train")
    model = SiameseModel.build_model(config, task).to(args.device)
    criterion = ContrastiveCriterion(task, **options)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    pairs = task.dataset("train")
    order = pairs.ordered_indices()[: args.pairs * args.batches].reshape(args.batches, -1)
    batches = [move(pairs.collater([pairs[i] for i in batch]), args.device) for batch in order]
    everything = task.sentences("train", ("low",))
    numbers = np.random.default_rng(1).permutation(len(everything))
    grouped = model.encoder.forward

    def train(forward: Callable[[Tensor, Tensor | None], Tensor]) -> None:
        model.encoder.forward = forward
        model.train()
        for sample in batches:
            loss, size, _ = criterion(model, sample)
            optimizer.zero_grad()
            (loss / size).backward()
            optimizer.step()
        model.encoder.forward = grouped

    def predict() -> None:
        model.eval()
        task.encode(model, everything, numbers)

    def padded(tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        tokens, lengths = pack_left(tokens, model.encoder.pad)
        return model.encoder._encode(tokens, lengths // model.encoder.sizes.ngram_orders)

    functions: dict[str, Callable[[], None]] = {
        "training": lambda: train(grouped),
        "training, padded": lambda: train(padded),
        "prediction": predict,
    }
    times = in_turns(functions, args.repeats, args.device)
    lengths = [sample["net_input"]["src_tokens"].ne(model.encoder.pad).sum(1).cpu() for sample in batches]
    widths = torch.from_numpy(np.sort(everything.sizes))
    shares = {
        "training": padding([group for length in lengths for group in grouped_lengths(length)]),
        "training, padded": padding([length.numpy() for length in lengths]),
        "prediction": padding([group for batch in widths.split(ENCODED_AT_ONCE) for group in grouped_lengths(batch)]),
    }
    for name in functions:
        done = len(numbers) if name == "prediction" else args.pairs * args.batches
        report.add(
            preset=preset,
            work=name,
            per_second=done / statistics.median(times[name]),
            of="sentences" if name == "prediction" else "pairs",
            padding=shares[name],
            by_padded=ratio(times, "training, padded", name) if name == "training" else None,
        )


def move(sample: Any, device: str) -> Any:
    return utils.move_to_cuda(sample) if device.startswith("cuda") else sample


def grouped_lengths(lengths: Tensor) -> list[np.ndarray]:
    """Lengths of the groups that the encoder makes of a batch."""
    return [lengths[group].numpy() for group in length_groups(lengths)]


def padding(groups: list[np.ndarray]) -> float:
    """Share of the places of some rectangles, each as wide as its longest row, that are padding."""
    places = sum(len(group) * group.max() for group in groups)
    return float(1 - sum(group.sum() for group in groups) / places)


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Pairs and sentences a second."""
    panels = figure.subplots(1, 2)
    for axes, unit in zip(panels, ("pairs", "sentences"), strict=True):
        mine = [row for row in rows if row["of"] == unit]
        bars = axes.barh([f"{row['preset']}, {row['work']}" for row in mine], [row["per_second"] for row in mine])
        axes.bar_label(bars, fmt="%.0f", padding=3)
        axes.margins(x=0.15)
        axes.invert_yaxis()
        axes.set_xlabel(f"{unit} a second")
