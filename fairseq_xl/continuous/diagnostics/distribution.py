"""The distribution of numbers that pass by once: moments, quantiles and a histogram in fixed memory."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FINE = 20  # what one bin of the histogram is divided into for the quantiles


class Distribution:
    """Feed it with :meth:`update`, read it with :meth:`result`.

    The bins do not depend on the numbers, so that histograms of several models can be laid over each other.

    Args:
        low, high: between which the numbers are expected. Those outside count in the outermost bins; the mean,
            the standard deviation and the extremes are those of all numbers as they are.
        bins: of the histogram that is reported.
        log: bins of equal ratio instead of equal width; ``low`` is then above zero.
    """

    def __init__(self, low: float, high: float, bins: int = 100, log: bool = False):
        self.low, self.high, self.bins, self.log = low, high, bins, log
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0  # sum of squared distances from the mean
        self.least, self.greatest = math.inf, -math.inf
        self.fine = torch.zeros(bins * FINE, dtype=torch.long)

    def update(self, values: Tensor) -> None:
        """Count in finite ``values`` of any shape."""
        x = values.detach().double().flatten().cpu()
        if not x.numel():
            return
        # Sums of squares about each part's own mean (Chan, Golub & LeVeque 1983): nothing cancels.
        count, shift = self.count + x.numel(), x.mean().item() - self.mean
        self.squares += (x - x.mean()).square().sum().item()
        self.squares += shift**2 * self.count * x.numel() / count
        self.mean += shift * x.numel() / count
        self.count = count
        self.least = min(self.least, x.min().item())
        self.greatest = max(self.greatest, x.max().item())
        low, high = self._scale(torch.tensor([self.low, self.high], dtype=torch.float64))
        share = (self._scale(x.clamp(self.low, self.high)) - low) / (high - low)
        place = (share * len(self.fine)).long().clamp_max(len(self.fine) - 1)
        self.fine += torch.bincount(place, minlength=len(self.fine))

    def quantile(self, share: float) -> float:
        """The least number that a ``share`` of all numbers do not exceed, to half a fine bin where that bin is
        not an outermost one.

        Raises:
            ValueError: no numbers.
        """
        if not self.count:
            raise ValueError("no numbers, so no quantiles")
        rank = torch.tensor(max(1, math.ceil(share * self.count)))
        middle = (int(torch.searchsorted(self.fine.cumsum(0), rank)) + 0.5) / len(self.fine)
        spread = self.high / self.low if self.log else self.high - self.low
        value = self.low * spread**middle if self.log else self.low + spread * middle
        return min(max(value, self.least), self.greatest)

    def result(self) -> dict[str, Any]:
        """Plain numbers. ``count`` is there always; the others unless it is 0: ``mean``, ``std`` (over n), ``min``,
        ``max``, ``quantiles`` by share, and ``histogram``. The histogram has counts in bins from ``low`` to ``high``,
        of equal width, or of equal ratio where its ``scale`` is log."""
        if not self.count:
            return {"count": 0}
        return {
            "count": self.count,
            "mean": self.mean,
            "std": math.sqrt(self.squares / self.count),
            "min": self.least,
            "max": self.greatest,
            "quantiles": {str(share): self.quantile(share) for share in QUANTILES},
            "histogram": {
                "low": self.low,
                "high": self.high,
                "scale": "log" if self.log else "linear",
                "counts": self.fine.view(self.bins, FINE).sum(1).tolist(),
            },
        }

    def _scale(self, x: Tensor) -> Tensor:
        return x.log() if self.log else x
