"""Section ``continuous``: what it may say, and how it is kept beside a model."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from fairseq_xl.eole import settings
from fairseq_xl.eole.settings import Continuous, read_config, require_eole, saved
from fairseq_xl.io.errors import InputError


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "has no section 'continuous' with target_vectors"),
        ({"loss": "vmf"}, "has no section 'continuous' with target_vectors"),
        ({"target_vectors": "x", "los": "vmf"}, "continuous has no key 'los'"),
        ({"target_vectors": "x", "loss": "softmax"}, "continuous.loss is one of cosine, "),
        (
            {"target_vectors": "x", "loss_options": "margin"},
            "continuous.loss_options is 'margin': give a mapping",
        ),
        (
            {"target_vectors": "x", "decode_scale": "big"},
            "continuous.decode_scale is 'big': give a number",
        ),
        ({"target_vectors": "x", "decode_scale": -1}, "continuous.decode_scale is -1: give a number from"),
        ({"target_vectors": "x", "word_bias": True}, "the loss syn_margin_proj learns no biases"),
        ({"target_vectors": "x", "word_bias": 1}, "continuous.word_bias is 1: give true or false"),
        ({"target_vectors": "x", "decode_score": "vmf_density"}, "decode_score is one of cosine, vmf_posterior,"),
    ],
)
def test_mistakes_in_the_section_are_sentences(given: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Continuous.parse(given)


def test_what_is_kept_beside_a_model_comes_back(tmp_path: Path) -> None:
    made = Continuous.parse(
        {"target_vectors": "x.vec", "loss": "vmf", "loss_options": {"lambda1": 0}, "min_coverage": 1}
    )
    made.write(tmp_path / settings.FILE, dim=7)
    assert saved(tmp_path) == (made, 7)
    assert made.decoding({"decode_scale": 5}).decode_scale == 5
    with pytest.raises(InputError, match="loss is settled by training"):
        made.decoding({"loss": "vmf"})


def test_folders_without_it_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no model folder at"):
        saved(tmp_path / "none")
    with pytest.raises(InputError, match="use eole's own commands with it"):
        saved(tmp_path)
    (tmp_path / settings.FILE).write_text('{"version": 1, "dim": 8')
    with pytest.raises(InputError, match="is damaged"):
        saved(tmp_path)


def test_a_configuration_may_name_variables_of_the_environment(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("WHERE", "/data")
    path = tmp_path / "config.yaml"
    path.write_text("src_vocab: ${oc.env:WHERE}/dict\ncontinuous: {loss: vmf}\n")
    assert read_config(path) == ({"src_vocab": "/data/dict"}, {"loss": "vmf"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a: [", "cannot be read"), ("words", "is no configuration"), ("a: ${oc.env:NO_SUCH}", "NO_SUCH is not set")],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_config(path)
    with pytest.raises(InputError, match="cannot read"):
        read_config(tmp_path / "none.yaml")


@pytest.mark.parametrize(("version", "fits"), [("0.6.4", True), ("0.6.12", True), ("0.6.3", False), ("0.7.0", False)])
def test_another_version_of_eole_is_refused(monkeypatch, version: str, fits: bool) -> None:
    monkeypatch.setattr(settings, "require", lambda *arguments: None)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    if fits:
        return require_eole()
    with pytest.raises(InputError, match=f"eole {version} is installed, and this extends eole>=0.6.4,<0.7"):
        require_eole()
