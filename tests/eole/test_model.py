"""The model: its table is the one that fairseq's models have, and what does not go with vectors is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

from eole.config.run import TrainConfig
from eole.inputters.inputter import build_vocab

from fairseq_xl.eole.model import INPUT, VectorModel, target_counts, vector_model
from fairseq_xl.eole.settings import Continuous
from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.random import random_unit_vector
from fairseq_xl.vectors.table import read_vectors


@pytest.fixture
def build(configuration, toy: Path, tmp_path: Path):
    """``build(change, **continuous)`` is a new model of the toy's vocabulary."""

    def make(change=lambda config: None, **continuous: object) -> VectorModel:
        given = configuration(tmp_path, **continuous)
        section = given.pop("continuous")
        change(given)
        config = TrainConfig(**given)
        vocabs = build_vocab(config, {"src": [], "tgt": []})
        kind = vector_model(config.model, Continuous.parse(section), target_counts(toy / "dict.tgt.txt"))
        return kind.for_training(config.model, vocabs, config.training, device_id=-1)

    return make


def test_rows_are_the_words_vectors_and_specials_those_of_fairseqs_tables(build, toy: Path) -> None:
    model = build()
    targets = model.generator.targets
    assert torch.allclose(targets.table[1].norm(), torch.tensor(0.0))  # <blank>
    for row, symbol in ((0, "<unk>"), (3, "</s>")):
        assert np.allclose(targets.table[row], random_unit_vector(symbol, targets.dim, 0))
    vectors = read_vectors(toy / "target.vec")
    wanted = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    assert np.allclose(targets.table[4 : 4 + len(wanted)], wanted, atol=1e-6)
    # <blank>, <s>, and what rounds the vocabulary to a multiple of eight
    assert targets.banned_rows().tolist() == [1, 2, *range(4 + len(wanted), len(targets.table))]
    most = model.generator.log_frequency
    assert most[3] == most[4] == most.max()
    assert most[0] == most.min()


def test_the_decoder_reads_the_frozen_table_or_learns_its_own(build) -> None:
    model = build()
    assert torch.equal(model.state_dict()[INPUT], model.generator.targets.table)
    assert not model.tgt_emb.embeddings.weight.requires_grad
    assert INPUT not in model.stored(model.state_dict())
    own = build(decoder_input="learnt")
    assert own.tgt_emb.embeddings.weight.requires_grad
    assert INPUT in own.stored(own.state_dict())


def test_a_word_bias_begins_at_zero_and_is_learnt(build) -> None:
    bias = build(word_bias=True, loss="vmf_posterior").generator.targets.bias
    assert bias.requires_grad
    assert not bias.any()


def test_states_of_a_sentence_do_not_depend_on_its_batch(build) -> None:
    model = build().eval()
    lone, padded = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 7, 1, 1], [8, 9, 10, 11, 12]])
    states, (hidden, _) = model.encoder(model.src_emb(lone), pad_mask=lone.eq(1).unsqueeze(1))
    batch, (last, _) = model.encoder(model.src_emb(padded), pad_mask=padded.eq(1).unsqueeze(1))
    assert torch.allclose(batch[:1, :3], states, atol=1e-6)
    assert torch.allclose(last[:, :1], hidden, atol=1e-6)


@pytest.mark.parametrize(
    ("section", "option", "value"),
    [
        ("training", "label_smoothing", 0.1),
        ("training", "freeze_decoder", True),
        ("training", "lm_prior_model", "lm"),
        ("model", "share_decoder_embeddings", True),
        ("model", "generator_function", "sparsemax"),
    ],
)
def test_options_of_a_softmax_are_refused_not_ignored(build, section: str, option: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{section}.{option} does not go with predicted vectors"):
        build(lambda config: config[section].update({option: value}))


def test_models_and_tables_that_do_not_fit_are_refused(build, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tgt_word_vec_size is 20 and the target vectors have 16"):
        build(lambda config: config["model"]["embeddings"].update(tgt_word_vec_size=20))
    build(lambda config: config["model"]["embeddings"].update(tgt_word_vec_size=20), decoder_input="learnt")
    with pytest.raises(InputError, match="models of text with an encoder and a decoder"):
        build(lambda config: config.update(model={"architecture": "transformer_lm"}))
    (tmp_path / "other.vec").write_text("a 1 0\nb 0 1\n")
    with pytest.raises(InputError, match="is it the right file and language"):
        build(target_vectors=str(tmp_path / "other.vec"))
