"""error and time of the vMF normaliser, ours and what other code computes, over a grid of dimensions and κ

Against mpmath's values in tests/losses/bessel_oracle.json. `scipy` takes logarithms and ratios of
scipy.special.ive; `bound` is the closed form κ / (v − 1 + √((v + 1)² + κ²)), v = d/2, that the 2019 paper
differentiates with; `bound, v − 1` is the same with the order one too small, as some code has it. Both are gradients
only: they have no value of log C.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
import torch
from torch import Tensor

from benchmarks.measure import in_turns
from fairseq_xl.losses import mean_resultant_length, vmf_log_normalizer

ORACLE = Path(__file__).resolve().parents[2] / "tests" / "losses" / "bessel_oracle.json"
SHOWN = (3, 100, 300, 1024, 4096)


def configure(parser: argparse.ArgumentParser) -> None:
    text = "dimensions to measure; add your vectors' own (default: %(default)s)"
    parser.add_argument("--dims", type=int, nargs="+", default=list(SHOWN), metavar="D", help=text)
    parser.add_argument("--rows", type=int, default=16384, help="κ's in a timed call (default: 16384)")


def scipy_log(kappa: Tensor, dim: int) -> Tensor:
    k, v = kappa.cpu().double().numpy(), dim / 2 - 1
    with np.errstate(divide="ignore"):
        value = v * np.log(k) - (v + 1) * math.log(2 * math.pi) - k - np.log(scipy.special.ive(v, k))
    return torch.from_numpy(np.asarray(value)).to(kappa.device)


def scipy_length(kappa: Tensor, dim: int) -> Tensor:
    k, v = kappa.cpu().double().numpy(), dim / 2 - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        value = scipy.special.ive(v + 1, k) / scipy.special.ive(v, k)
    return torch.from_numpy(np.asarray(value)).to(kappa.device)


def _bound(kappa: Tensor, v: float) -> Tensor:
    return kappa / (v - 1 + torch.sqrt((v + 1) ** 2 + kappa**2))


Method = Callable[[Tensor, int], Tensor]

METHODS: dict[str, tuple[Method | None, Method]] = {
    "ours": (vmf_log_normalizer, mean_resultant_length),
    "ours, float32": (lambda k, d: vmf_log_normalizer(k.float(), d), lambda k, d: mean_resultant_length(k.float(), d)),
    "scipy": (scipy_log, scipy_length),
    "bound": (None, lambda k, d: _bound(k, d / 2)),
    "bound, v − 1": (None, lambda k, d: _bound(k, d / 2 - 1)),
}


def run(args: argparse.Namespace, report: Any) -> None:
    grid = [row for row in json.loads(ORACLE.read_text())["rows"] if row[0] in args.dims]
    for dim in args.dims:
        mine = [row for row in grid if row[0] == dim]
        if not mine:
            known = sorted({row[0] for row in json.loads(ORACLE.read_text())["rows"]})
            raise SystemExit(f"error: no oracle for d = {dim}: choose among {known}, or add it to {ORACLE.name}")
        kappa = torch.tensor([float(row[1]) for row in mine], dtype=torch.float64, device=args.device)
        timed = torch.logspace(0, 3, args.rows, dtype=torch.float64, device=args.device)
        times = in_turns(
            {name: partial(length, timed, dim) for name, (_, length) in METHODS.items()}, args.repeats, args.device
        )
        for name, (log_c, length) in METHODS.items():
            errors_a = [_relative(x, float(row[3])) for x, row in zip(length(kappa, dim).tolist(), mine, strict=True)]
            errors_c = None
            if log_c is not None:
                found = log_c(kappa, dim).tolist()
                errors_c = [_relative(x, float(row[2]), 1.0) for x, row in zip(found, mine, strict=True)]
            report.add(
                d=dim,
                method=name,
                worst_A=max(errors_a),
                worst_log_C=errors_c and max(errors_c),
                ns_per_value=1e9 * statistics.median(times[name]) / args.rows,
                kappa=kappa.tolist(),
                errors_A=errors_a,
            )


def _relative(found: float, exact: float, least: float = 0.0) -> float:
    """Error by the size of the exact value; infinite where nothing finite was found."""
    error = abs(found - exact) / max(abs(exact), least)
    return error if math.isfinite(error) else math.inf


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Error of A_d by κ, one panel a dimension; what is not finite stands at the top."""
    dims = sorted({row["d"] for row in rows})
    panels = figure.subplots(1, len(dims), sharey=True, squeeze=False)[0]
    for axes, dim in zip(panels, dims, strict=True):
        for row in (row for row in rows if row["d"] == dim):
            errors = [min(max(e, 1e-17), 10) for e in row["errors_A"]]
            axes.loglog(row["kappa"], errors, marker=".", label=row["method"])
        axes.set_title(f"d = {dim}")
        axes.set_xlabel("κ")
    panels[0].set_ylabel("relative error of A (top: nothing finite)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
