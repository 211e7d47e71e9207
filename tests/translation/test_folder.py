"""A model folder that is damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fairseq_xl.cli import main as cli


def edited(**values):
    def change(folder: Path) -> None:
        config = json.loads((folder / "translator.json").read_text())
        (folder / "translator.json").write_text(json.dumps({**config, **values}))

    return change


def removed(name: str):
    return lambda folder: (folder / name).unlink()


def appended(name: str, text: str):
    def change(folder: Path) -> None:
        with (folder / name).open("a") as stream:
            stream.write(text)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shutil.rmtree, "translator.json is missing: `fairseq-xl translate pack` makes such a folder"),
        (removed("translator.json"), "translator.json is missing"),
        (appended("translator.json", "}"), "is damaged"),
        (edited(version=2), "has version 2"),
        (edited(source_lang=None), "is damaged (its 'source_lang')"),
        (edited(source_lang="../de"), "'../de' is no language code"),
        (edited(tokenizer="spm"), "tokenizer is one of moses, none"),
        (edited(truecase="yes"), "is damaged (its 'truecase')"),
        (edited(subwords=1), "is damaged (its 'subwords')"),
        (edited(subwords=True), "lacks subwords.de.model"),
        (edited(checkpoints=["../model1.pt"]), "checkpoints is a list of names of files beside it"),
        (edited(checkpoints=[]), "checkpoints is a list of names"),
        (edited(dictionaries={}), "dictionaries holds the checksums of dict.de.txt and dict.en.txt"),
        (edited(options=[]), "is damaged (its 'options')"),
        (edited(options={"beem": 1}), "no option 'beem'"),
        (removed("model1.pt"), "lacks model1.pt: copy it anew"),
        (removed("dict.en.txt"), "lacks dict.en.txt"),
        (removed("truecaser.de"), "lacks truecaser.de"),
        (appended("dict.de.txt", "more 1\n"), "is not the dictionary that the model was packed with"),
        (lambda folder: (folder / "model1.pt").write_bytes(b"PK torn"), "is torn or is no checkpoint"),
    ],
)
def test_a_damaged_folder_is_told_in_one_sentence(packed, tmp_path, capsys, change, message):
    folder = tmp_path / "model"
    shutil.copytree(packed / "continuous", folder)
    change(folder)
    assert cli.main(["translate", "text", str(folder), "--device", "cpu", "--input", __file__]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1
