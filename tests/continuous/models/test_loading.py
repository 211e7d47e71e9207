"""Loading a trained model: what is not there is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.continuous.models.loading import load_model
from fairseq_xl.io.errors import InputError


def test_an_absent_checkpoint_or_data_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no checkpoint at .*/gone\.pt"):
        load_model(tmp_path / "gone.pt", tmp_path)
    (tmp_path / "model.pt").touch()
    with pytest.raises(InputError, match=r"no folder .*/bin: give the one fairseq-preprocess wrote"):
        load_model(tmp_path / "model.pt", tmp_path / "bin")
