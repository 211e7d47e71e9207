"""The manifest of a data directory, and every way in which it can be wrong."""

from __future__ import annotations

import json
import shutil

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.directory import read_manifest


@pytest.fixture(scope="module")
def made(prepare):
    return prepare("de-en", "en-es", "fr-de", untagged=("fr-de",), train=(20,))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "data")


def change(folder, **values):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_pairs_are_chosen_by_their_targets(folder):
    manifest = read_manifest(folder)
    assert manifest.languages == ("de", "en", "es")
    assert [str(pair) for pair in manifest.chosen("upos")] == ["de-en", "en-es"]
    assert [str(pair) for pair in manifest.chosen("pieces")] == ["de-en", "en-es", "fr-de"]
    assert [str(pair) for pair in manifest.chosen("pieces", ["fr-de", "de-en"])] == ["de-en", "fr-de"]
    assert manifest.pairs[0].sentences == {"train": 20, "valid": 12}


@pytest.mark.parametrize(
    ("target", "wanted", "message"),
    [
        ("upos", ["de-fr"], "there is no pair 'de-fr' in the data, only de-en, en-es, fr-de"),
        ("upos", ["fr-de"], "the target side of fr-de has no UPOS tags"),
    ],
)
def test_pairs_that_are_not_there_are_refused(folder, target, wanted, message):
    with pytest.raises(InputError, match=message):
        read_manifest(folder).chosen(target, wanted)


def test_no_pair_at_all_is_refused(folder):
    change(folder, pairs=[])
    with pytest.raises(InputError, match="no pair of the data has a target side of the kind 'upos'"):
        read_manifest(folder).chosen("upos")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"version": 2}, "has version 2, and this version of fairseq_xl reads 1: make the folder again with `"),
        ({"pairs": [{"source": "de"}]}, "is damaged .KeyError: 'target'"),
        ({"targets": 3}, "is damaged"),
        ({"languages": ["en"]}, "into languages that it does not name: en-es"),
        ({"sentencepiece": "../x"}, "lacks ../x"),
        ({"targets": {"upos": "dict.xpos.txt"}}, "lacks dict.xpos.txt"),
    ],
)
def test_a_wrong_manifest_is_refused(folder, values, message):
    change(folder, **values)
    with pytest.raises(InputError, match=message):
        read_manifest(folder)


def test_another_folder_or_a_torn_file_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"manifest\.json is missing: `fairseq-xl embed prepare` makes such a folder"):
        read_manifest(tmp_path)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        read_manifest(folder)
