"""SentenceEncoder: rows, order, batches, and what is refused."""

from __future__ import annotations

import copy
import pickle
import shutil

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from fairseq_xl import SentenceEncoder
from fairseq_xl.encode.encoder import pack, pack_untrained
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

from .conftest import TEXT


class Lengths:
    """A task and a model in one: words are numbers, a sentence's vector is its length and its sum."""

    def __init__(self, longest: int | tuple[int, int] = 100):
        self.limit = longest
        self.source_dictionary = Dictionary()
        self.shapes: list[tuple[int, ...]] = []

    def encode_text(self, sentence: str) -> torch.Tensor:
        words = [int(word) for word in sentence.split()]
        return torch.tensor([*words, 2] if words else [], dtype=torch.long)

    def encode_sentences(self, tokens, lengths):
        self.shapes.append(tuple(tokens.shape))
        assert tokens.ne(1).sum(1).tolist() == lengths.tolist()
        return torch.stack([lengths, (tokens * tokens.ne(1)).sum(1)], 1).float()

    def max_positions(self):
        return self.limit

    def eval(self):
        return self

    def to(self, device):
        return self


def test_any_model_that_encodes_sentences_will_do():
    model = Lengths()
    encoder = SentenceEncoder(model, model, torch.device("cpu"))
    lines = ["5 6 7", "", "9", "8 8 8 8 8", "7 7"]
    found = encoder.encode(lines, max_tokens=8, progress=False)
    assert encoder.dim == 2
    assert found.dtype == np.float32
    assert found.tolist() == [[4, 20], [0, 0], [2, 11], [6, 42], [3, 16]]
    assert model.shapes[1:] == [(1, 6), (2, 4), (1, 2)]


def test_copies_encode_alike_in_other_processes_too(encoder, elsewhere):
    expected = encoder.encode(TEXT)
    assert np.array_equal(copy.deepcopy(encoder).encode(TEXT), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).encode(TEXT), expected)
    assert np.array_equal(elsewhere("copy.encode(text)", copy=encoder, text=TEXT), expected)


def test_weights_that_are_not_finite_are_refused(upos_run, tmp_path):
    state = checkpoints.read(upos_run[1] / "checkpoint_last.pt")
    name = next(name for name, tensor in state["model"].items() if tensor.is_floating_point())
    state["model"] = {**state["model"], name: torch.full_like(state["model"][name], torch.nan)}
    torch.save(state, tmp_path / "diverged.pt")
    with pytest.raises(InputError, match="hold NaN or infinity"):
        pack(tmp_path / "diverged.pt", tmp_path / "encoder")
    assert not (tmp_path / "encoder").exists()


def test_blocks_change_nothing(monkeypatch):
    model = Lengths()
    lines = [" ".join(["7"] * (i % 5)) for i in range(23)]
    encoder = SentenceEncoder(model, model, torch.device("cpu"))
    whole = encoder.encode(lines)
    monkeypatch.setattr("fairseq_xl.encode.encoder._BLOCK", 4)
    assert np.array_equal(encoder.encode(lines), whole)


@pytest.mark.parametrize("limit", [4, (4, 9)])
def test_long_sentences_keep_their_beginning_and_their_end(caplog, limit):
    model = Lengths(limit)
    encoder = SentenceEncoder(model, model, torch.device("cpu"))
    found = encoder.encode(["10 20 30 40 50", "10 20 30", "10 20 30 40"])
    assert found.tolist() == [[4, 62], [4, 62], [4, 62]]
    assert "2 sentences have more than 4 tokens and were cut" in caplog.text


def test_every_sentence_has_a_row_of_its_own(encoder):
    found = encoder.encode(TEXT)
    assert found.shape == (6, encoder.dim) == (6, 32)
    assert not found[[1, 3]].any()
    for row, sentence in enumerate(TEXT):
        assert np.allclose(encoder.encode([sentence])[0], found[row], atol=1e-6)
    assert np.allclose(encoder.encode(TEXT, max_tokens=1), found, atol=1e-6)
    assert encoder.encode([]).shape == (0, 32)


def test_normalized_rows_have_length_one_or_are_zero(encoder):
    norms = np.linalg.norm(encoder.encode(TEXT, normalize=True), axis=1)
    assert np.allclose(norms, [1, 0, 1, 0, 1, 1], atol=1e-6)


def test_the_vectors_are_the_models(upos_run, encoder):
    task, model = encoder.task, encoder.model
    tokens = task.encode_text(TEXT[0])
    with torch.no_grad():
        expected = model.encode_sentences(tokens.unsqueeze(0), torch.tensor([len(tokens)]))
    assert np.allclose(encoder.encode(TEXT[:1]), expected.numpy(), atol=1e-6)
    direct = SentenceEncoder.load(upos_run[1] / "checkpoint_last.pt", "cpu")
    assert np.array_equal(direct.encode(TEXT), encoder.encode(TEXT))


def test_an_untrained_encoder_is_drawn_by_its_seed(upos_run, encoder, tmp_path):
    vectors = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        pack_untrained(upos_run[1] / "checkpoint_last.pt", tmp_path / name, seed)
        vectors.append(SentenceEncoder.load(tmp_path / name).encode(TEXT))
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.allclose(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], encoder.encode(TEXT))


def test_data_with_another_dictionary_is_refused(upos_run, prepare):
    with pytest.raises(InputError, match="another source dictionary"):
        SentenceEncoder.load(upos_run[1] / "checkpoint_last.pt", data=prepare("fr-en", words=("en", "fr")))


def test_a_model_of_another_task_is_refused(upos_run, tmp_path):
    state = checkpoints.read(upos_run[1] / "checkpoint_last.pt")
    data = upos_run[0]
    for language in ("de", "en"):
        (tmp_path / f"dict.{language}.txt").write_bytes((data / "dict.source.txt").read_bytes())
    state["cfg"]["task"] = {"_name": "translation", "data": str(tmp_path), "source_lang": "de", "target_lang": "en"}
    torch.save(state, tmp_path / "x.pt")
    with pytest.raises(InputError, match="--task translation gives no sentence embeddings"):
        SentenceEncoder.load(tmp_path / "x.pt")


def test_what_cannot_be_loaded_is_refused(packed, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        SentenceEncoder.load(tmp_path / "none.pt")
    with pytest.raises(InputError, match="which has its data with it"):
        SentenceEncoder.load(packed, data=packed)
    with pytest.raises(InputError, match="'gpu9' cannot be used"):
        SentenceEncoder.load(packed, "gpu9")


def test_calls_that_cannot_be_are_refused(encoder):
    with pytest.raises(TypeError, match="give a list of sentences"):
        encoder.encode("one sentence")
    with pytest.raises(InputError, match="batches of 0 tokens hold nothing"):
        encoder.encode(["a"], max_tokens=0)
    with pytest.raises(InputError, match="reads all languages alike: leave language out"):
        encoder.encode(["a"], language="de")


def test_an_encoder_of_the_hub(hub, packed, encoder):
    shutil.copytree(packed, hub.folder, dirs_exist_ok=True)
    sentences = ["Ein Hund .", "Zwei Hunde ."]
    found = SentenceEncoder.load(hub.name, device="cpu").encode(sentences)
    np.testing.assert_array_equal(found, encoder.encode(sentences))
