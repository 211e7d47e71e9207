"""Translation by eole's search: greedy search takes the nearest words, a beam finds better, lines stay beside lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

from fairseq_xl.eole.prediction import engine_of, predict
from fairseq_xl.eole.settings import FILE
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import best_words


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 5}, {"beam_size": 5, "alpha": 0.6, "n_best": 1}])
def test_a_trained_model_translates(trained: Path, toy: Path, tmp_path: Path, accuracy, options: dict) -> None:
    predict(trained, toy / "test.src", tmp_path / "out", options, {})
    assert accuracy(tmp_path / "out", toy / "test.tgt") > 0.8


def test_a_step_of_it_and_other_decoding_do_too(trained: Path, toy: Path, tmp_path: Path, accuracy) -> None:
    decoding = {"decode_score": "vmf_posterior", "decode_csls_weight": 0.5, "decode_prior_weight": 0.01}
    predict(trained / "step_400", toy / "test.src", tmp_path / "out", {}, decoding)
    assert accuracy(tmp_path / "out", toy / "test.tgt") > 0.8


def test_greedy_search_takes_the_word_nearest_to_each_vector(trained: Path, toy: Path) -> None:
    engine = engine_of(trained, toy / "test.src", {"beam_size": 1}, {})
    _, _, found = engine._predict(engine._build_inference_iterator())
    model, vocabs = engine.predictor.model, engine.vocabs
    for line, (translation,) in list(zip((toy / "test.src").read_text().splitlines(), found, strict=True))[:10]:
        src = torch.tensor([vocabs["src"](line.split())])
        words = vocabs["tgt"](["<s>", *translation.split(), "</s>"])
        with torch.no_grad():
            states = model(src, torch.tensor([words]), torch.tensor([src.shape[1]])).dec_out
            assert best_words(model.generator.vectors(states)[0], model.generator.targets).tolist() == words[1:]


def test_a_beam_finds_what_is_at_least_as_likely(trained: Path, toy: Path) -> None:
    likely = []
    for beam in (1, 5):
        engine = engine_of(trained, toy / "test.src", {"beam_size": beam}, {"decode_scale": 3})
        scores, _, _ = engine._predict(engine._build_inference_iterator())
        likely.append(sum(float(score[0]) for score in scores))
    assert likely[1] >= likely[0] - 1e-3


def test_an_empty_line_stays_a_line(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("s1 s2 s3\n\ns4 s5 s6\n")
    predict(trained, tmp_path / "in", tmp_path / "out", {"beam_size": 1}, {})
    predict(trained, tmp_path / "in", tmp_path / "beam", {"beam_size": 3}, {})
    for name in ("out", "beam"):
        assert len((tmp_path / name).read_text().split("\n")) == 4


def test_mistakes_are_sentences_and_leave_the_output_alone(trained: Path, toy: Path, tmp_path: Path) -> None:
    output, empty = tmp_path / "out", tmp_path / "empty"
    output.write_text("kept\n")
    empty.touch()
    eoles = tmp_path / "eoles"
    shutil.copytree(trained / "step_400", eoles)
    (eoles / FILE).unlink()
    for model, src, options, decoding, sentence in (
        (tmp_path / "none", toy / "test.src", {}, {}, "there is no model folder"),
        (eoles, toy / "test.src", {}, {}, "it predicts no vectors"),
        (trained, tmp_path / "none", {}, {}, "there is no file"),
        (trained, empty, {}, {}, "is empty"),
        (trained, toy / "test.src", {"beam": 3}, {}, "beam: Extra inputs are not permitted"),
        (trained, toy / "test.src", {"world_size": 2}, {}, "predicts in one process"),
        (trained, toy / "test.src", {}, {"decode_scale": 0}, "continuous.decode_scale is 0"),
        (trained, toy / "test.src", {}, {"loss": "vmf"}, "settled by training"),
    ):
        with pytest.raises(InputError, match=sentence):
            predict(model, src, output, options, decoding)
        assert output.read_text() == "kept\n"


def test_a_folder_of_two_models_is_refused(trained: Path, toy: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(trained / "step_400", mixed)
    from safetensors.torch import load_file, save_file

    weights = load_file(mixed / "model.00.safetensors")
    del weights["generator.targets.table"]
    save_file(weights, mixed / "model.00.safetensors")
    with pytest.raises(InputError, match="holds no table of target vectors"):
        engine_of(mixed, toy / "test.src", {}, {})
    assert json.loads((mixed / FILE).read_text())["dim"] == 16
