"""Mistakes that fairseq itself notices: one sentence, status 2, and the checkpoints stay as they were."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import forked
import numpy as np
import pytest
from fairseq.data import data_utils

from fairseq_xl.compat.mistakes import explain

COMMON = "--num-workers 0 --seed 1 --cpu --no-progress-bar --required-batch-size-multiple 1 --disable-validation"
USUAL = "--batch-size 10 --criterion cross_entropy --optimizer adam --lr 0.01 --lr-scheduler fixed"


def train(data: Path, save: Path, options: str):
    return forked.run("fairseq_cli.train", data, *shlex.split(f"{COMMON} {options}"), "--save-dir", save)


def refused(done) -> str:
    """The sentence, the only one."""
    assert done.returncode == 2, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    (sentence,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    return sentence


@pytest.fixture(scope="module")
def begun(corpus, tiny_lstm, tmp_path_factory) -> Path:
    """Checkpoints of a training that was stopped in the middle of its first epoch."""
    save = tmp_path_factory.mktemp("begun")
    assert train(corpus, save, f"{tiny_lstm} {USUAL} --max-update 7").returncode == 0
    return save


@pytest.fixture(scope="module")
def other_data(corpus, tmp_path_factory):
    """``other_data(DE, EN)`` has the first so many sentences of each side, and the same dictionaries."""

    def make(german: int, english: int) -> Path:
        folder = tmp_path_factory.mktemp("other")
        for language, count, word in (("de", german, "der Hund"), ("en", english, "the dog")):
            (folder / f"train.{language}").write_text(f"{word}\n" * count)
        words = (
            f"-s de -t en --trainpref {folder}/train --destdir {folder}/bin --workers 1 "
            f"--srcdict {corpus}/dict.de.txt --tgtdict {corpus}/dict.en.txt"
        )
        assert forked.run("fairseq_cli.preprocess", *shlex.split(words)).returncode == 0
        return folder / "bin"

    return make


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--encoder-embed-dim 16", "other sizes or other dictionaries (size mismatch for encoder.embed_tokens.weight"),
        ("--decoder-hidden-size 16 --decoder-out-embed-dim 16", "other sizes or other dictionaries (Missing key"),
        ("--criterion label_smoothed_cross_entropy", "trained with CrossEntropyCriterion, and now it is LabelSmoothed"),
        ("--optimizer sgd", "trained with FairseqAdam, and now it is SGD: give the same"),
        ("--lr-scheduler inverse_sqrt --warmup-updates 4", "with --lr-scheduler fixed, and now it is inverse_sqrt"),
        ("--lr-scheduler polynomial_decay --total-num-update 9", "with --lr-scheduler fixed, and now it is polynomial"),
    ],
)
def test_resuming_with_another_option(begun, corpus, tiny_lstm, tmp_path, options, sentence):
    save = shutil.copytree(begun, tmp_path / "save")
    assert sentence in refused(train(corpus, save, f"{tiny_lstm} {USUAL} --max-update 12 {options}"))
    assert {path.name: path.read_bytes() for path in save.iterdir()} == {
        path.name: path.read_bytes() for path in begun.iterdir()
    }


@pytest.mark.slow
@pytest.mark.parametrize("options", ["--lr-scheduler inverse_sqrt --warmup-updates 4 --reset-lr-scheduler"])
def test_what_the_sentence_advises_works(begun, corpus, tiny_lstm, tmp_path, options):
    save = shutil.copytree(begun, tmp_path / "save")
    assert train(corpus, save, f"{tiny_lstm} {USUAL} --max-update 8 {options}").returncode == 0


@pytest.mark.slow
def test_resuming_with_less_data(begun, other_data, tiny_lstm, tmp_path):
    save = shutil.copytree(begun, tmp_path / "save")
    line = f"{tiny_lstm} {USUAL} --max-update 12"
    assert "the training data has fewer batches than when" in refused(train(other_data(20, 20), save, line))
    assert train(other_data(20, 20), save, f"{line} --reset-dataloader").returncode == 0


@pytest.mark.slow
def test_sides_of_different_length(other_data, tiny_lstm, tmp_path):
    said = refused(train(other_data(20, 15), tmp_path, f"{tiny_lstm} {USUAL} --max-update 1"))
    assert "have different numbers of sentences" in said


@pytest.mark.slow
@pytest.mark.parametrize("options", ["--max-tokens 2", "--max-source-positions 1 --required-batch-size-multiple 8"])
def test_no_sentence_within_the_limits(corpus, tiny_lstm, tmp_path, options):
    said = refused(train(corpus, tmp_path, f"{tiny_lstm} {USUAL} --max-update 1 {options}"))
    assert "no sentence of the data is within the limits: raise --max-tokens" in said


@pytest.mark.slow
def test_batches_without_a_size(corpus, tiny_lstm, tmp_path):
    said = refused(train(corpus, tmp_path, f"{tiny_lstm} --criterion cross_entropy --optimizer adam --lr 0.1"))
    assert "there is no size of batches: give --max-tokens or --batch-size" in said


@pytest.mark.slow
def test_translating_with_other_dictionaries(begun, corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "bin")
    with (data / "dict.en.txt").open("a") as stream:
        stream.write("more 1\n")
    done = forked.run("fairseq_cli.generate", data, "--path", begun / "checkpoint_last.pt", "--cpu")
    assert "was trained with another target dictionary than this data's" in refused(done)


def test_a_sentence_that_is_too_long_is_named():
    said = explain(Exception("Size of sample #7 is invalid (=(9, 4)) since max_positions=(5, 5), skip this example"))
    assert str(said).startswith("sentence 7 (from 0) has (9, 4) tokens and the limit is (5, 5). Raise --max-tokens")


def test_a_batch_that_holds_no_sentence():
    numbers = np.array([2, 5])
    with pytest.raises(AssertionError) as raised:
        data_utils.batch_by_size(np.arange(2), numbers.take, numbers, max_tokens=3)
    assert str(explain(raised.value)) == "--max-tokens is 3, and a sentence has more: raise it"


@pytest.mark.parametrize("error", [RuntimeError("ours"), KeyError("best"), AssertionError()])
def test_a_defect_is_not_explained_away(error):
    assert explain(error) is None
