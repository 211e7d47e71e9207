"""A small encoder, packed by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.cli.main import main


@pytest.fixture(scope="session")
def packed(upos_run: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "encoder"
    assert main(["embed", "pack", str(upos_run[1] / "checkpoint_last.pt"), "-o", str(folder)]) == 0
    return folder
