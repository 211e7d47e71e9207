"""A bar that appears only where work takes longer than a second."""

from __future__ import annotations

from tqdm import tqdm


def progress_bar(what: str, shown: bool, total: int | None, unit: str) -> tqdm:
    """A bar on stderr that appears only when the work takes more than a second; ``total`` may be unknown."""
    return tqdm(desc=what, total=total, unit=unit, unit_scale=True, delay=1, mininterval=0.5, disable=not shown)
