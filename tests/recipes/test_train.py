"""recipes/train.sh with stand-ins for what it calls; what it shares with multi30k.sh is tested there."""

from __future__ import annotations

import argparse
import ast
import gzip
import textwrap

import pytest
from command_words import options

from fairseq_xl.cli.data.corpora import Split
from fairseq_xl.cli.parsing import parse


@pytest.fixture
def train(recipe):
    return recipe("train.sh")


@pytest.fixture
def text(tmp_path):
    """A prefix of 1,000 pairs."""
    for language in ("de", "en"):
        (tmp_path / f"text.{language}").write_text("".join(f"{language} {n}\n" for n in range(1000)))
    return tmp_path / "text"


def split_of(recipe) -> Split:
    """How the last run cut its text."""
    return parse(argparse.ArgumentParser(), Split, recipe.arguments("fairseq-xl data split")[3:])


def test_from_two_files_to_a_model_and_how_to_use_it(train, text):
    done = train("--train", text, "--src", "de", "--tgt", "en")
    assert done.returncode == 0, done.stderr
    cut = split_of(train)
    assert (cut.train, [*cut.languages], [*cut.columns], cut.valid, cut.test) == (text, ["de", "en"], [1, 2], 50, 50)
    assert (cut.valid_set, cut.test_set, cut.least, cut.trust_languages) == (None, None, 500, False)
    run = train.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1"
    assert (run / "record.json").exists()
    assert f"  fairseq-xl translate text {run}/model --input FILE.de --output FILE.en\n" in done.stdout
    load, translate = ast.parse(textwrap.dedent(done.stdout.split("or in Python:")[1])).body[1:]
    assert ast.unparse(load) == f"translator = Translator.load('{run}/model')"
    assert ast.unparse(translate) == f"print(translator.translate(['{text}'])[0])"
    again = train("--train", text, "--src", "de", "--tgt", "en")
    assert train.calls == []
    assert "translate text" in again.stdout


def test_the_same_training_as_multi30ks(train, text):
    """Small corpora train as was tuned there, larger ones as on Tatoeba."""
    for pairs, epochs, softmax in ((1000, "16", "8"), (100_000, "8", "5")):
        for language in ("de", "en"):
            text.with_name(f"text.{language}").write_text("x\n" * pairs)
        for loss, expected in (("syn_margin_proj", epochs), ("softmax", softmax)):
            done = train("--train", text, "--src", "de", "--tgt", "en", "--dry-run", "--loss", loss)
            command = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train")).split()
            found = options(command, "--max-epoch", "--lr", "--max-tokens", "--clip-norm", "--lr-shrink")
            assert found == (expected, "2e-3", "1000", "1", "0.6")
            assert options(command, "--dropout") == ("0.3" if loss == "softmax" else "0",)


def test_sets_of_ones_own_columns_and_gzip(train, text, tmp_path):
    packed = tmp_path / "pairs.tsv.gz"
    with gzip.open(packed, "wt") as stream:
        stream.writelines(f"a {n}\tb {n}\n" for n in range(600))
    sets = ("--train", packed, "--columns", "2 1", "--valid", text, "--test", text, "--trust-languages")
    done = train(*sets, "--src", "de", "--tgt", "en")
    assert done.returncode == 0, done.stderr
    cut = split_of(train)
    assert (cut.train, [*cut.columns], cut.valid_set, cut.test_set) == (packed, [2, 1], text, text)
    assert (cut.valid, cut.trust_languages) == (30, True)
    reference = train.out / "prepared" / "de-en" / "plain" / "test.en"
    assert train.arguments("sacrebleu")[1] == str(reference), "the test set is the data's own, with its own scores"
    train(*sets, "--src", "de", "--tgt", "en")
    assert train.calls == []
    text.with_name("text.en").write_text("another\n" * 1000)
    done = train(*sets, "--src", "de", "--tgt", "en", "--name", "second")
    assert "fairseq-xl data split" in train.calls


def test_targets_of_a_softmax_come_from_the_same_text(train, text):
    done = train("--train", text, "--test", text, "--src", "de", "--tgt", "en", "--target-epochs", 2)
    assert done.returncode == 0, done.stderr
    assert sum(call.startswith("fairseq-xl data split") for call in train.calls) == 1
    assert sum(call.startswith("fairseq-train") for call in train.calls) == 2


