"""Figures of each pair in validation, and none in training."""

from __future__ import annotations

import pytest
import torch
from fairseq.logging import metrics

from fairseq_xl.encode.encoder import load_model
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.models.contrast import tag_contrast, tag_similarity
from fairseq_xl.syntactic.models.criterion import UposCrossEntropy

from .conftest import batches


@pytest.fixture(scope="module")
def run(upos_run):
    data, saved = upos_run
    task, model = load_model(saved / "checkpoint_last.pt", data)
    return task, model.eval()


def test_figures_of_each_pair_are_those_of_its_sentences(run):
    task, model = run
    task.load_dataset("valid")
    criterion = UposCrossEntropy(task, sentence_avg=False)
    wanted = {}
    logs = []
    with torch.no_grad():
        for sample in batches(task, "valid"):
            logs.append(criterion(model, sample)[2])
            chances = model(**sample["net_input"])[0].log_softmax(-1)
            for row, pair in enumerate(sample["pair"].tolist()):
                tags = sample["target"][row]
                for step in range(int(tags.ne(1).sum())):
                    right, lost, count = wanted.get(pair, (0, 0.0, 0))
                    right += int(chances[row, step].argmax() == tags[step])
                    wanted[pair] = right, lost - float(chances[row, step, tags[step]]), count + 1
    with metrics.aggregate(new_root=True) as found:
        for log in logs:
            task.reduce_metrics([log], criterion)
    values = found.get_smoothed_values()
    names = [str(pair) for pair in task.pairs]
    assert names == ["de-en", "en-de", "en-es"]
    accuracies = [100 * wanted[i][0] / wanted[i][2] for i in range(3)]
    losses = [wanted[i][1] / wanted[i][2] / 0.693147181 for i in range(3)]
    for name, accuracy, loss in zip(names, accuracies, losses, strict=True):
        assert values[f"accuracy_{name}"] == pytest.approx(accuracy, abs=2e-3)
        assert values[f"loss_{name}"] == pytest.approx(loss, abs=2e-3)
    assert values["mean_accuracy"] == pytest.approx(sum(accuracies) / 3, abs=2e-3)
    assert values["mean_loss"] == pytest.approx(sum(losses) / 3, abs=2e-3)
    total = sum(w[0] for w in wanted.values()) / sum(w[2] for w in wanted.values())
    assert values["accuracy"] == pytest.approx(100 * total, abs=2e-3)
    assert max(accuracies) > 30  # it has learnt something, so that the figures differ
    assert len(set(accuracies)) > 1


def test_training_logs_no_figures_of_pairs(run):
    task, model = run
    task.load_dataset("valid")
    model.train()
    _, _, log = UposCrossEntropy(task, False)(model, batches(task, "valid")[0])
    model.eval()
    assert set(log) == {"loss", "ntokens", "nsentences", "sample_size"}


def test_the_contrastive_loss_is_added_in_training_alone(run):
    task, model = run
    task.load_dataset("valid")
    sample = batches(task, "valid")[0]
    plain, both = UposCrossEntropy(task, False), UposCrossEntropy(task, False, 0.5, 0.2)
    with torch.no_grad():
        torch.testing.assert_close(both(model, sample)[0], plain(model, sample)[0])
    model.train()  # the tiny model has no dropout
    (loss, size, _), (joint, _, log) = plain(model, sample), both(model, sample)
    model.eval()
    ends = torch.full((len(sample["target"]), 1), 2)
    similarity = tag_similarity(torch.cat([ends, sample["target"]], 1), 1)
    apart = tag_contrast(
        model.encode_sentences(sample["net_input"]["src_tokens"], sample["net_input"]["src_lengths"]), similarity, 0.2
    )
    torch.testing.assert_close(joint, loss + 0.5 * size * apart)
    with metrics.aggregate(new_root=True) as found:
        UposCrossEntropy.reduce_metrics([log])
    assert found["tag_contrast"].avg == pytest.approx(float(apart.detach()), rel=1e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((-1.0, 0.1), "--tag-contrast is -1"),
        ((1.0, 0.0), "temperature is 0"),
        ((0.0, 0.2), "temperature has no effect without"),
    ],
)
def test_mistakes(run, options, said):
    with pytest.raises(InputError, match=said):
        UposCrossEntropy(run[0], False, *options)
