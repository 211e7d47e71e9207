"""A picture to show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fairseq_xl.report.figures import Picture, draw_picture


@pytest.fixture
def drawn() -> Callable[[Path], Picture]:
    """``drawn(FOLDER)``: a picture of two points, written there as ``lines``."""
    caption = "Two lines & more"
    return lambda folder: draw_picture(folder, "lines", caption, lambda figure: figure.subplots().plot([1, 2], [3, 4]))
