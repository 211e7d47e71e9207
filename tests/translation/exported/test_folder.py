"""Damaged exports, each told in one sentence."""

from __future__ import annotations

import json
import shutil

import pytest

from fairseq_xl import Translator
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import WRITTEN
from fairseq_xl.translation.exported.folder import read_export

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(exported, tmp_path):
    """An export that may be damaged."""
    return shutil.copytree(exported / "vectors", tmp_path / "export")


def test_an_export_holds_what_it_needs_and_no_more(exported):
    names = {path.name for path in (exported / "vectors").iterdir()}
    own = {"model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json"}
    assert names == {*own, "export.json", "truecaser.de", "folding.npz", WRITTEN}
    assert names - {path.name for path in (exported / "words").iterdir()} == {"folding.npz"}
    text = (exported / "vectors" / "export.json").read_text()
    assert "/" not in text
    config = json.loads(text)
    assert config["options"] == {"beam": 5}
    assert config["folded"] == {
        "decode_score": "vmf_posterior", "decode_prior_weight": 0.0, "temperature": 1.0, "unkpen": 0.0
    }  # fmt: skip


def test_translating_does_without_the_table(copy, raw):
    expected = Translator.load(copy).translate(raw)
    (copy / "folding.npz").unlink()
    assert Translator.load(copy).translate(raw) == expected
    with pytest.raises(InputError, match=r"lacks folding\.npz"):
        read_export(copy, folding=True)


@pytest.mark.parametrize("name", ["model.bin", "config.json", "target_vocabulary.json", "truecaser.de"])
def test_half_a_file_or_none_is_refused(copy, name):
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=f"{name} is not as it was written: copy the folder anew"):
        Translator.load(copy)
    (copy / name).unlink()
    with pytest.raises(InputError, match=f"lacks {name}: copy it anew"):
        Translator.load(copy)


def test_without_its_manifest_it_is_no_export(copy):
    (copy / "export.json").unlink()
    with pytest.raises(InputError, match=r"export\.json is missing: `fairseq-xl translate export` makes such a folder"):
        Translator.load(copy)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": 2}, "has version 2, and this version of fairseq_xl reads 3: make the folder again with `"),
        ({"files": []}, "is damaged"),
        ({"compute_type": "int2"}, "compute_type is one of float32, int8, not 'int2'"),
        ({"positions": [0, "x"]}, "positions are two numbers above 1"),
        ({"source_lang": "../de"}, "is no language code such as de"),
        ({"tokenizer": "other"}, "tokenizer is one of moses, none, not 'other'"),
        ({"folded": {}}, "folded has decode_prior_weight, .*, and here it has nothing"),
        ({"files": {}}, "is not as it was written"),
    ],
)
def test_another_manifest_is_refused(copy, changed, message):
    config = json.loads((copy / "export.json").read_text())
    (copy / "export.json").write_text(json.dumps({**config, **changed}))
    with pytest.raises(InputError, match=message):
        Translator.load(copy)


def test_what_is_no_json_is_refused(copy):
    (copy / "export.json").write_text("{")
    with pytest.raises(InputError, match=r"export\.json is damaged"):
        Translator.load(copy)
