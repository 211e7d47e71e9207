"""Parts of speech of the generated English."""

from __future__ import annotations

from fairseq_xl.cli import main as cli
from fairseq_xl.text.conllu import read_conllu
from fairseq_xl.text.synthetic import generator
from fairseq_xl.text.synthetic.tags import universal_tags


def test_every_word_has_one_and_every_tag_is_met() -> None:
    corpus = generator.generate(seed=3, train=1500, valid=1, test=1)
    tags = {tag for pair in corpus.train for tag in universal_tags(pair.target)}
    assert tags == {"ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "NUM", "PART", "PRON", "PUNCT", "SCONJ", "VERB"}


def test_that_is_a_determiner_or_a_pronoun() -> None:
    assert universal_tags(["that", "dog", "that", "ran", "saw", "us", "."]) == [
        *("DET", "NOUN", "PRON", "VERB", "VERB", "PRON", "PUNCT")
    ]


def test_the_command_writes_a_treebank(tmp_path) -> None:
    words = ["--train", "20", "--valid", "5", "--test", "5"]
    assert cli.main(["data", "synthetic", "--output", str(tmp_path / "out"), *words, "--tags"]) == 0
    sentences = list(read_conllu(tmp_path / "out" / "en.conllu"))
    lines = [
        li for name in ("train", "valid", "test") for li in (tmp_path / "out" / f"{name}.en").read_text().splitlines()
    ]
    assert [sentence.text for sentence in sentences] == lines
    assert all(list(sentence.upos) == universal_tags(sentence.words) for sentence in sentences)
    assert cli.main(["data", "synthetic", "--output", str(tmp_path / "out"), *words]) == 0
    assert not (tmp_path / "out" / "en.conllu").exists()
