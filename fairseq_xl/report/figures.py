"""Pictures: the same drawing as PNG and PDF on white, and as PNG on black for a page in dark mode."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.packages import require

INVISIBLE = ("\u200d", "\ufe0e", "\ufe0f")
"""What joins emoji, and chooses how they look."""
REGIONAL = "regional indicator symbol letter "
"""Two of these are a flag."""

Draw = Callable[[Any], None]
"""Draws on the matplotlib figure that it is given."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure: what it is called, what it shows in words, its PNG on light and on dark ground, and its width."""

    name: str
    caption: str
    light: bytes
    dark: bytes
    inches: float


def draw_picture(folder: Path, name: str, caption: str, draw: Draw, size: tuple[float, float] = (10.0, 3.6)) -> Picture:
    """Draw on a matplotlib figure and write ``FOLDER/NAME.png`` and ``.pdf``, whole or not at all.

    Raises:
        InputError: matplotlib is missing.
    """
    light, pdf = rendered(draw, size, "png"), rendered(draw, size, "pdf")
    dark = rendered(draw, size, "png", "dark_background")
    with atomic_outputs(folder / f"{name}.png", folder / f"{name}.pdf") as (png_file, pdf_file):
        png_file.write_bytes(light)
        pdf_file.write_bytes(pdf)
    return Picture(name, caption, light, dark, size[0])


def rendered(draw: Draw, size: tuple[float, float], kind: str, style: str = "default") -> bytes:
    """A drawing of ``size`` inches as ``png``, ``pdf`` or ``svg``. Raises: InputError: matplotlib is missing."""
    require("matplotlib", "report", "a figure").use("Agg")
    from matplotlib import pyplot

    # A dollar sign in a label is one, and begins no formula.
    with pyplot.style.context(style), pyplot.rc_context({"text.parse_math": False}):
        figure = pyplot.figure(figsize=size, layout="constrained")
        try:
            draw(figure)
            stream = io.BytesIO()
            # No date inside: the same numbers give the same file.
            metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
            figure.savefig(stream, format=kind, dpi=130, metadata=metadata)
        finally:
            pyplot.close(figure)
    return stream.getvalue()


def draw_intervals(
    axes: Any,
    names: Sequence[str],
    means: Sequence[float],
    intervals: Sequence[tuple[float, float] | None],
    runs: Sequence[Sequence[float]],
    label: str,
) -> None:
    """A row for each system, the first at the top: its mean, its interval as a line, its single runs as small dots.

    Args:
        label: what the means are, for a legend.
    """
    for place, (mean, interval, single) in enumerate(zip(means, intervals, runs, strict=True)):
        if interval is not None:
            axes.plot(interval, [place, place], color="C0", linewidth=2)
        if len(single) > 1:
            axes.plot(single, [place] * len(single), ".", color="C0", alpha=0.5)
        axes.plot(mean, place, "o", color="C0", label="" if place else label)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def drawable(text: str) -> str:
    """Text whose symbols the figures' font has: another, as most emoji are, is named ("two hearts")."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))

    def shown(letter: str) -> str:
        if letter in INVISIBLE or font.get_char_index(ord(letter)):
            return "" if letter in INVISIBLE else letter
        if unicodedata.category(letter) not in ("So", "Sk"):
            return letter
        name = unicodedata.name(letter, "?").lower()
        return name.removeprefix(REGIONAL).upper() if name.startswith(REGIONAL) else name

    return "".join(map(shown, text))


def plain_ticks(axis: Any) -> None:
    """1, 2, 5, 10 and so on along a logarithmic axis, not powers of ten as formulas."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())
