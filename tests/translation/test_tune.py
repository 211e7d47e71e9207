"""``fairseq-xl translate tune``: a table, options to paste, and nothing decoded twice."""

from __future__ import annotations

import json
import re

import pytest
import torch

from fairseq_xl.cli import main as cli
from fairseq_xl.continuous.models import loading
from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.translation.tuning import decoding, points, search


def test_a_softmax_is_tuned_by_its_temperature(untrained, monkeypatch, tmp_path, capsys):
    _, task = untrained
    torch.manual_seed(1)
    softmax = ContinuousLSTM.build_model(TinyConfig(decoder_output="softmax", max_target_positions=16), task).eval()
    monkeypatch.setitem(points.SHARPNESS, "softmax", (1.0, 3.0))
    monkeypatch.setattr(search, "UNKPENS", (0.0,))
    monkeypatch.setattr(loading, "load_model", lambda *_: (softmax, task))
    assert run_with(tmp_path, "--beam", 3) == 0
    said = capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [line["point"] for line in lines[1:]] == ["beam 1", "temperature 1, beam 3", "temperature 3, beam 3"]
    assert "as saved" in said
    assert "--model-overrides" not in said


def run_command(untrained, monkeypatch, tmp_path, *options):
    """The command without reading a checkpoint."""
    monkeypatch.setattr(loading, "load_model", lambda *_: untrained)
    monkeypatch.setattr(points, "SHARPNESS", {"cosine": (5.0,)})
    monkeypatch.setattr(points, "CSLS_WEIGHTS", (0.0, 1.0))
    monkeypatch.setattr(search, "UNKPENS", (0.0,))
    return run_with(tmp_path, *options)


def run_with(tmp_path, *options):
    """The command line, on files of no content."""
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "valid.a-b.a.bin").write_bytes(b"set")
    (tmp_path / "model.pt").write_bytes(b"weights")
    words = ["translate", "tune", tmp_path / "model.pt", "--data", tmp_path / "data", "--device", "cpu"]
    words += ["--results", tmp_path / "r.jsonl", "--batch-size", 4, *options]
    return cli.main([str(word) for word in words])


def test_command_prints_a_table_and_options_and_decodes_nothing_twice(untrained, monkeypatch, tmp_path, capsys):
    assert run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 7) == 0
    first = capsys.readouterr().out
    assert "as saved" in first
    assert "best" in first
    assert re.search(r"unkpen +beam 1 +ratio +beam 3 +ratio +lenpen +BLEU +ratio\n", first)
    assert "--model-overrides \"{'decode_score': 'cosine', 'decode_scale': " in first
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    keys = [line["point"] for line in lines[1:]]
    assert len(keys) == len(set(keys))
    assert {"CSLS 0, beam 1", "CSLS 1, beam 1"} <= set(keys)
    scorer = untrained[0].decoder.scorer
    scorer.scale, scorer.csls_weight = 20.0, 0.0
    monkeypatch.setattr(decoding, "translate", lambda *_: pytest.fail("decoded again"))
    run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 7, "--choice", tmp_path / "choice")
    assert capsys.readouterr().out == first
    assert f"--search '{(tmp_path / 'choice').read_text().rstrip()}'" in first
    assert run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 6) == 2
    assert "results of another limit" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [("--beam", 1), ("--limit", 0), ("--batch-size", 0), ("--max-len-a", -1.0), ("--max-len-b", 0)]
)
def test_numbers_that_make_no_sense_are_refused(untrained, monkeypatch, tmp_path, capsys, options):
    assert run_command(untrained, monkeypatch, tmp_path, *options) == 2
    assert f"{options[0]} is {options[1]}: give" in capsys.readouterr().err
