"""Pictures: the same drawing as PNG and PDF on white, and as PNG on black for a page in dark mode."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.packages import require

Draw = Callable[[Any], None]
"""Draws on the matplotlib figure that it is given."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure: what it is called, what it shows in words, and its PNG on light and on dark ground."""

    name: str
    caption: str
    light: bytes
    dark: bytes


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
    return Picture(name, caption, light, dark)


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


def plain_ticks(axis: Any) -> None:
    """1, 2, 5, 10 and so on along a logarithmic axis, not powers of ten as formulas."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())
