from __future__ import annotations

import argparse
import json
from dataclasses import fields

import pytest

from fairseq_xl.cli.data import COMMANDS
from fairseq_xl.cli.main import main
from fairseq_xl.cli.parsing import load, parse
from fairseq_xl.io.errors import InputError


@pytest.fixture
def text():
    """``fairseq-xl data …`` in this process."""

    def run(name, *words):
        return parse(argparse.ArgumentParser(), load(COMMANDS[name][0]), list(map(str, words))).run()

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_option(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["data", name, "--help"])
    assert ended.value.code == 0
    assert "usage: fairseq-xl data" in capsys.readouterr().out
    assert all(each.metadata["help"] for each in fields(load(COMMANDS[name][0])))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("clean a b -o c d --max-ratio nan", "--max-ratio is nan: give a finite number"),
        ("clean a b -o c d --max-ratio 0.5", "--max-ratio is 0.5: give 0 (no limit), or 1 or more"),
        ("tokenize a -o b -l de --processes 0", "--processes is 0: give a number from 1"),
        ("lexicon a b -o c --min-probability nan", "--min-probability is nan: give a finite number"),
        ("hypotheses a -o b --replace-unk-distance -1", "--replace-unk-distance is -1.0: give a number from 0"),
        ("split TEXT -o b --languages de de", "--languages de de: both sides would have the same files: name two"),
        ("split TEXT -o b --languages de en --columns 2 1", "--columns is for one file of pairs, and each of these is"),
        (
            "split TEXT -o b --languages de en --columns 1 1",
            "--columns 1 1: source and target are one column: name two",
        ),
        ("split a -o b --languages a b --columns 0 1", "--columns is 0: give a number"),
    ],
)
def test_what_an_option_does_not_take(words, sentence, tmp_path, capsys):
    for language in ("de", "en"):
        (tmp_path / f"TEXT.{language}").write_text("a\nb\nc\n")
    assert main(["data", *words.replace("TEXT", str(tmp_path / "TEXT")).split()]) == 2
    assert sentence in capsys.readouterr().err


def test_from_plain_text_to_tokens_and_back(text, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("The dog sees the cat. The cat isn't here!\nA dog & the dog's cat.\n")
    text("tokenize", plain, "-o", tmp_path / "tok", "-l", "en", "--processes", 1)
    text("train-truecaser", tmp_path / "tok", "-o", tmp_path / "model")
    text("truecase", tmp_path / "tok", "-o", tmp_path / "true", "-m", tmp_path / "model")
    assert (tmp_path / "true").read_text().startswith("the dog sees the cat . the cat isn 't here")
    text("postprocess", tmp_path / "true", "-o", tmp_path / "back", "-l", "en")
    assert (tmp_path / "back").read_bytes() == plain.read_bytes()


def test_tokens_to_subwords_and_back(text, tmp_path, capsys):
    tokens = tmp_path / "tok"
    tokens.write_text("the dog , the cat .\n\na doghouse\n" * 9)
    model, pieces, back = (tmp_path / name for name in ("model", "pieces", "back"))
    text("train-subwords", tokens, "-o", model, "--size", 16, "--kind", "unigram")
    assert f"{model}: 16 unigram pieces from 18 lines" in capsys.readouterr().err
    text("encode-subwords", tokens, "-o", pieces, "-m", model)
    assert pieces.read_text(encoding="utf-8").startswith("▁")
    text("decode-subwords", pieces, "-o", back)
    assert back.read_bytes() == tokens.read_bytes()


def test_cleaning_writes_its_counts(text, tmp_path, capsys):
    (tmp_path / "a").write_text("x y\n\n1 2 3\n")
    (tmp_path / "b").write_text("u v\nw\n1\n")
    out = tmp_path / "c", tmp_path / "d"
    report = tmp_path / "report.json"
    text("clean", tmp_path / "a", tmp_path / "b", "-o", *out, "--max-tokens", 2, "--report", report)
    assert [path.read_text() for path in out] == ["x y\n", "u v\n"]
    counts = {"read": 3, "written": 1, "reasons": {"empty": 1, "too long": 1}}
    assert json.loads(report.read_text()) == counts
    assert "3 pairs read, 1 written; 1 empty, 1 too long" in capsys.readouterr().err


def test_hypotheses_must_match_the_file_they_are_like(text, tmp_path):
    (tmp_path / "log").write_text("H-1\t-1\tb\nH-0\t-1\ta\n")
    (tmp_path / "source").write_text("1\n2\n")
    text("hypotheses", tmp_path / "log", "-o", tmp_path / "out", "--like", tmp_path / "source")
    assert (tmp_path / "out").read_text() == "a\nb\n"
    (tmp_path / "source").write_text("1\n2\n3\n")
    with pytest.raises(InputError, match="lacks the hypotheses of 1 of 3"):
        text("hypotheses", tmp_path / "log", "-o", tmp_path / "out", "--like", tmp_path / "source")


def test_unknown_words_are_replaced_only_when_asked_for(text, tmp_path, capsys):
    names = log, out, source, words = [tmp_path / name for name in ("log", "out", "de", "words.tsv")]
    log.write_text("S-0\tUhu\nH-0\t-1\t<unk>\nA-0\t0.7,0.3 0.5,0.5\n")
    source.write_text("Uhu\n")
    words.write_text("Uhu\towl\n")
    replace = ("hypotheses", log, "-o", out, "--spelling", source, "--replace-unk")
    for arguments, expected in (
        (("hypotheses", log, "-o", out), "<unk>\n"),
        (replace, "Uhu\n"),
        ((*replace, "--lexicon", words), "owl\n"),
    ):
        text(*arguments)
        assert names[1].read_text() == expected
    assert "1 unknown words: 1 translated by the lexicon" in capsys.readouterr().err
    for arguments, message in (
        (("hypotheses", log, "-o", out, "--lexicon", words), "--lexicon is for --replace-unk, which is not given"),
        (("hypotheses", log, "-o", out, "--spelling", source), "--spelling is for --replace-unk, which is not given"),
        (("hypotheses", log, "-o", out, "--replace-unk"), "--replace-unk needs --spelling FILE"),
    ):
        with pytest.raises(InputError, match=message):
            text(*arguments)


def test_unknown_words_are_read_as_the_nearest_known_ones(text, tmp_path, capsys):
    (tmp_path / "dict.txt").write_text("dog 3\nruns 2\n")
    (tmp_path / "x.vec").write_text("4 2\ndog 1 0\nruns 0 1\nhound 0.9 0.1\ntram -1 -1\n")
    (tmp_path / "tok").write_text("hound runs 12\n\ntram runs hound\n")
    command = [tmp_path / "tok", "--dict", tmp_path / "dict.txt", "--vectors", tmp_path / "x.vec"]
    text("known-words", *command, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "dog runs 12\n\ntram runs dog\n"
    assert "1 of 3 unknown words read as known ones" in capsys.readouterr().err


def test_a_mistake_is_one_sentence_and_status_2(run_cli, tmp_path):
    (tmp_path / "a").write_text("1\n2\n")
    (tmp_path / "b").write_text("1\n")
    names = [tmp_path / name for name in "abcd"]
    done = run_cli("data", "clean", names[0], names[1], "--output", names[2], names[3])
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {names[0]} has 2 lines and {names[1]} has 1:")
    assert done.stderr.count("\n") == 1
