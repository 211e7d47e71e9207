"""A model goes on, and translates, with the dictionaries that it was trained with and with no others."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

TRAINING = (
    "--optimizer adam --lr 0.01 --batch-size 30 --required-batch-size-multiple 1 --num-workers 0 --seed 1 "
    "--disable-validation --no-epoch-checkpoints --no-progress-bar --max-epoch {} --save-dir {}"
)


def with_shuffled(corpus: Path, folder: Path, language: str) -> Path:
    """The same data whose dictionary of one language has its words in another order."""
    shutil.copytree(corpus, folder)
    path = folder / f"dict.{language}.txt"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    path.write_text("".join(lines), encoding="utf-8")
    return folder


def test_another_order_of_words_is_refused(command, corpus, tiny_lstm, tmp_path):
    save = tmp_path / "save"
    command("train", f"{corpus} {tiny_lstm} {TRAINING.format(1, save)}")
    last = save / "checkpoint_last.pt"
    generate = f"--path {last} --gen-subset test --batch-size 30 --beam 1 --source-lang de --target-lang en"
    command("generate", f"{corpus} {generate}")
    for language, side in (("de", "source"), ("en", "target")):
        other = with_shuffled(corpus, tmp_path / language, language)
        for name, line in (
            ("train", f"{other} {tiny_lstm} {TRAINING.format(2, save)}"),
            ("generate", f"{other} {generate}"),
        ):
            with pytest.raises(InputError, match=f"trained with another {side} dictionary than this data's"):
                command(name, line)
    assert checkpoints.updates(checkpoints.read(last)) > 0
    command("train", f"{corpus} {tiny_lstm} {TRAINING.format(2, save)}")
