"""Loading a trained model: what is not there is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairseq import checkpoint_utils
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import OmegaConf

from fairseq_xl.continuous.models.loading import load_model
from fairseq_xl.io.errors import InputError


def test_an_absent_checkpoint_or_data_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no checkpoint at .*/gone\.pt"):
        load_model(tmp_path / "gone.pt", tmp_path)
    (tmp_path / "model.pt").touch()
    with pytest.raises(InputError, match=r"no folder .*/bin: give the one fairseq-preprocess wrote"):
        load_model(tmp_path / "model.pt", tmp_path / "bin")


def test_a_folder_without_preprocessed_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint of a training without --source-lang leaves the languages to the names of the data's files."""
    (tmp_path / "model.pt").touch()

    def load(filenames: list[str], arg_overrides: dict[str, str]) -> None:
        TranslationTask.setup_task(OmegaConf.structured(TranslationConfig(**arg_overrides)))

    monkeypatch.setattr(checkpoint_utils, "load_model_ensemble_and_task", load)
    with pytest.raises(InputError, match=r"holds no preprocessed text: give the folder fairseq-preprocess wrote"):
        load_model(tmp_path / "model.pt", tmp_path, "cpu")
