"""n-gram embeddings that begin at the word vectors of two languages in one space."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from omegaconf import OmegaConf

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.data.prepare import prepare
from fairseq_xl.siamese.data.settings import Settings
from fairseq_xl.siamese.models.model import SiameseConfig, SiameseModel
from fairseq_xl.siamese.models.task import SiameseContrastiveConfig, SiameseContrastiveTask

WORDS = {"low": {"buena": (1.0, 0.0), "mala": (0.0, 2.0)}, "high": {"good": (1.5, 0.5), "bad": (0.0, 3.0)}}
TEXTS = {"low": ["Buena, buena sala", "mala sala"], "high": ["good Film", "bad film"]}


@pytest.fixture
def make(tmp_path):
    """``make(key=value)`` prepares two sentences of each language with vectors of both."""
    for side, words in WORDS.items():
        lines = [f"{word} {a} {b}\n" for word, (a, b) in words.items()]
        (tmp_path / f"{side}.vec").write_text("".join(lines))
        rows = zip(("pos", "neg"), TEXTS[side], strict=True)
        (tmp_path / f"{side}.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in rows))

    def run(vectors=("low.vec", "high.vec"), **settings):
        files = {f"{side}_resource": [str(tmp_path / f"{side}.tsv")] for side in WORDS}
        given = [str(tmp_path / name) for name in vectors]
        shares = {"valid_share": 0, "test_share": 0}
        prepare(tmp_path / "out", Settings(**files, **shares, vectors=given, **settings))
        return DataDirectory(tmp_path / "out")

    return run


def expected(directory, words=WORDS):
    """By the definition, in float64: n-gram → mean vector, before centring and scaling."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for side, texts in TEXTS.items():
        for text in texts:
            for word in text.replace(",", "").split():
                vector = words[side].get(word, words[side].get(word.lower()))
                spelt = f"▁{word}▁"
                units = {spelt[i : i + n] for n in directory.orders for i in range(len(spelt) - n + 1)}
                for unit in units if vector else ():
                    found.setdefault(unit, []).append(vector)
    return {unit: np.mean(vectors, 0) for unit, vectors in found.items()}


@pytest.mark.parametrize("orders", [[3], [3, 2, 1]])
def test_an_ngram_has_the_mean_of_its_words(make, orders):
    directory = make(ngrams=orders)
    rows, means = directory.vectors(), expected(directory)
    means = {unit: mean for unit, mean in means.items() if unit in directory.dictionary.indices}
    assert directory.manifest["vectors"] == {"dim": 2, "units": len(means), "shuffled": False}
    known = {directory.dictionary.index(unit): mean for unit, mean in means.items()}
    assert set(np.flatnonzero(rows.any(1))) == set(known)
    wanted = np.stack(list(known.values()))
    wanted = (wanted - wanted.mean(0)) / (wanted - wanted.mean(0)).std()
    np.testing.assert_allclose(rows[list(known)], wanted, rtol=1e-6)
    assert rows.dtype == np.float32


def test_the_control_deals_the_high_resource_vectors_out(make):
    directory = make(shuffle_vectors=True, seed=3)
    dealt = {"low": WORDS["low"], "high": {"good": WORDS["high"]["bad"], "bad": WORDS["high"]["good"]}}
    index = directory.dictionary.index
    means = [expected(directory, words) for words in (WORDS, dealt)]
    scaled = []
    for found in means:
        rows = np.stack([found[unit] for unit in means[0]])
        scaled.append((rows - rows.mean(0)) / (rows - rows.mean(0)).std())
    rows = directory.vectors()[[index(unit) for unit in means[0]]]
    np.testing.assert_allclose(rows, scaled[1], rtol=1e-5)
    assert not np.allclose(rows, scaled[0])
    assert directory.manifest["vectors"]["shuffled"]


def test_an_encoder_begins_there(make):
    directory = make()
    task = SiameseContrastiveTask(SiameseContrastiveConfig(), directory)

    def embeddings(dim, from_checkpoint=False):
        cfg = OmegaConf.structured(SiameseConfig(_name="ssc_bilstm", embed_dim=dim))
        return task.build_model(cfg, from_checkpoint).encoder.embed.weight.detach().numpy()

    weight = embeddings(0)
    rows = directory.vectors()
    known = rows.any(1)
    np.testing.assert_array_equal(weight[known], rows[known])
    others = weight[~known]
    assert others[directory.dictionary.unk()].any(), "n-grams of no known word keep random numbers"
    assert not others[directory.dictionary.pad()].any()
    assert embeddings(7).shape == (len(directory.dictionary), 7)
    assert not (embeddings(0, from_checkpoint=True)[known] == rows[known]).any()
    (directory.path / "vectors.npy").unlink()  # the folder of a packed encoder
    assert embeddings(0, from_checkpoint=True).shape[1] == 2
    with pytest.raises(InputError, match=r"vectors\.npy is missing: prepare the data again"):
        embeddings(0)


def test_data_without_vectors_have_no_size(data_directory):
    directory = DataDirectory(data_directory)
    task = SimpleNamespace(directory=directory, source_dictionary=directory.dictionary)
    assert directory.vector_dim == 0
    with pytest.raises(InputError, match="--embed-dim 0 takes the size of the data's vectors, and they have none"):
        SiameseModel.build_model(SiameseConfig(embed_dim=0), task)


def test_wrong_files(make, tmp_path):
    (tmp_path / "none.vec").write_text("rien 1 2\n")
    with pytest.raises(InputError, match=r"none.vec has no word of the training text"):
        make(vectors=("none.vec",))
    (tmp_path / "wide.vec").write_text("good 1 2 3\n")
    with pytest.raises(InputError, match=r"wide.vec has vectors of 3 numbers, and the first file of 2"):
        make(vectors=("low.vec", "wide.vec"))
    with pytest.raises(InputError, match="no file for the high-resource language"):
        make(vectors=("low.vec",), shuffle_vectors=True)
    with pytest.raises(InputError, match="name a file for the low-resource language and one"):
        make(vectors=("low.vec", "high.vec", "low.vec"))


def test_a_translated_text_has_no_words_of_its_language(make, tmp_path):
    make()
    (tmp_path / "en-es.tsv").write_text("good\tbuena\nbad\tmala\n")
    given = {"low_resource": [str(tmp_path / "low.tsv")], "valid_share": 0, "test_share": 0}
    high = f"{tmp_path}/high.tsv,lexicon={tmp_path}/en-es.tsv"
    files = [str(tmp_path / "low.vec"), str(tmp_path / "high.vec")]
    with pytest.raises(InputError, match="exclude each other"):
        prepare(tmp_path / "other", Settings(**given, high_resource=[high], vectors=files))
    prepare(tmp_path / "other", Settings(**given, high_resource=[high], vectors=files[:1]))


def test_a_damaged_file(make):
    directory = make()
    path = directory.path / "vectors.npy"
    np.save(path, np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"is not of manifest\.json"):
        directory.vectors()
    for damaged in (b"", b"\x93NUMPY"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"vectors\.npy is "):
            directory.vectors()


def test_the_manifest_says_that_there_are_none(data_directory):
    assert json.loads((data_directory / "manifest.json").read_text())["vectors"] == {}
