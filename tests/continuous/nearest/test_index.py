"""The faiss index of a table: kept, read again, damaged, and without faiss."""

import pytest
import torch

from fairseq_xl.continuous.nearest.index import WordIndex
from fairseq_xl.io.errors import InputError


def test_a_kept_index_is_read_again_and_a_broken_one_is_named(build, tmp_path, monkeypatch):
    model, words = build()
    targets = model.decoder.targets
    unit = torch.nn.functional.normalize(torch.randn(5, targets.dim), dim=-1)
    first = WordIndex(targets, "ivf", words.nspecial, folder=tmp_path / "kept").search(unit, 3)
    (kept,) = (tmp_path / "kept").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr("fairseq_xl.continuous.nearest.index.build_index", lambda *_: pytest.fail("built again"))
        again = WordIndex(targets, "ivf", words.nspecial, folder=tmp_path / "kept").search(unit, 3)
    assert torch.equal(first, again)
    kept.write_bytes(b"not an index")
    with pytest.raises(InputError, match=f"{kept.name} is no index"):
        WordIndex(targets, "ivf", words.nspecial, folder=tmp_path / "kept")


def test_without_faiss_the_extra_is_named(build, monkeypatch):
    model, words = build()
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(InputError, match=r"--extras index"):
        WordIndex(model.decoder.targets, "flat", words.nspecial)


def test_an_index_finds_what_a_search_of_all_words_finds(build):
    """Hubs are penalised, and special tokens and words without a vector left out."""
    model, words = build()
    targets = model.decoder.targets
    penalty, unit = torch.linspace(0, 0.9, len(words)), targets.table[[2, 3, 10, 40]]
    scores = (unit @ targets.table.t() - penalty).masked_fill(targets.banned, -torch.inf)
    scores[:, : words.nspecial] = -torch.inf
    found = WordIndex(targets, "flat", words.nspecial, penalty).search(unit, 9)
    assert torch.equal(found, scores.topk(9).indices)


def test_fewer_words_than_asked_for(build):
    model, words = build()
    targets = model.decoder.targets
    ordinary = [row for row in targets.candidates().tolist() if row >= words.nspecial]
    found = WordIndex(targets, "flat", words.nspecial).search(torch.eye(targets.dim)[:3], len(ordinary) + 5)
    for row in found.tolist():
        assert sorted(row[: len(ordinary)]) == ordinary
        assert row[len(ordinary) :] == [-1] * 5
