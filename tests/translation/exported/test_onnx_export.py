"""The two ONNX models of a continuous_lstm: they compute what torch does, and a program translates with them alone."""

from __future__ import annotations

import json
from argparse import Namespace
from functools import partial

import numpy as np
import pytest
import tiny_models
import torch
from tiny_words import dictionary, write_vectors

from fairseq_xl import Translator
from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import InputError
from fairseq_xl.translation.exported import onnx_export

for package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(package, reason="extra `onnx` is not installed")

pytestmark = pytest.mark.slow


def build(folder, **options):
    words = dictionary(13)
    task = Namespace(source_dictionary=words, target_dictionary=words)
    return tiny_models.lstm(task, write_vectors(folder / "en.vec", 13, 5), **options)


def compare(model, folder):
    """Exports a model; gives a function that says by how much the export then differs from it, over sources of several
    lengths."""
    encoder, step = onnx_export.Encoder(model).eval(), onnx_export.Step(model).eval()
    sources = [torch.tensor([*range(4, 4 + length), 2]) for length in (9, 7, 6, 3, 2, 1, 1, 1)]
    onnx_export._write(folder, encoder, step, tiny_models.SOURCE)
    return partial(onnx_export._compare, folder, encoder, step, sources, 1, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"attention": "additive", "input_feeding": True, "decode_csls_weight": 0.5, "decode_prior_weight": 0.2},
        {"attention": "general", "encoder_layers": 2, "decoder_layers": 2, "decode_score": "vmf_posterior"},
        {"attention": "dot", "input_feeding": True, "decoder_output": "softmax", "decoder_layers": 2},
    ],
)
def test_steps_are_those_of_torch_and_another_model_is_noticed(options, tmp_path):
    model = build(tmp_path, **options)
    difference = compare(model, tmp_path)
    assert difference() < 1e-5
    for change, shown in ((0.1, r"\d"), (float("nan"), "nan")):
        with torch.no_grad():
            model.decoder.output_projection.bias += change
        with pytest.raises(InputError, match=rf"was not written: its steps differ from the model's by {shown}"):
            difference()


def translated(folder, text: str) -> str:
    """What a program without torch does, greedily."""
    import onnxruntime

    encoder, decoder = (onnxruntime.InferenceSession(str(folder / name)) for name in ("encoder.onnx", "decoder.onnx"))
    about = json.loads((folder / "steps.json").read_text())
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    read, spoken = (
        special + [line.split()[0] for line in (folder / f"dict.{language}.txt").read_text().splitlines()]
        for language in (about["source_lang"], about["target_lang"])
    )
    source = [read.index(word) if word in read else about["source"]["unk"] for word in text.split()]
    state = encoder.run(None, {"tokens": np.array([[*source, about["source"]["eos"]]])})
    previous, found = about["target"]["eos"], []
    while len(found) < 50:
        given = dict(zip(["states", "padding", "hidden", "cell", "feed"], state, strict=True))
        scores, words, attention, *after = decoder.run(None, {"previous": np.array([previous]), **given})
        assert attention.shape == (1, len(source) + 1)
        assert (np.diff(scores) <= 0).all()
        previous = int(words[0, 0])
        if previous == about["target"]["eos"]:
            break
        found.append(spoken[previous])
        state[2:] = after
    return " ".join(found)


@pytest.mark.parametrize("name", ["continuous", "softmax"])
def test_a_program_translates_as_fairseq_does(name, packed, work, raw, capsys, tmp_path):
    words = ["translate", "export", packed / name, "--output", tmp_path / "out", "--format", "onnx"]
    assert cli.main([*map(str, words), "--sentences", str(work / "test.de")]) == 0
    assert capsys.readouterr().out.startswith("23 sentences step by step: log-probabilities and states differ by ")
    translator = Translator.load(packed / name, "cpu", beam=1)
    for best in translator.candidates(raw[:5]):
        assert translated(tmp_path / "out", " ".join(best[0].source)) == " ".join(best[0].tokens)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("stock", [], "a LSTMModel is not exported to ONNX, only a continuous_lstm is"),
        ("both", [], "is an ensemble of 2 models: give one of them"),
        ("continuous", ["--beam", "3"], "beam: an ONNX export holds the model, and its search is your program's"),
        ("continuous", ["--compute-type", "int8"], "compute_type int8 is for --format ctranslate2"),
        ("continuous", ["--decode-score", "vmf_density"], "say vmf_posterior, which ranks words alike"),
    ],
)
def test_what_cannot_be_exported(name, given, said, packed, capsys, tmp_path):
    words = ["translate", "export", packed / name, "--output", tmp_path / "out", "--format", "onnx", *given]
    assert cli.main([str(word) for word in words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
