#!/usr/bin/env python
"""Write the table against which the von Mises-Fisher normaliser is tested: mpmath's values with 60 digits.

    python scripts/bessel_oracle.py tests/losses/bessel_oracle.json

Per dimension d and concentration κ: log C_d(κ) and A_d(κ), rounded to 20 digits.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import mpmath
from tqdm import tqdm

# 126 … 131 lie on both sides of the order from which the expansion is used directly.
DIMENSIONS = (2, 3, 4, 5, 8, 16, 50, 100, 126, 127, 128, 129, 130, 131, 200, 300, 512, 1024, 4096, 32768)
CONCENTRATIONS = (
    "1e-12",
    "1e-6",
    "1e-3",
    "0.1",
    "0.5",
    "1",
    "1.02",
    "2",
    "5",
    "10",
    "20",
    "50",
    "100",
    "120",
    "200",
    "500",
    "1e3",
    "1e4",
    "1e5",
    "1e6",
)
DIGITS = 60


def log_bessel(order: mpmath.mpf, kappa: mpmath.mpf) -> mpmath.mpf:
    """log I_v(κ) by its power series Σ (κ/2)^{2k+v} / (k! Γ(k+v+1)), whose terms are all positive: nothing cancels.

    Summed outwards from the largest term until the others no longer count, which for κ = 10⁶ takes ten thousand
    terms; ``mpmath.besseli`` takes forever where order and argument are both large.
    """
    square = (kappa / 2) ** 2
    largest = int(mpmath.floor((mpmath.sqrt(order**2 + kappa**2) - order) / 2))
    log_term = (
        (2 * largest + order) * mpmath.log(kappa / 2)
        - mpmath.loggamma(largest + 1)
        - mpmath.loggamma(largest + order + 1)
    )
    total, smallest = mpmath.mpf(1), mpmath.mpf(10) ** -DIGITS
    term, k = mpmath.mpf(1), largest
    while term > smallest:
        k += 1
        term *= square / (k * (k + order))
        total += term
    term, k = mpmath.mpf(1), largest
    while k > 0 and term > smallest:
        term *= k * (k + order) / square
        k -= 1
        total += term
    return log_term + mpmath.log(total)


def exact(kappa: str | float, dim: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """log C_d(κ) and A_d(κ), κ > 0, to about DIGITS − 10 digits."""
    with mpmath.workdps(DIGITS + 10):
        k, v = mpmath.mpf(kappa), mpmath.mpf(dim) / 2 - 1
        log_i = log_bessel(v, k)
        log_c = v * mpmath.log(k) - (v + 1) * mpmath.log(2 * mpmath.pi) - log_i
        return log_c, mpmath.exp(log_bessel(v + 1, k) - log_i)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="the table, as JSON")
    path = parser.parse_args().output
    rows = [
        [dim, kappa, *(mpmath.nstr(value, 20) for value in exact(kappa, dim))]
        for dim in tqdm(DIMENSIONS, unit="dimension")
        for kappa in CONCENTRATIONS
    ]
    about = f"[d, kappa, log C_d, A_d] by mpmath {mpmath.__version__} with {DIGITS} digits"
    lines = ",\n".join(json.dumps(row) for row in rows)
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.write_text(f'{{"about": {json.dumps(about)}, "rows": [\n{lines}\n]}}\n')
    unfinished.replace(path)


if __name__ == "__main__":
    main()
