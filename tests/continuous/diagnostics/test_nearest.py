"""Greedy translation word by word, with what was near."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.continuous.diagnostics.nearest import nearest_of_targets, nearest_while_translating


def test_steps_are_those_of_the_model_that_reads_its_own_words(trained):
    model, task = trained
    words, table = task.target_dictionary, model.decoder.targets.table
    steps = nearest_while_translating(model, task, "w3 w1 w20", 4, 6)
    said = [words.index(step.neighbours[0][0]) for step in steps]
    source = task.source_dictionary.encode_line("w3 w1 w20", add_if_not_exist=False).long().unsqueeze(0)
    with torch.no_grad():
        pred, _ = model(source, torch.tensor([source.shape[1]]), torch.tensor([[words.eos(), *said[:-1]]]))
    for step, e in zip(steps, pred[0], strict=True):
        assert step.kappa == pytest.approx(e.norm().item(), rel=1e-5)
        cosines = [cosine for _, cosine in step.neighbours]
        assert cosines == sorted(cosines, reverse=True)
        for word, cosine in step.neighbours:
            assert cosine == pytest.approx(F.cosine_similarity(e, table[words.index(word)], dim=0).item(), abs=1e-5)


def test_it_ends_with_the_end_mark_or_the_longest_length(trained):
    model, task = trained
    words, targets = task.target_dictionary, model.decoder.targets
    says = [words.index("w5"), words.index("w9"), words.eos(), words.index("w7")]

    def decoder(tokens, encoded, state):
        return 3 * targets.table[says[tokens.shape[1] - 1]].reshape(1, 1, -1), {}

    decoder.targets = targets
    fixed = SimpleNamespace(encoder=lambda source: None, decoder=decoder)
    for longest, said in ((9, ["w5", "w9", "</s>"]), (2, ["w5", "w9"])):
        steps = nearest_while_translating(fixed, task, "w3", 2, longest)
        assert [step.neighbours[0][0] for step in steps] == said
        assert [step.kappa for step in steps] == pytest.approx([3] * len(said))
        assert [step.neighbours[0][1] for step in steps] == pytest.approx([1] * len(said))


def test_neighbours_of_negatives_are_those_of_the_definitions(trained):
    """The prediction's part across the target, and its difference from it (section 3.2 of the syn-margin paper)."""
    model, task = trained
    words, table = task.target_dictionary, model.decoder.targets.table.double()
    found = nearest_of_targets(model, task, "w3 w1 w20", "w5 w9", 3)
    assert [step.target for step in found] == ["w5", "w9", "</s>"]
    numbers = [words.index("w5"), words.index("w9"), words.eos()]
    source = task.source_dictionary.encode_line("w3 w1 w20", add_if_not_exist=False).long().unsqueeze(0)
    with torch.no_grad():
        pred, _ = model(source, torch.tensor([4]), torch.tensor([[words.eos(), *numbers[:-1]]]))
    for step, e, number in zip(found, F.normalize(pred[0].double(), dim=-1), numbers, strict=True):
        u = table[number]
        for neighbours, vector in (
            (step.prediction, e),
            (step.projection, e - (e @ u) * u),
            (step.difference, e - u),
        ):
            cosines = F.cosine_similarity(vector, table, dim=-1)
            assert [words.index(word) for word, _ in neighbours][:1] == [_best(cosines, words)]
            for word, cosine in neighbours:
                assert cosine == pytest.approx(cosines[words.index(word)].item(), abs=1e-4)


def _best(cosines, words):
    """The nearest word that can be predicted: neither padding nor the beginning of a sentence."""
    banned = torch.zeros_like(cosines, dtype=torch.bool)
    banned[[words.pad(), words.bos()]] = True
    return int(cosines.masked_fill(banned, -2).argmax())


def test_a_prediction_without_a_direction_is_shown_with_its_norm(trained):
    _, task = trained
    targets = trained[0].decoder.targets

    def decoder(tokens, encoded, state):
        return torch.zeros(1, 1, targets.table.shape[1]), {}

    decoder.targets = targets
    (step,) = nearest_while_translating(SimpleNamespace(encoder=lambda _: None, decoder=decoder), task, "w3", 2, 1)
    assert step.kappa == 0
    assert len(step.neighbours) == 2


def test_a_prediction_that_is_right_has_no_negative(trained):
    model, task = trained
    words, targets = task.target_dictionary, model.decoder.targets
    row = words.index("w5")

    def right(source, lengths, read):
        return 3 * targets.table[[row, words.eos()]].unsqueeze(0), None

    fixed = type("Fixed", (), {"decoder": SimpleNamespace(targets=targets), "__call__": staticmethod(right)})()
    for step in nearest_of_targets(fixed, task, "w3", "w5", 2):
        assert step.prediction[0][1] == pytest.approx(1)
        assert step.projection == step.difference == []
