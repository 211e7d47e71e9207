"""Draw the pictures of README and docs/: python scripts/figures.py [NAME …]

Each is a function here, drawn with the style of reports, and written to docs/figures/NAME.png.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the checkout's package, before any that is installed

FOLDER = ROOT / "docs" / "figures"
BLUE, ORANGE, GREEN, GREY = "tab:blue", "tab:orange", "tab:green", "0.45"
DRAWN: dict[str, tuple[Callable[[Any], None], tuple[float, float]]] = {}
"""Name of a picture -> what draws it, and its size in inches."""


def picture(name: str, width: float, height: float) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Enter a drawing function under the name of its file."""

    def enter(draw: Callable[[Any], None]) -> Callable[[Any], None]:
        DRAWN[name] = draw, (width, height)
        return draw

    return enter


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    """An arrow between two points of the picture."""
    settings = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14, "lw": 1.8, **style}
    axes.annotate("", xy=end, xytext=start, arrowprops=settings)


def box(axes: Any, x: float, y: float, width: float, height: float, text: str, colour: str) -> None:
    """A rounded box with a text in its middle."""
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch((x, y), width, height, style, fc=colour, ec="0.3", lw=1, alpha=0.25))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=11)


@picture("continuous-output", 10, 3.5)
def continuous_output(figure: Any) -> None:
    """A softmax beside a continuous output."""
    import numpy as np

    left, right = figure.subplots(1, 2)
    for axes, title in ((left, "Softmax: one score for every word"), (right, "Continuous output: one vector")):
        axes.set(xlim=(0, 10), ylim=(0.4, 6.2), aspect="equal")
        axes.axis("off")
        axes.set_title(title, fontsize=13)
        box(axes, 0.2, 2.4, 2.2, 1.6, "decoder's\nstate", GREY)
    words = ("dog", "cat", "runs", "walks", "the", "…")
    heights = (0.92, 0.42, 0.3, 0.22, 0.12, 0.08)
    box(left, 3.6, 0.7, 2.0, 5.0, "V × d\nweights,\nlearnt", ORANGE)
    arrow(left, (2.4, 3.2), (3.5, 3.2), color="0.3")
    arrow(left, (5.7, 3.2), (6.6, 3.2), color="0.3")
    for place, (word, height) in enumerate(zip(words, heights, strict=True)):
        y = 5.2 - 0.85 * place
        left.barh(y, 1.9 * height, left=8.0, height=0.5, color=ORANGE)
        left.text(7.8, y, word, ha="right", va="center", fontsize=11)
    box(right, 3.4, 2.4, 1.7, 1.6, "d × d\nweights", BLUE)
    arrow(right, (2.4, 3.2), (3.3, 3.2), color="0.3")
    centre, radius = (7.7, 3.2), 2.15
    arrow(right, (5.1, 3.2), (centre[0] - radius - 0.05, 3.2), color="0.3")
    angles = np.linspace(0, 2 * np.pi, 200)
    right.plot(centre[0] + radius * np.cos(angles), centre[1] + radius * np.sin(angles), color="0.75", lw=1)
    for word, degrees in (("dog", 62), ("cat", 95), ("runs", 222), ("walks", 248), ("the", 318)):
        angle = np.radians(degrees)
        x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
        right.plot([x], [y], "o", color=GREEN if word == "dog" else GREY, ms=7)
        away = 1.17
        right.text(
            *(centre[0] + away * radius * np.cos(angle), centre[1] + away * radius * np.sin(angle), word),
            ha="left" if np.cos(angle) > 0.2 else "right" if np.cos(angle) < -0.2 else "center",
            va="center",
            fontsize=11,
        )
    tip = np.radians(49)
    arrow(right, centre, (centre[0] + 0.93 * radius * np.cos(tip), centre[1] + 0.93 * radius * np.sin(tip)), color=BLUE)
    right.text(centre[0] + 0.1, centre[1] - 0.45, "prediction", color=BLUE, fontsize=11)


def main(arguments: list[str] | None = None) -> None:
    """Draw the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(DRAWN)}; by default all")
    args = parser.parse_args(arguments)
    if unknown := set(args.names) - DRAWN.keys():
        parser.error(f"there is no picture {min(unknown)}: the names are {', '.join(DRAWN)}")
    from fairseq_xl.io.atomic import atomic_outputs
    from fairseq_xl.report.figures import rendered

    for name in args.names or DRAWN:
        draw, size = DRAWN[name]
        image = rendered(draw, size, "png")
        with atomic_outputs(FOLDER / f"{name}.png") as (file,):
            file.write_bytes(image)


if __name__ == "__main__":
    main()
