"""``fairseq-xl corpus paraphrases``, and that `match prepare` reads what it writes."""

from __future__ import annotations

import numpy as np
import pytest
import random_vectors

from fairseq_xl.cli.main import main

WORDS = [
    "we",
    "they",
    "saw",
    "heard",
    "the",
    "old",
    "young",
    "dog",
    "cat",
    "bird",
    "near",
    "under",
    "house",
    "tree",
    "today",
]


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(1)
    said = lambda: " ".join(random.choice(WORDS, 4)) + "."  # noqa: E731
    rows = [f"{said()}\tune phrase {number}\n" for number in range(80) for _ in range(2)]
    (tmp_path / "fra.tsv").write_text("".join(rows))
    random_vectors.write(tmp_path / "en.vec", WORDS, 8)
    return tmp_path


def run(folder, *options):
    given = ["--encoder", f"vectors:{folder / 'en.vec'}", "-o", str(folder / "out")]
    return main(["corpus", "paraphrases", str(folder / "fra.tsv"), *given, *options])


def test_tables_that_a_pair_classifier_reads(folder, capsys):
    assert run(folder, "--low", "-0.9", "--overlap", "1", "--folds", "3") == 0
    said = capsys.readouterr().err
    assert "80 paraphrases, " in said
    assert "shallow baseline, gradient boosting: " in said
    train, test = ((folder / "out" / f"{name}.tsv").read_text().splitlines() for name in ("train", "test"))
    assert train[0] == test[0] == "sentence1\tsentence2\tlabel\tfold"
    assert {row.split("\t")[3] for row in train[1:]} == {"0", "1", "2"}
    assert {row.split("\t")[3] for row in test[1:]} == {""}
    columns = "left=sentence1,right=sentence2,label=label,languages=en+en"
    sources = [f"{folder}/out/train.tsv,{columns},fold=fold", f"{folder}/out/test.tsv,{columns},split=test"]
    assert main(["match", "prepare", "-o", str(folder / "data"), *sources]) == 0
    said = capsys.readouterr().err
    assert f"train: {len(train) - 1} pairs, {(len(train) - 1) // 2} labelled as matching" in said
    assert f"test: {len(test) - 1} pairs" in said


def test_a_file_without_a_common_translation_is_refused(folder, capsys):
    (folder / "fra.tsv").write_text("one\tun\ntwo\tdeux\n")
    assert run(folder) == 2
    assert "no two sentences have a translation in common" in capsys.readouterr().err
    assert not (folder / "out").exists()
