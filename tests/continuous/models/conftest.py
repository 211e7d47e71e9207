"""The vectors of the target words."""

from __future__ import annotations

import pytest

DIM = 9


@pytest.fixture
def vectors(write_vectors) -> str:
    return write_vectors(13, DIM)
