"""A model folder that is damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fairseq_xl.cli import main as cli

FILES = ("model1.safetensors", "dict.de.txt", "dict.en.txt", "truecaser.de")


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
        (edited(version=9), "has version 9"),
        (
            edited(version=1),
            "has version 1, and this version of fairseq_xl reads 4: make the folder again with `fairseq-xl ",
        ),
        (edited(source_lang=None), "is damaged (its 'source_lang')"),
        (edited(source_lang="../de"), "'../de' is no language code"),
        (edited(tokenizer="spm"), "tokenizer is one of moses, none"),
        (edited(truecase="yes"), "is damaged (its 'truecase')"),
        (edited(subwords=1), "is damaged (its 'subwords')"),
        (edited(subwords=True), "truecaser.de, subwords.de.model): pack the model again"),
        (edited(checkpoints=["../model1.safetensors"]), "checkpoints is a list of names of files beside it"),
        (edited(checkpoints=[]), "checkpoints is a list of names"),
        (edited(files={}), "files holds the checksums of model1.safetensors, dict.de.txt, dict.en.txt, truecaser.de"),
        (edited(files={"../model1.safetensors": ""}), "files holds the checksums of model1.safetensors"),
        (edited(options={"nearest": "flat", "nearest_index": "/tmp"}), "nearest_index names what is not in the folder"),
        (edited(options={"replace_unk": True, "lexicon": "words"}), "lexicon names what is not in the folder"),
        (edited(options={"replace_unk": "/etc/passwd"}), "the option replace_unk is '/etc/passwd'"),
        (edited(options={"decode_score": "${oc.env:HOME}"}), "decode_score is one of cosine"),
        (edited(options={"lenpen": "${oc.env:HOME}"}), "the option lenpen is '${oc.env:HOME}'"),
        (edited(options=[]), "is damaged (its 'options')"),
        (edited(options={"beem": 1}), "no option 'beem'"),
        (removed("model1.safetensors"), "lacks model1.safetensors: copy it anew"),
        (removed("dict.en.txt"), "lacks dict.en.txt"),
        (removed("truecaser.de"), "lacks truecaser.de"),
        *((appended(name, "more 1\n"), f"{name} is not as it was written") for name in FILES),
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
