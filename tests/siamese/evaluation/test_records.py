"""What is refused as a record of predictions."""

from __future__ import annotations

import json

import pytest
from siamese_records import record

from fairseq_xl.cli.main import main


@pytest.mark.parametrize(
    "wrong",
    [
        {"predicted": [0]},
        {"predicted": [2] * 100},
        {"predicted": [-1] * 100},
        {"predicted": ["0"] * 100},
        {"gold": [], "predicted": []},
        {"gold": None},
        {"classes": [0, 1]},
        {"languages": {}},
        {"languages": []},
        {"low_resource_size": "many"},
        {"training_sentences": {"low": 0}},
    ],
)
def test_what_is_no_record(tmp_path, capsys, wrong):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**record("Siamese", 1), **wrong}))
    assert main(["classify", "report", str(path), "-o", str(tmp_path / "out")]) == 2
    assert "a.json is no record of predictions" in capsys.readouterr().err
