"""A small encoder, packed and loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl import SentenceEncoder
from fairseq_xl.encode.encoder import pack

TEXT = ["der rote hund rennt .", "", "a cat .", " \t", "the small dog sees a red cat .", "x"]


@pytest.fixture(scope="session")
def packed(upos_run, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "encoder"
    pack(upos_run[1] / "checkpoint_last.pt", folder)
    return folder


@pytest.fixture(scope="session")
def encoder(packed) -> SentenceEncoder:
    return SentenceEncoder.load(packed, "cpu")
