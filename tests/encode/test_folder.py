"""Encoder folders: what is in them, what may be replaced, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from fairseq_xl import SentenceEncoder
from fairseq_xl.encode.encoder import pack
from fairseq_xl.encode.folder import CONFIG, write_folder
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import WRITTEN
from fairseq_xl.report.model_card import CardOptions
from fairseq_xl.training import checkpoints


def test_a_packed_folder_needs_nothing_else(upos_run, packed, tmp_path):
    moved = shutil.copytree(packed, tmp_path / "moved")
    values = SentenceEncoder.load(moved)
    assert Path(values.task.cfg.data) == moved
    trained = checkpoints.read(upos_run[1] / "checkpoint_last.pt")["model"]
    stored = load_file(moved / "model.safetensors")
    assert stored.keys() == trained.keys()
    assert all(torch.equal(stored[name], weight) for name, weight in trained.items())
    names = {path.name for path in moved.iterdir()}
    text = {"manifest.json", "sentencepiece.model", "dict.source.txt", "dict.upos.txt"}
    assert names == {"encoder.json", "model.safetensors", WRITTEN, *text}


@pytest.mark.parametrize("name", ["dict.source.txt", "model.safetensors"])
def test_a_changed_or_missing_file_is_refused(packed, tmp_path, name):
    folder = shutil.copytree(packed, tmp_path / "copy")
    with (folder / name).open("ab") as stream:
        stream.write(b"x 1\n")
    with pytest.raises(InputError, match="is not as it was written"):
        SentenceEncoder.load(folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"lacks {name}"):
        SentenceEncoder.load(folder)


def test_other_folders_and_formats_are_refused(packed, tmp_path):
    with pytest.raises(InputError, match="is missing: `fairseq-xl embed pack` makes such a folder"):
        SentenceEncoder.load(tmp_path)
    folder = shutil.copytree(packed, tmp_path / "copy")
    path = folder / CONFIG
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "version": 9}))
    with pytest.raises(InputError, match="has version 9"):
        SentenceEncoder.load(folder)
    path.write_text(json.dumps({**values, "version": 1}))
    with pytest.raises(InputError, match="reads 2: make the folder again with `fairseq-xl embed pack`"):
        SentenceEncoder.load(folder)
    path.write_text(json.dumps({**values, "files": []}))
    with pytest.raises(InputError, match="is damaged"):
        SentenceEncoder.load(folder)


def test_only_an_encoder_is_replaced(upos_run, packed, tmp_path):
    state = checkpoints.read(upos_run[1] / "checkpoint_last.pt")
    (tmp_path / "notes.txt").write_text("mine")
    for output, message in ((tmp_path, "holds something else"), (tmp_path / "notes.txt", "is a file")):
        with pytest.raises(InputError, match=message):
            write_folder(output, state, upos_run[0], [])
    folder = shutil.copytree(packed, tmp_path / "copy")
    write_folder(folder, state, upos_run[0], ["manifest.json"])
    assert {path.name for path in folder.iterdir()} == {"encoder.json", "model.safetensors", "manifest.json", WRITTEN}
    with pytest.raises(InputError, match="cannot write"):
        write_folder(folder, state, upos_run[0], ["none"])
    assert (folder / "model.safetensors").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "notes.txt"]


def test_a_model_card_goes_with_it(upos_run, tmp_path):
    checkpoint = upos_run[1] / "checkpoint_last.pt"
    pack(checkpoint, tmp_path / "e", about=CardOptions(licence="mit", dataset=["our lines"]))
    text = (tmp_path / "e" / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\nlicense: mit\nlanguage:\n- ")
    assert "pipeline_tag: feature-extraction" in text
    assert "- our lines" in text
    pack(checkpoint, tmp_path / "e")
    assert not (tmp_path / "e" / "README.md").exists()
