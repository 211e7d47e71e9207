"""Exports translate as the models do, and what does not fold is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from fairseq_xl import Translator
from fairseq_xl.translation.exported.folding import Output

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["vectors", "words"])
@pytest.mark.parametrize("beam", [1, 5])
def test_an_export_translates_as_its_model(folders, exported, raw, name, beam):
    model, export = (Translator.load(folder / name, "cpu", beam=beam) for folder in (folders, exported))
    expected, found = model.candidates(["", *raw]), export.candidates(["", *raw])
    assert len({best[0].text for best in expected}) > 5
    same = [(a, b) for (a,), (b,) in zip(expected, found, strict=True) if a.tokens == b.tokens]
    assert len(same) == len(raw) + 1 if beam == 1 else len(same) > len(raw) * 0.8
    for one, other in same:
        assert (one.text, one.source, one.alignment) == (other.text, other.source, other.alignment)
        # CTranslate2 gives the end of the sentence, which may not come first, no share of the first word's
        assert one.score == pytest.approx(other.score, abs=2e-3)


def test_the_command_compares_sentences_and_says_how(export, work, tmp_path):
    status, out, err = export("vectors", tmp_path / "export", "--sentences", work / "test.de", "--beam", 3)
    assert (status, err) == (0, "")
    greedy, probabilities, beam, *others, end = out.splitlines()
    assert greedy == "greedy: 23 of 23 translations are identical"
    found = re.fullmatch(r"log-probabilities of their words differ by (\S+) at most", probabilities)
    assert float(found[1]) <= 1e-4
    same = int(re.fullmatch(r"beam 3: (\d+) of 23 translations are identical", beam)[1])
    assert bool(others) == (same < 23)
    assert all("the two searches keep and end hypotheses by rules of their own" in line for line in others)
    assert end == f"translate with: fairseq-xl translate text {tmp_path / 'export'} --input FILE"
    # without sentences they are made of the dictionary's words
    status, out, _ = export("words", tmp_path / "words", "--beam", 1)
    assert status == 0
    assert out.startswith("greedy: 60 of 60 translations are identical\n")
    assert "beam" not in out


def test_small_weights_are_compared_too(export, exported, raw, tmp_path):
    status, out, _ = export("vectors", tmp_path / "small", "--compute-type", "int8")
    assert status == 0
    assert re.search(r"^int8: \d+ of 60 greedy translations are those of float32; .* by 0\.\d+ on average$", out, re.M)
    sizes = [(folder / "model.bin").stat().st_size for folder in (tmp_path / "small", exported / "vectors")]
    assert sizes[0] < 0.7 * sizes[1], "of so small a model, much is positions and vectors, which stay"
    assert Translator.load(tmp_path / "small").model.compute_type == "int8_float32"
    assert len(Translator.load(tmp_path / "small").translate(raw)) == len(raw)


def test_the_cosine_is_greedy(export, folders, raw, tmp_path):
    status, out, _ = export("vectors", tmp_path / "export", "--decode-score", "cosine", "--beam", 1)
    assert status == 0
    assert "scores are those of the posterior" in out
    expected = Translator.load(folders / "vectors", "cpu", decode_score="cosine", beam=1).translate(raw)
    assert Translator.load(tmp_path / "export").translate(raw) == expected


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vectors", {"decode_prior_weight": 0.7, "temperature": 1.7, "unkpen": 2.0}),
        ("words", {"temperature": 0.5, "unkpen": -3.0}),
    ],
)
def test_priors_temperatures_and_penalties_fold(export, folders, raw, tmp_path, name, options):
    words = [word for option, value in options.items() for word in (f"--{option.replace('_', '-')}", value)]
    status, _, err = export(name, tmp_path / "export", *words)
    assert (status, err) == (0, "")
    model, found = (
        Translator.load(folder, "cpu", beam=1, **options) for folder in (folders / name, tmp_path / "export")
    )
    assert found.translate(raw) == model.translate(raw)
    assert found.translate(["Der Xylograph sieht."]) == model.translate(["Der Xylograph sieht."])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("vectors", ["--decode-score", "cosine"], "decode_score cosine folds for greedy search alone"),
        (
            "vectors",
            ["--decode-score", "cosine", "--beam", 1, "--decode-prior-weight", 1],
            "decode_prior_weight 1",
        ),
        ("vectors", ["--decode-score", "cosine", "--beam", 1, "--unkpen", 3], "unkpen 3 does not fold"),
        ("vectors", ["--decode-score", "vmf_density"], "decode_score vmf_density does not fold: say vmf_posterior"),
        ("vectors", ["--decode-csls-weight", 0.5], "decode_csls_weight 0.5 does not fold"),
        ("vectors", ["--sampling"], "sampling: an export does plain beam search"),
        ("words", ["--diverse-beam-groups", 5], "diverse_beam_groups: an export does plain beam search"),
        ("vectors", ["--nearest", "ivf"], "nearest ivf: an export scores every word"),
        ("words", ["--decode-score", "cosine"], "--decode-score is for a continuous output"),
        ("words", ["--min-len", 300], "min_len is 300"),
        ("words", ["--sentences", "/dev/null"], "/dev/null holds no sentences to compare by"),
        ("words", ["--swap-vectors", "x"], "--swap-vectors is for an export"),
        ("nowhere", [], "is no folder: give one that fairseq-xl translate pack made, which takes a checkpoint"),
        (".", [], "translator.json is missing: `fairseq-xl translate pack` makes such a folder"),
    ],
)
def test_what_does_not_fold_is_told_in_one_sentence(export, tmp_path, name, arguments, message):
    status, out, err = export(name, tmp_path / "export", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["continuous"], "a ContinuousLSTMTiny does not fold: an export is made of a continuous_transformer"),
        (["stock"], "a LSTMModel does not fold"),
        (["vectors", "vectors"], "is an ensemble of 2 models, which do not fold"),
    ],
)
def test_other_models_are_refused(export, pack_model, transformers, tmp_path, names, message):
    pack_model(tmp_path / "model", *names)
    status, _, err = export(tmp_path / "model", tmp_path / "export")
    assert status == 2
    assert message in err
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize(("factor", "message"), [(-1.0, "greedily it translates"), (1.01, "a log-probability in")])
def test_an_export_that_translates_otherwise_is_not_written(export, tmp_path, monkeypatch, factor, message):
    folded = Output.folded
    monkeypatch.setattr(Output, "folded", lambda self: tuple(np.float32(factor) * part for part in folded(self)))
    status, _, err = export("vectors", tmp_path / "export")
    assert status == 2
    assert err.startswith(f"error: the export was not written: {message}")
    assert not any(tmp_path.iterdir())


def test_an_option_that_ctranslate2_lacks_is_named(export, folders, pack_model, work, transformers, tmp_path):
    checkpoint = torch.load(transformers / "words" / "checkpoint_last.pt", weights_only=True)
    checkpoint["cfg"]["model"]["activation_fn"] = "linear"
    (work / "linear").mkdir(exist_ok=True)
    torch.save(checkpoint, work / "linear" / "checkpoint_last.pt")
    pack_model(tmp_path / "model", "linear")
    status, _, err = export(tmp_path / "model", tmp_path / "export")
    assert status == 2
    assert "CTranslate2 has no --activation-fn linear" in err


def test_an_export_without_the_package_says_how_to_get_it(export, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ctranslate2", None)
    status, _, err = export("vectors", tmp_path / "export")
    assert status == 2
    assert "an export needs the package ctranslate2: bash scripts/setup.sh --extras ctranslate2" in err
