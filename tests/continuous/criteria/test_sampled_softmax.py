"""--criterion sampled_softmax: what it estimates, which rows learn, and whom it refuses."""

import pytest
import tiny_models
import torch
from fairseq.criterions.cross_entropy import CrossEntropyCriterion

from fairseq_xl.continuous.criteria.sampled_softmax import SampledSoftmax
from fairseq_xl.continuous.criteria.vmf_posterior import VmfPosterior
from fairseq_xl.io.errors import InputError

SOFTMAX = {"dropout": 0.0, "target_dim": 6}


def sample():
    return {
        "id": torch.tensor([0, 1]),
        "net_input": {
            "src_tokens": tiny_models.SOURCE,
            "src_lengths": tiny_models.LENGTHS,
            "prev_output_tokens": tiny_models.PREVIOUS,
        },
        "target": torch.tensor([[5, 6, 7, 2], [8, 2, 1, 1]]),
        "ntokens": 6,
    }


def trained(criterion, model):
    """The loss of a batch in training, and the gradient of every parameter."""
    model.train()
    model.zero_grad()
    loss, size, logged = criterion(model, sample())
    loss.backward()
    assert (size, float(logged["loss"])) == (6, pytest.approx(loss.item()))
    return loss, {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("output", ["softmax", "softmax_tied"])
@pytest.mark.parametrize("build", [tiny_models.lstm, tiny_models.transformer])
def test_many_samples_are_all_words(task, build, output):
    model = build(task, None, decoder_output=output, **SOFTMAX)
    exact, gradients = trained(CrossEntropyCriterion(task, False), model)
    loss, estimated = trained(SampledSoftmax(task, False, 30_000, 0.0), model)
    assert torch.allclose(loss, exact, atol=1e-5)
    assert gradients.keys() == estimated.keys()
    for name, gradient in gradients.items():
        assert torch.allclose(estimated[name], gradient, atol=1e-5), name


def test_the_estimate_of_the_normaliser_is_unbiased(task):
    """The mean of exp(loss) over many draws is that of all words, for a batch of one target."""
    model = tiny_models.lstm(task, None, decoder_output="softmax", **SOFTMAX).train()
    batch = sample()
    batch["target"] = torch.tensor([[5, 1, 1, 1], [1, 1, 1, 1]])
    exact = CrossEntropyCriterion(task, False)(model, batch)[0].exp()
    criterion = SampledSoftmax(task, False, 3, 0.75)
    torch.manual_seed(0)
    with torch.no_grad():
        found = torch.stack([criterion(model, batch)[0].exp() for _ in range(2000)])
    assert found.std() > 0
    assert abs(found.mean() - exact) < 4 * found.std() / 2000**0.5


def test_rows_outside_batch_and_sample_have_no_gradient(task):
    model = tiny_models.lstm(task, None, decoder_output="softmax", **SOFTMAX)
    _, gradients = trained(SampledSoftmax(task, False, 1, 0.75), model)
    learnt = gradients["decoder.softmax_weight"].abs().sum(1).nonzero().flatten().tolist()
    assert {2, 5, 6, 7, 8} <= set(learnt)
    assert len(learnt) <= 6
    model.eval()
    vocabulary = len(task.target_dictionary)
    assert model(*sample()["net_input"].values())[0].shape[-1] == vocabulary, "outside training all words are scored"


def test_validation_is_that_of_cross_entropy(task):
    model = tiny_models.lstm(task, None, decoder_output="softmax", **SOFTMAX).eval()
    assert torch.equal(
        SampledSoftmax(task, False, 1, 0.75)(model, sample())[0], CrossEntropyCriterion(task, False)(model, sample())[0]
    )


def test_a_loss_of_rows_and_of_sentences(task):
    model = tiny_models.lstm(task, None, decoder_output="softmax", **SOFTMAX).train()
    rows, size, _ = SampledSoftmax(task, True, 30_000, 0.0)(model, sample(), reduce=False)
    every, _, _ = CrossEntropyCriterion(task, True)(model, sample(), reduce=False)
    assert size == 2
    assert torch.allclose(rows, every[sample()["target"].flatten().ne(1)], atol=1e-5)


def test_a_continuous_output_is_refused(task, write_vectors):
    model = tiny_models.lstm(task, write_vectors(13, 6))
    with pytest.raises(InputError, match="--decoder-output softmax"):
        SampledSoftmax(task, False, 5, 0.75)(model, sample())


def test_a_power_without_samples_is_refused(task):
    with pytest.raises(InputError, match=r"--negatives-power 0.75 says how words are sampled: give --negatives, too"):
        VmfPosterior(task, False, 0, 0.75, 0.0)


@pytest.mark.parametrize(
    ("negatives", "power", "message"),
    [
        (0, 0.75, "--negatives is 0"),
        *((5, power, "--negatives-power is") for power in (-1.0, 400.0, float("inf"), float("nan"))),
    ],
)
def test_numbers_that_sample_nothing_are_refused(task, negatives, power, message):
    with pytest.raises(InputError, match=message):
        SampledSoftmax(task, False, negatives, power)
