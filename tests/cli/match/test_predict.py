"""``fairseq-xl match predict``: options that exclude each other, told before a checkpoint is read."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--split", "test"], "--split writes a record: name its file with --output"),
        (["--split", "test", "-o", "out", "--input", "a.tsv"], "give --input or --split, not both"),
        (["--name", "mine", "--input", "a.tsv"], "--name names the record of --split, which is not given"),
    ],
)
def test_options_that_exclude_each_other(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text("one\ttwo\n")
    assert main(["match", "predict", "model.pt", *options]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]
