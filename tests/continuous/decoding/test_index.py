"""The faiss index of a table: kept, read again, damaged, and without faiss."""

import pytest
import torch

from fairseq_xl.continuous.decoding.index import WordIndex
from fairseq_xl.io.errors import InputError


def test_a_kept_index_is_read_again_and_a_broken_one_is_named(build, tmp_path, monkeypatch):
    model, words = build()
    targets = model.decoder.targets
    unit = torch.nn.functional.normalize(torch.randn(5, targets.dim), dim=-1)
    first = WordIndex(targets, "ivf", words.nspecial, folder=tmp_path / "kept").search(unit, 3)
    (kept,) = (tmp_path / "kept").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr("fairseq_xl.continuous.decoding.index.build_index", lambda *_: pytest.fail("built again"))
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
