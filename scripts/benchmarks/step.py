"""a whole training step of continuous_lstm at the papers' size: softmax against each continuous loss

Forward, backward and Adam on one batch of made-up sentences. Memory is the peak of a process that does nothing else,
less what it held before the model was built. With --profile also the five operators that take most of a step, and
the share that the loss itself has of it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import in_turns, ratio, seconds
from benchmarks.models import VARIANTS, TrainingStep, dictionary
from fairseq_xl.continuous.criteria.sampled_softmax import SampledSoftmax


def options(parser: argparse.ArgumentParser) -> None:
    """Of a model and its batch, here and for `vocabulary`."""
    parser.add_argument("--source-words", type=int, default=50_000, help="source words (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=32, help="a batch (default: 32)")
    parser.add_argument("--length", type=int, default=25, help="tokens a sentence (default: 25)")
    parser.add_argument("--size", type=int, default=0, help="states; 0: the papers' 1024")
    parser.add_argument("--input-feeding", action="store_true", help="models that feed attention vectors back")
    parser.add_argument("--bf16", action="store_true", help="autocast to bfloat16")
    parser.add_argument(
        "--adam", choices=("fused", "fairseq"), default="fused", help="--optimizer fused_adam, or fairseq's adam"
    )
    text = "outputs and losses to compare (default: %(default)s)"
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), help=text)
    parser.add_argument("--no-memory", action="store_true", help="spare the processes that measure memory")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)  # this process measures one variant's memory


def configure(parser: argparse.ArgumentParser) -> None:
    options(parser)
    parser.add_argument("--words", type=int, default=50_000, help="target words (default: 50000)")
    parser.add_argument("--profile", action="store_true", help="print where a step's time goes")


def run(args: argparse.Namespace, report: Any) -> None:
    words = dictionary(args.words)
    if args.memory_of:
        measure_memory(args, words)
        return
    steps = {name: TrainingStep(name, words, args, args.device) for name in args.variants}
    times = in_turns({name: made.step for name, made in steps.items()}, args.repeats, args.device)
    for name, made in steps.items():
        share, operators = profile(made, args) if args.profile else (None, None)
        report.add(
            output=name,
            V=args.words,
            seconds=statistics.median(times[name]),
            tokens_per_s=made.tokens / statistics.median(times[name]),
            by_softmax=ratio(times, "softmax", name) if "softmax" in times else None,
            parameters=made.parameters,
            peak_MiB=memory(name, args, args.words),
            loss_share=share,
            top_operators=operators,
        )


def memory(variant: str, args: argparse.Namespace, words: int) -> float | None:
    """MiB at the peak of two steps: on a CPU measured in a process of its own, on a GPU what torch allocates."""
    if args.no_memory:
        return None
    if args.device.startswith("cuda"):
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        two_steps(variant, args, dictionary(words))
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "benchmark.py"),
        "step",
        "--memory-of",
        variant,
        "--words",
        str(words),
        "--threads",
        str(torch.get_num_threads()),
    ]
    for name in ("source_words", "sentences", "length", "size", "adam"):
        command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
    for name in ("input_feeding", "bf16"):
        command += [f"--{name.replace('_', '-')}"] if getattr(args, name) else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
    return float(done.stdout.splitlines()[-1])


def two_steps(variant: str, args: argparse.Namespace, words: Any) -> None:
    """The second holds what the first leaves, Adam's moments, too."""
    made = TrainingStep(variant, words, args, args.device)
    made.step()
    made.step()


def measure_memory(args: argparse.Namespace, words: Any) -> None:
    """What the process of its own does: print the MiB by which two steps raise its peak."""
    status = Path("/proc/self/status")

    def field(name: str) -> float:
        line = next(line for line in status.read_text().splitlines() if line.startswith(name))
        return int(line.split()[1]) / 1024

    before = field("VmRSS")
    two_steps(args.memory_of, args, words)
    print(field("VmHWM") - before)


def profile(made: TrainingStep, args: argparse.Namespace) -> tuple[float | None, str]:
    """The loss's share of a step, and the five operators with the most time of their own.

    There is no share for the sampled softmax. Its logits, of the words of each draw, are part of its loss.
    """
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as trace

    cuda = args.device.startswith("cuda")
    with trace(activities=[ProfilerActivity.CUDA if cuda else ProfilerActivity.CPU]) as found:
        made.step()
    own = "self_device_time_total" if cuda else "self_cpu_time_total"
    averages = found.key_averages()
    total = sum(getattr(event, own) for event in averages)
    top = sorted(averages, key=lambda event: -getattr(event, own))[:5]
    operators = ", ".join(f"{event.key} {getattr(event, own) / total:.0%}" for event in top)
    if isinstance(made.criterion, SampledSoftmax):
        return None, operators
    return loss_seconds(made, args.device) / seconds(made.step, 3, args.device), operators


def loss_seconds(made: TrainingStep, device: str) -> float:
    """Of the loss alone, forward and backward, on predictions like the step's."""
    criterion, model, sample = made.criterion, made.model, made.sample
    with torch.no_grad():
        output, extra = model(**sample["net_input"])
    leaf = output.detach().requires_grad_()

    class Ready(torch.nn.Module):
        """The model, its work done already."""

        decoder = model.decoder
        get_targets = staticmethod(model.get_targets)
        get_normalized_probs = staticmethod(model.get_normalized_probs)

        def forward(self, **_: Any) -> tuple[torch.Tensor, Any]:
            return leaf, extra

    ready = Ready().train()

    def loss() -> None:
        value, _, _ = criterion(ready, sample)
        torch.autograd.grad(value, leaf)

    loss()
    return seconds(loss, 5, device)


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Tokens a second and peak memory of each output."""
    names = [row["output"] for row in rows]
    colours = ["tab:red" if name.startswith("softmax") else "tab:blue" for name in names]
    shown = [("tokens_per_s", "tokens a second"), ("peak_MiB", "peak memory, MiB")]
    shown = [(key, label) for key, label in shown if rows[0][key] is not None]
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, (key, label) in zip(panels, shown, strict=True):
        bars = axes.barh(names, [row[key] for row in rows], color=colours)
        axes.bar_label(bars, fmt="%.0f", padding=3)
        axes.set_xlabel(label)
        axes.margins(x=0.15)
    panels[0].invert_yaxis()
