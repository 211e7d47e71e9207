"""fastText models: unseen words by their subwords, and damage that fastText itself would not notice."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
from fairseq_xl.vectors.table import read_vectors
from fairseq_xl.vectors.train import Training, _zeroed_memory, train_vectors

pytest.importorskip("fasttext", reason="needs the compiled package fasttext")

TEXT = "the red cat sees the dog .\nthe dog sees a red house .\na cat naps .\n" * 20
SMALL = {"dim": 6, "epoch": 30, "min_count": 1, "buckets": 500, "threads": 1}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "text").write_text(TEXT)
    train_vectors([folder / "text"], folder / "m", Training(**SMALL), progress=False)
    return folder / "m.bin"


def test_without_words_the_vocabulary_is_read(model: Path) -> None:
    import fasttext

    table = read_vectors(model, dim=6, progress=False)
    reference = fasttext.load_model(str(model))
    assert table.words == reference.get_words() == fasttext_vocabulary(model)
    assert {"the", "cat", ".", "</s>"} <= set(table.words)
    for word, row in zip(table.words, table.matrix, strict=True):
        np.testing.assert_array_equal(row, reference.get_word_vector(word))


def test_unseen_words_get_the_mean_of_their_subwords(model: Path) -> None:
    import fasttext

    reference = fasttext.load_model(str(model))
    table = read_vectors(model, words=["doghouse", "cat"], progress=False)
    assert table.words == ["doghouse", "cat"]
    assert "doghouse" not in fasttext_vocabulary(model)
    _, rows = reference.get_subwords("doghouse")
    mean = np.mean([reference.get_input_vector(row) for row in rows], axis=0)
    np.testing.assert_allclose(table.matrix[0], mean, rtol=1e-5, atol=1e-8)


def test_without_subwords_unseen_words_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    settings = {**SMALL, "max_subword": 0}
    train_vectors([tmp_path / "text"], tmp_path / "m", Training(**settings), progress=False)
    assert read_vectors(tmp_path / "m.bin", words=["doghouse", "cat"], progress=False).words == ["cat"]


def test_another_dimension_is_refused(model: Path) -> None:
    with pytest.raises(InputError, match=r"m\.bin holds vectors of dimension 6"):
        read_vectors(model, dim=300)


@pytest.mark.parametrize("share", [0.0005, 0.01, 0.03, 0.5, 0.9999])
def test_a_truncated_model_is_named(model: Path, tmp_path: Path, share: float) -> None:
    data = model.read_bytes()
    short = tmp_path / "short.bin"
    short.write_bytes(data[: max(5, int(len(data) * share))])
    with pytest.raises(InputError, match=r"short\.bin is a truncated fastText model"):
        read_vectors(short, words=["cat"])


def test_other_damage_is_named(model: Path, tmp_path: Path) -> None:
    data, path = model.read_bytes(), tmp_path / "x.bin"
    entries = struct.unpack_from("<i", data, 64)[0]
    for changed, sentence in [
        (data + b"\0\0", "2 bytes too many"),
        (data[:4] + struct.pack("<i", 99) + data[8:], "version 99"),
        (data[:8] + struct.pack("<i", 7) + data[12:], "dimension 7"),
        (data[:64] + struct.pack("<i", entries - 1) + data[68:], "damaged|truncated"),
        (b"3 4\nword 0.1 0.2", "word2vec's binary files"),
        (data[:3], "not a fastText model"),
    ]:
        path.write_bytes(changed)
        with pytest.raises(InputError, match=sentence) as caught:
            read_vectors(path)
        assert str(path) in str(caught.value)


def test_a_quantised_model_is_refused(tmp_path: Path) -> None:
    import fasttext

    lines = "".join(f"__label__{n % 2} word{n} other{n}\n" for n in range(400))
    (tmp_path / "text").write_text(lines)
    with _zeroed_memory():
        classifier = fasttext.train_supervised(str(tmp_path / "text"), dim=4, epoch=1, thread=1, verbose=0)
    classifier.save_model(str(tmp_path / "whole.bin"))
    classifier.quantize()
    classifier.save_model(str(tmp_path / "quantised.bin"))
    with pytest.raises(InputError, match="quantised"):
        read_vectors(tmp_path / "quantised.bin")
    # The words of a classifier are those of its text, not its labels.
    assert "__label__1" not in fasttext_vocabulary(tmp_path / "whole.bin")
    assert "word7" in fasttext_vocabulary(tmp_path / "whole.bin")


def test_not_a_number_in_a_model_is_named(model: Path, tmp_path: Path) -> None:
    data = bytearray(model.read_bytes())
    words = fasttext_vocabulary(model)
    # The input matrix ends where the output matrix (13th row of settings: words x 6) begins.
    output = len(data) - 4 * 6 * len(words) - 17
    start = output - 4 * 6 * (len(words) + 500)
    data[start : start + 4] = struct.pack("<f", float("nan"))
    (tmp_path / "nan.bin").write_bytes(data)
    with pytest.raises(InputError, match=rf"nan\.bin, .*'{words[0]}' holds NaN or infinity"):
        read_vectors(tmp_path / "nan.bin")
