"""Rare words that are right, by hand and by the command."""

from __future__ import annotations

import json
from pathlib import Path

import markdown_tables
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.report.word_recall import BOUNDS, Recall, group_names, word_counts, word_recall

TRAINING = ["a dog sees a cat.", "a dog runs.", "a dog sleeps, a cat runs."]


def test_a_word_counts_no_more_often_than_both_sentences_have_it() -> None:
    references = ["a dog sees a fox, a fox.", "a cat runs"]
    translations = ["a dog has a fox, a bird.", "a fox runs"]
    found = word_recall(word_counts(TRAINING), references, translations)
    by_name = dict(zip(group_names(), found, strict=True))
    assert by_name["0"] == Recall(2, 1), "fox twice, said once where it belongs and once where it does not"
    assert by_name["1"] == Recall(2, 1), "sees, and the comma"
    assert by_name["2 to 4"] == Recall(4, 3), "dog and cat, runs and the stop"
    assert by_name["5 to 9"] == Recall(4, 4), "a"
    assert sum(group.words for group in found) == 12


def test_a_perfect_translation_has_every_word() -> None:
    assert all(group.words == group.right for group in word_recall(word_counts(TRAINING), TRAINING, TRAINING))


def test_text_without_blanks_is_counted_by_letter() -> None:
    found = word_recall(word_counts(["猫が走る"], "char"), ["猫が寝る"], ["猫は寝る"], tokenize="char")
    assert found[:2] == [Recall(1, 1), Recall(3, 2)]


def test_names_of_groups() -> None:
    assert group_names(BOUNDS) == ["0", "1", "2 to 4", "5 to 9", "10 to 99", "100 and more"]


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    made = {"train": TRAINING, "ref": ["a fox runs."], "one": ["a fox runs."], "two": ["a dog runs."]}
    for name, lines in made.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return {name: str(tmp_path / name) for name in made}


def test_the_command_shows_translations_side_by_side(texts: dict[str, str], tmp_path: Path, capsys) -> None:
    output = tmp_path / "recall.json"
    words = ["--reference", texts["ref"], "--training", texts["train"], "--output", str(output)]
    # The same file twice has one column.
    assert main(["translate", "word-recall", texts["one"], texts["two"], texts["one"], *words]) == 0
    _, _, never, once, *_ = markdown_tables.rows(capsys.readouterr().out)
    assert never == ["0", "1", "1 (100.0 %)", "0 (0.0 %)"]
    assert once == ["1", "0", "", ""], "no share of no words"
    kept = json.loads(output.read_text())
    assert kept[texts["two"]]["0"] == {"words": 1, "right": 0}
    assert kept[texts["one"]]["5 to 9"] == {"words": 1, "right": 1}


def test_translations_of_other_sentences_are_refused(texts: dict[str, str], capsys) -> None:
    words = ["--reference", texts["ref"], "--training", texts["train"]]
    assert main(["translate", "word-recall", texts["train"], *words]) == 2
    assert "has 3 lines and" in (error := capsys.readouterr().err)
    assert "give translations of all sentences of the reference" in error
