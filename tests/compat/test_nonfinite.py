"""A NaN stops training with the update and the sentences, and half precision goes on as it did."""

import re

import pytest
import torch
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


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_check_finite_names_update_and_sentences(value):
    sample = {"id": torch.arange(100, 130)}
    loss = torch.tensor([1.0, value])
    with pytest.raises(finite.NonFiniteError, match=r"loss is not finite at update 7 .* 100, 101"):
        finite.check_finite(loss, sample, 7)
    finite.training.update = 9
    with pytest.raises(finite.NonFiniteError, match=r"at update 9 .* 119 and 10 more"):
        finite.check_finite(loss, sample)
    finite.check_finite(torch.tensor([1.0, 2.0]), sample)


def test_check_finite_leaves_loss_scaling_alone():
    finite.training.scales_loss = True
    finite.check_finite(torch.tensor(float("inf")), {"id": torch.tensor([1])})


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
