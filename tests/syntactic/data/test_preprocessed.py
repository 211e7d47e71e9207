"""What a data directory holds, and whose files it leaves alone."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from fairseq.data import Dictionary

from fairseq_xl.syntactic.data.corpus import fold
from fairseq_xl.syntactic.data.preprocessed import Writer, train_vocabulary
from fairseq_xl.syntactic.data.selection import Row
from fairseq_xl.text.subwords import processor

from .conftest import read


def test_the_data_directory(command, multilingual, tmp_path, capsys):
    assert command() == 0
    said = capsys.readouterr()
    assert "en-de de.tsv: 300 lines, 300 kept" in said.err
    assert "| de | - | 300 | 150 | 300 |" in said.out
    folder = tmp_path / "prepared"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["languages"] == ["de", "en", "es"]
    pairs = [(pair["source"], pair["target"]) for pair in manifest["pairs"]]
    assert pairs == [
        ("de", "en"),
        ("de", "es"),
        ("en", "de"),
        ("en", "es"),
        ("es", "de"),
        ("es", "en"),
        ("nl", "de"),
        ("nl", "en"),
        ("nl", "es"),
    ]
    gold = {}
    for language in ("de", "en", "es"):
        text = multilingual.treebank(language).read_text()
        for block in text.strip().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines()[1:]]
            gold[block.splitlines()[0].removeprefix("# text = ")] = [row[3] for row in rows]
    for pair in manifest["pairs"]:
        name = f"{pair['source']}-{pair['target']}"
        for split in ("train", "valid"):
            source, pieces, upos = (
                read(folder, f"{split}.{name}.{kind}", dictionary)
                for kind, dictionary in (
                    ("source", "dict.source.txt"),
                    ("pieces", "dict.source.txt"),
                    ("upos", "dict.upos.txt"),
                )
            )
            assert len(source) == len(pieces) == len(upos) == pair[split] > 0
            for line, tags in zip(pieces, upos, strict=True):
                assert gold["".join(line).replace("▁", " ").strip()] == tags
    model = processor(str(folder / "sentencepiece.model"))
    assert sorted(Dictionary.load(str(folder / "dict.source.txt")).symbols[4:]) == sorted(
        model.id_to_piece(number) for number in range(1, len(model))
    )
    assert Dictionary.load(str(folder / "dict.upos.txt")).symbols[4:6] == ["ADJ", "ADP"]


def test_translations_stand_beside_each_other(command, multilingual, tmp_path):
    assert command("--sources", "nl", "--targets", "es") == 0
    folder = tmp_path / "prepared"
    dictionary = "dict.source.txt"
    source, target = (read(folder, f"train.nl-es.{kind}", dictionary) for kind in ("source", "pieces"))
    plain = [["".join(line).replace("▁", " ").strip() for line in side] for side in (source, target)]
    numbers = dict(zip(multilingual.numbers["nl"], multilingual.numbers["es"], strict=True))
    for dutch, spanish in zip(*plain, strict=True):
        expected = [numbers[word] for word in dutch.split() if word in numbers]
        assert [word for word in spanish.split() if word in numbers.values()] == expected


def test_files_of_others_are_never_removed(command, tmp_path, capsys):
    """Neither by names that are like ours, nor when the settings change; names that are ours are refused."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    others = ["train.de-en.de", "train.de-en.en", "train.de-en.de.bin", "dict.de.txt", "sentences.txt", ".x.done"]
    for name in others:
        (folder / name).write_text("mine")
    (folder / "manifest.json").write_text("{}")
    assert command() == 2
    assert "manifest.json is not of fairseq-xl embed prepare, which would replace it" in capsys.readouterr().err
    assert not (tmp_path / "corpus.sqlite").exists()
    (folder / "manifest.json").rename(folder / "settings.json")
    assert command() == 2
    (folder / "settings.json").unlink()
    assert command() == 0
    (folder / "valid.de-en.upos.bin.tmp").write_text("of a killed call")
    assert command("--valid", 3) == 0
    assert {(folder / name).read_text() for name in others} == {"mine"}
    assert not (folder / "valid.de-en.upos.bin.tmp").exists()


def test_fine_tuning_takes_vocabulary_and_languages(command, tmp_path):
    assert command("--targets", "de", "en") == 0
    assert command("--sources", "nl", "--targets", "es", "--like", tmp_path / "prepared", folder="few") == 0
    for name in ("sentencepiece.model", "dict.source.txt", "dict.upos.txt"):
        assert (tmp_path / "few" / name).read_bytes() == (tmp_path / "prepared" / name).read_bytes()
    manifest = json.loads((tmp_path / "few" / "manifest.json").read_text())
    assert manifest["languages"] == ["de", "en", "es"]
    assert [(pair["source"], pair["target"]) for pair in manifest["pairs"]] == [("nl", "es")]


def test_a_pair_whose_files_were_lost_is_written_again(command, tmp_path):
    assert command() == 0
    lost = tmp_path / "prepared" / "train.de-en.upos.idx"
    other = tmp_path / "prepared" / "train.en-de.upos.idx"
    before, made = lost.read_bytes(), other.stat().st_mtime_ns
    lost.unlink()
    assert command() == 0
    assert lost.read_bytes() == before
    assert other.stat().st_mtime_ns == made


def test_what_is_excluded_is_looked_for_once_more(tmp_path):
    """Should a selection ever hand out a sentence of an exclusion list, it does not become training data."""
    train_vocabulary(tmp_path, ["I see a cat.", "a b c d"] * 3, 20)
    for side in ("source", "target"):
        row = Row(**{"source": "a b", "target": "c d", "tags": "NOUN", side: "I see."})
        selection = SimpleNamespace(folds={fold("i see")}, rows=lambda split, pair, row=row: [row])
        with pytest.raises(RuntimeError, match=r"'I see\.' is on an exclusion list"):
            Writer(tmp_path, selection).write(("de", "en"))
    assert not list(tmp_path.glob("train.*.idx"))