@pytest.mark.parametrize(
    ("source", "target", "pieces", "tokenize"),
    [("de", "zh", True, "zh"), ("ja", "en", True, None), ("ko", "de", False, None)],
)
def test_languages_without_case_or_blanks(train, text, source, target, pieces, tokenize):
    for name, language in (("text.de", source), ("text.en", target)):
        text.with_name(name).rename(text.with_name(f"text.{language}"))
    done = train("--train", text, "--src", source, "--tgt", target)
    assert done.returncode == 0, done.stderr
    cased = [language for language in (source, target) if language in ("de", "en")]
    learnt = [line for line in train.calls_file.read_text().splitlines() if "train-truecaser" in line]
    assert [line.rsplit(".", 1)[-1] for line in learnt] == cased
    packed = train.arguments("fairseq-xl translate pack")
    assert ("--truecaser" in packed) == (source in cased)
    assert ("--target-truecased" in packed) == (cased == [target])
    assert ("--subwords" in packed) == pieces
    scored = train.arguments("sacrebleu")
    assert ("--tokenize" in scored) == (tokenize is not None)
    assert tokenize is None or options(scored, "--tokenize") == (tokenize,)
    ratio = "--max-ratio" in train.arguments("fairseq-xl data clean")
    assert ratio != pieces, "without blanks a sentence is one word"


def test_vectors_of_another_language_are_refused_early(train, text, tmp_path):
    (tmp_path / "fr.vec").write_text("1 2\n")
    given = ("--train", text, "--src", "de", "--tgt", "en", "--vectors", tmp_path / "fr.vec")
    done = train(*given, FAIL_AT="vectors convert")
    assert done.returncode != 0
    assert options(train.arguments("fairseq-xl vectors convert"), "--min-coverage") == ("0.5",)
    assert not any(call.startswith("fairseq-train") for call in train.calls)


@pytest.mark.parametrize(
    ("pairs", "given", "epochs"),
    [
        (1000, (), "100"),
        (1000, ("--vector-epochs", 7), "7"),
        (600_000, (), "6"),
        (999_999, (), "5"),
        (1000, ("--vector-epochs", 1), "1"),
    ],
)
def test_small_text_is_seen_more_often_by_the_vectors(train, text, pairs, given, epochs):
    """An epoch of fastText over few sentences leaves all vectors alike."""
    for language in ("de", "en"):
        text.with_name(f"text.{language}").write_text("ten bytes\n" * pairs)
    done = train("--train", text, "--src", "de", "--tgt", "en", "--dry-run", *given)
    command = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-xl vectors train"))
    assert options(command.split(), "--epoch") == (epochs,)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--train TEXT --tgt en", "--src is missing: give the code"),
        (
            "--train TEXT --src de --tgt en --loss combined --warm-start --target-epochs 12",
            "--target-epochs is 12, of 8 in all: give fewer, or --epochs N",
        ),
        ("--train TEXT --src de --tgt en --vector-epochs a[0]", "--vector-epochs is 'a[0]': give"),
        ("--train TEXT --src de", "--tgt is missing: give the code"),
        ("--src de --tgt en", "--train is missing: give PREFIX of PREFIX.de and PREFIX.en"),
        ("--train TEXT --src fr --tgt en", "there is no text for --train, TEXT.fr (or it is empty)"),
        ("--train TEXT --src de --tgt en --valid nowhere", "there is no text for --valid,"),
        ("--train TEXT --src de --tgt en --test nowhere", "there is no text for --test,"),
        ("--train EMPTY --src de --tgt en", "there is no file of pairs for --train, EMPTY (or it is empty)"),
        ("--train EMPTY --src de --tgt en --columns 2", "--columns is '2': give two numbers"),
        ("--train TEXT --src de --tgt en --columns 2", "--columns is for one file of pairs"),
        ("--train EMPTY --src de --tgt en --columns 1+1", "--columns is '1 1': source and target are one column"),
        ("--train TEXT --src de --tgt en --url https://x.org", "train.sh has no option '--url'"),
        ("--train TEXT --src de --tgt en --subword-kind unigram", "--subword-kind is for subwords: give --subwords N"),
        ("--train TEXT --src de --tgt en --diagnose no --diagnose-words dog", "--diagnose-words has no effect with"),
        ("--train TEXT --src de --tgt en --valid x --test y --held-out 9", "--held-out has no effect beside --valid"),
        ("--train TEXT --src de --tgt en --held-out 0", "--held-out is 0"),
        ("--train TEXT --src de --tgt en --data .", "name yours with --train"),
        ("--train TEN --src de --tgt en", "--train has 10 pairs, too few to learn from: give 500 or more"),
        ("--train TORN --src de --tgt en", "TORN is no gzip file"),
        ("--train TEXT --src de --tgt en --mono nowhere", "there is no text for --mono,"),
    ],
)
def test_mistakes(train, text, tmp_path, arguments, said):
    (tmp_path / "empty").touch()
    (tmp_path / "torn.gz").write_text("x\n")
    (tmp_path / "ten").write_text("ein Hund\ta dog\n" * 10)
    names = {"TEXT": text, "EMPTY": tmp_path / "empty", "TORN": tmp_path / "torn.gz", "TEN": tmp_path / "ten"}
    for name, path in names.items():
        arguments, said = arguments.replace(name, str(path)), said.replace(name, str(path))
    done = train(*(word.replace("+", " ") for word in arguments.split()))
    assert done.returncode == 2
    assert [line[:7] for line in done.stderr.splitlines()] == ["error: "]
    assert said in done.stderr
    assert train.calls == []
    assert not train.out.exists()
