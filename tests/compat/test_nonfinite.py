"""A NaN stops training with the update and the sentences, and half precision goes on as it did."""

import re

import pytest
from fairseq.tasks.translation import TranslationTask

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import finite


@pytest.fixture(autouse=True)
def _idle_trainer():
    yield
    finite.training = finite._Training()


@pytest.mark.parametrize("precision", ["", "--amp"])
def test_a_bad_gradient_stops_training_and_names_update_and_sentences(
    command, corpus, tiny_lstm, tmp_path, monkeypatch, precision
):
    seen = []
    stock = TranslationTask.train_step

    def poison(self, sample, model, criterion, optimizer, update_num, **kwargs):
        result = stock(self, sample, model, criterion, optimizer, update_num, **kwargs)
        if update_num == 2:
            seen.append(sample["id"].tolist())
            next(model.parameters()).grad.fill_(float("nan"))
        return result

    monkeypatch.setattr(TranslationTask, "train_step", poison)
    with pytest.raises(finite.NonFiniteError) as caught:
        command(
            "train",
            f"{corpus} {tiny_lstm} --optimizer adam --lr 0.01 --batch-size 4 --max-epoch 1 "
            f"--save-dir {tmp_path} --num-workers 0 {precision}",
        )
    message = str(caught.value)
    assert "gradient is not finite at update 3 " in message
    numbers = re.search(r"sentences ([\d, ]+) \(", message)[1]
    assert [int(number) for number in numbers.split(",")] == seen[0]
    assert "\n" not in message
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, FloatingPointError)


def test_trainer_tells_its_update(command, corpus, tiny_lstm, tmp_path, monkeypatch):
    told = []
    stock = TranslationTask.train_step

    def watch(self, sample, model, criterion, optimizer, update_num, **kwargs):
        told.append((finite.training.update, finite.training.scales_loss))
        return stock(self, sample, model, criterion, optimizer, update_num, **kwargs)

    monkeypatch.setattr(TranslationTask, "train_step", watch)
    command(
        "train",
        f"{corpus} {tiny_lstm} --optimizer adam --lr 0.01 --batch-size 20 --max-update 2 "
        f"--update-freq 2 --save-dir {tmp_path} --num-workers 0",
    )
    assert told == [(1, False), (1, False), (2, False), (2, False)]
