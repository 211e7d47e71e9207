"""The ONNX model, and why none is written."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fairseq_xl.encode.onnx_export import export
from fairseq_xl.io.errors import InputError

from .conftest import TEXT


def test_the_onnx_model_gives_the_same_vectors(encoder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    path = tmp_path / "encoder.onnx"
    assert export(encoder, path) < 1e-5
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows = [encoder.task.encode_text(sentence) for sentence in TEXT if sentence.strip()]
    lengths = np.array([len(row) for row in rows])
    tokens = torch.nn.utils.rnn.pad_sequence(rows, True, 1).numpy()
    (found,) = session.run(["embeddings"], {"tokens": tokens, "lengths": lengths})
    assert np.allclose(found, encoder.encode(TEXT)[[0, 2, 4, 5]], atol=1e-5)


def test_an_onnx_model_that_differs_is_not_written(encoder, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    monkeypatch.setattr("fairseq_xl.encode.onnx_export.TOLERANCE", -1.0)
    with pytest.raises(InputError, match="was not written"):
        export(encoder, tmp_path / "encoder.onnx")
    assert not list(tmp_path.iterdir())


def test_an_onnx_model_that_gives_no_numbers_is_not_written(encoder, tmp_path, monkeypatch):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    run = onnxruntime.InferenceSession.run
    monkeypatch.setattr(onnxruntime.InferenceSession, "run", lambda *given: [run(*given)[0] * np.nan])
    with pytest.raises(InputError, match="differs from the model by nan"):
        export(encoder, tmp_path / "encoder.onnx")
    assert not list(tmp_path.iterdir())


def test_export_without_onnxruntime_says_what_to_install(encoder, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(InputError, match=r"bash scripts/setup.sh --extras onnx"):
        export(encoder, tmp_path / "x.onnx")
