"""A split of a data directory: which of its sentences are translated, and how tokens become text."""

from __future__ import annotations

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.translation.tuning import decoding
from fairseq_xl.translation.tuning.points import Tuning


def test_a_reference_with_unknown_words_is_never_matched_there(untrained):
    _, task = untrained
    unknown = torch.tensor([task.target_dictionary.unk(), 5, 2])
    assert decoding._text(task, unknown, None) == "<unk> w1"
    assert decoding._text(task, unknown, None, True) == "<<unk>> w1"


def test_pieces_are_joined_where_that_is_asked_for(untrained):
    _, task = untrained
    pieces = torch.tensor([task.target_dictionary.add_symbol(piece) for piece in ("▁ow", "l", "▁flies")])
    assert decoding._text(task, pieces, "sentencepiece") == "owl flies"
    assert decoding._text(task, pieces, None) == "▁ow l ▁flies"


def test_a_prior_is_known(untrained):
    model, _ = untrained
    assert not decoding.as_saved(model, 5).prior
    model.decoder.scorer.bonus = torch.zeros(44)
    assert decoding.as_saved(model, 5).prior


def test_a_part_of_the_set_is_spread_over_it(untrained, monkeypatch):
    model, task = untrained
    seen = []
    monkeypatch.setattr(decoding, "translate", lambda *a: seen.append(a[4]) or ())
    monkeypatch.setattr(decoding, "outcomes", lambda *_: {})
    decoding.decoder(model, task, Tuning(limit=4, batch_size=9))(decoding.as_saved(model, 5))
    assert sorted(seen[0][0]) == [0, 2, 4, 6]


def test_a_split_without_a_target_is_refused(untrained):
    model, task = untrained
    task.datasets["valid"].tgt = None
    with pytest.raises(InputError, match="has no target side"):
        decoding.decoder(model, task, Tuning())

    def absent(subset):
        raise FileNotFoundError

    task.load_dataset = absent
    with pytest.raises(InputError, match="bin has no split 'valid'"):
        decoding.decoder(model, task, Tuning())


def test_sentences_stand_beside_their_own_references(untrained, monkeypatch):
    """Batches are of like length, so translations come in another order than the references."""
    model, task = untrained
    dataset, scored = task.dataset("valid"), []
    monkeypatch.setattr(
        decoding, "translate", lambda *given: ({number: number for number in batch} for batch in given[4])
    )
    monkeypatch.setattr(decoding, "outcomes", lambda beams, references: scored.append((beams, references)) or {})
    decoding.decoder(model, task, Tuning(batch_size=2))(decoding.as_saved(model, 5))
    ((beams, references),) = scored
    assert beams == list(range(len(dataset)))
    assert references == [decoding._text(task, dataset.tgt[number], None, True) for number in beams]
