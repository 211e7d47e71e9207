"""time of each loss, forward and backward, against a copy of the bytes it must move

The floor is a copy on the device that reads and writes as many bytes as a forward pass that reads predictions and
targets once and a backward pass that reads them again and writes the gradient: 5 N d numbers. `naive` is the loss as
the paper writes it under autograd; `scipy` is vMF with the normaliser computed by scipy.special.ive on the CPU, as
the 2019 paper's code does. `kernels` (CUDA) is the time of the kernels alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.measure import in_turns, kernel_seconds, ratio
from benchmarks.naive import naive, scipy_vmf
from fairseq_xl.losses import (
    ClosedForm,
    Cosine,
    FrozenTable,
    SynMarginDiff,
    SynMarginProj,
    Vmf,
    margin,
    most_informative_negative,
    negative_sampling,
    uniform_negative_words,
)

LOSSES: tuple[ClosedForm, ...] = (Cosine(), SynMarginProj(0.5), SynMarginDiff(0.5), Vmf())


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=[1024, 4096, 16384],
        metavar="N",
        help="predictions in a batch (default: %(default)s)",
    )
    parser.add_argument(
        "--dims",
        type=int,
        nargs="+",
        default=[128, 300, 1024],
        metavar="D",
        help="dimensions of the vectors (default: %(default)s)",
    )
    parser.add_argument("--vocabulary", type=int, default=10_000, help="rows of the table")
    parser.add_argument(
        "--kernels",
        nargs="+",
        choices=("plain", "compiled"),
        help="versions of ours (default: both, where there is a GPU or a C++ compiler)",
    )


def run(args: argparse.Namespace, report: Any) -> None:
    device = args.device
    can_compile = device.startswith("cuda") or shutil.which("g++")
    settings = args.kernels or (["plain", "compiled"] if can_compile else ["plain"])
    for dim in args.dims:
        # torch compiles a function for eight kinds of arguments, and then no more without a word
        torch.compiler.reset()
        for rows in args.rows:
            generator = torch.Generator().manual_seed(0)
            table = F.normalize(torch.randn(args.vocabulary, dim, generator=generator), dim=-1).to(device)
            index = torch.randint(args.vocabulary, (rows,), generator=generator).to(device)
            # Lengths like a trained model's, where scipy's Bessel function does not underflow to zero.
            pred = (torch.randn(rows, dim, generator=generator) + dim**0.5 * table[index].cpu()).to(device)
            pred.requires_grad_()
            report_size(args, report, pred, FrozenTable(table), index, settings)


def report_size(
    args: argparse.Namespace, report: Any, pred: Tensor, targets: FrozenTable, index: Tensor, settings: list[str]
) -> None:
    rows, dim = pred.shape

    def whole(loss: Callable[[], Tensor]) -> Callable[[], object]:
        return lambda: torch.autograd.grad(loss().sum(), pred)

    def ours(loss: ClosedForm, setting: str) -> Callable[[], object]:
        step = whole(lambda: loss.rows(pred, targets.table, index).loss)

        def call() -> object:
            os.environ["FAIRSEQ_XL_KERNELS"] = setting
            return step()

        return call

    def naively(loss: ClosedForm) -> Callable[[], Tensor]:
        return lambda: naive(loss.name, pred, targets(index))

    source = torch.ones(5 * rows * dim // 2, device=pred.device)  # memory never written reads faster than any other
    goal = torch.empty_like(source)
    functions: dict[str, Callable[[], object]] = {"floor": lambda: goal.copy_(source)}
    for loss in LOSSES:
        for setting in settings:
            functions[f"{loss.name} {setting}"] = ours(loss, setting)
        if loss.name != "vmf":
            functions[f"{loss.name} naive"] = whole(naively(loss))
    functions["vmf scipy"] = whole(lambda: scipy_vmf(pred, targets(index)))
    functions["negative_sampling rows"] = whole(lambda: negative_sampling(pred, index, targets, 0.5))
    functions["negative_sampling naive"] = whole(
        lambda: margin(pred, targets(index), targets(uniform_negative_words(index, targets, 5)), 0.5, "trust")
    )
    if rows * targets.table.shape[0] <= 5e7:
        functions["most_informative rows"] = whole(lambda: most_informative_negative(pred, index, targets, 0.5))
    times = in_turns(functions, args.repeats, args.device)
    os.environ.pop("FAIRSEQ_XL_KERNELS", None)
    for name in functions:
        kind, _, version = name.partition(" ")
        other = {"naive": settings[-1], "scipy": settings[-1]}.get(version)
        if kind == "negative_sampling" and version == "naive":
            other = "rows"
        kernels = kernel_seconds(functions[name]) if pred.is_cuda else None
        report.add(
            d=dim,
            N=rows,
            loss=kind,
            version=version or "copy",
            ms=1000 * statistics.median(times[name]),
            by_floor=ratio(times, name, "floor"),
            by_ours=ratio(times, name, f"{kind} {other}") if other else None,
            by_vmf=ratio(times, name, f"vmf {version}") if f"vmf {version}" in functions else None,
            kernels_ms=kernels and 1000 * kernels,
        )


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Time by the floor's, per loss and version, at the size nearest to N = 4096, d = 300."""
    size = min({(row["d"], row["N"]) for row in rows}, key=lambda s: abs(s[0] - 300) + abs(s[1] - 4096) / 100)
    chosen = [r for r in rows if (r["d"], r["N"]) == size and r["loss"] != "most_informative"]
    axes = figure.subplots()
    colours = {"copy": "0.5", "plain": "tab:blue", "compiled": "tab:green", "rows": "tab:blue"}
    labels = [f"{r['loss']} {r['version']}" for r in chosen]
    bars = axes.barh(
        labels, [r["by_floor"] for r in chosen], color=[colours.get(r["version"], "tab:red") for r in chosen]
    )
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_xscale("log")
    axes.set_xlim(0.8, 2 * max(r["by_floor"] for r in chosen))
    axes.invert_yaxis()
    axes.set_xlabel("forward and backward, by the time of a copy of the bytes that must move")
    axes.set_title(f"N = {size[1]}, d = {size[0]}")
