"""A bar that appears only where work takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

SECONDS, SECONDS_OF_A_LOG = 0.5, 30.0
"""From one drawing of a bar to the next, on a terminal and in a file."""


def progress_bar(
    what: str, shown: bool, total: int | None, unit: str, items: Iterable[Any] | None = None, done: int = 0
) -> tqdm:
    """A bar on stderr that appears only when the work takes more than a second.

    In a log it takes half a minute, and is drawn that often, since each drawing stays there.

    Args:
        total: of units; it may be unknown. By default that of ``items``.
        items: what to go through by the bar itself; without them, ``update`` counts.
        done: units that an earlier run did.
    """
    # A notebook draws over what it has, as a terminal does.
    redrawn = sys.stderr.isatty() or "ipykernel" in sys.modules
    seconds = SECONDS if redrawn else SECONDS_OF_A_LOG
    return tqdm(
        items,
        desc=what,
        total=total,
        unit=unit,
        unit_scale=True,
        delay=1,
        mininterval=seconds,
        maxinterval=max(seconds, 10),
        initial=done,
        disable=not shown,
    )
