"""The target table: every row's policy, what is refused, what a checkpoint may do to it."""

import logging
from pathlib import Path

import pytest
import random_vectors
import torch

from fairseq_xl.continuous.models.targets import TargetTable, build_table
from fairseq_xl.io.errors import InputError

WORDS = ["the", "dog", "barks", "madeupword0000"]


def dictionary(words=WORDS):
    from fairseq.data import Dictionary

    made = Dictionary()
    for rank, word in enumerate(words):
        made.add_symbol(word, n=0 if word.startswith("madeup") else 100 - rank)
    return made


@pytest.fixture
def vectors(tmp_path):
    return random_vectors.write(tmp_path / "en.vec", ["the", "dog", "barks"], 8)


def test_words_get_their_vector_at_unit_length(vectors):
    words = dictionary()
    table = build_table(words, vectors).table
    line = Path(vectors).read_text().splitlines()[2].split(" ")
    expected = torch.tensor([float(x) for x in line[1:]])
    assert line[0] == "dog"
    assert torch.allclose(table[words.index("dog")], expected / expected.norm(), atol=1e-6)
    lengths = table.norm(dim=-1)
    assert torch.allclose(lengths[[0, 2, 3, 4, 5, 6]], torch.ones(6))


def test_specials_are_distinct_and_padding_is_never_predicted(vectors):
    words = dictionary()
    targets = build_table(words, vectors)
    special = targets.table[[words.eos(), words.unk()]]
    assert (special @ targets.table.t()).abs().sort().values[:, -2].max() < 0.95
    assert torch.equal(targets.table[words.pad()], torch.zeros(8))
    assert targets.banned.tolist() == [True, True, False, False, False, False, False, True]
    assert targets.candidates().tolist() == [2, 3, 4, 5, 6]


def test_random_rows_do_not_depend_on_the_dictionary(vectors):
    first = build_table(dictionary(["the", "zebra"]), vectors)
    second = build_table(dictionary(["dog", "barks", "zebra"]), vectors)
    assert torch.equal(first.table[2:4], second.table[2:4])
    assert torch.equal(first.table[-1], second.table[-1])


def test_specials_from_the_file(tmp_path):
    path = random_vectors.write(tmp_path / "v.vec", ["the", "dog", "barks", "</s>", "<unk>"], 8, seed=1)
    words = dictionary()
    table = build_table(words, path, special="file").table
    line = Path(path).read_text().splitlines()[4].split(" ")
    expected = torch.tensor([float(x) for x in line[1:]])
    assert torch.allclose(table[words.eos()], expected / expected.norm(), atol=1e-6)


def test_specials_missing_from_the_file_are_refused(vectors):
    with pytest.raises(InputError, match=r"no vector for </s>.*--special-vectors random"):
        build_table(dictionary(), vectors, special="file")


def test_missing_words_random_unk_or_error(vectors, caplog):
    words = dictionary([*WORDS, "zebra"])
    zebra = words.index("zebra")
    with caplog.at_level(logging.WARNING):
        free = build_table(words, vectors)
    assert "1 of 4 words" in caplog.text
    assert "zebra" in caplog.text
    assert not free.banned[zebra]
    as_unknown = build_table(words, vectors, missing="unk")
    assert as_unknown.banned[zebra]
    assert torch.equal(as_unknown.table[zebra], as_unknown.table[words.unk()])
    with pytest.raises(InputError, match=r"no vector for 1 of 4 words.*zebra"):
        build_table(words, vectors, missing="error")


def test_little_coverage_is_refused_under_a_threshold(vectors):
    words = dictionary(["the", "zebra", "yak", "gnu"])
    with pytest.raises(InputError, match=r"only 25.0% are covered: .* 50% have to be, unless --min-coverage"):
        build_table(words, vectors)
    assert build_table(words, vectors, min_coverage=0.2).dim == 8


def test_wrong_dimension_is_refused(vectors):
    with pytest.raises(InputError, match="8"):
        build_table(dictionary(), vectors, dim=300)


def test_unknown_policy_is_refused(vectors):
    with pytest.raises(InputError, match="--missing-vectors is one of random, unk, error"):
        build_table(dictionary(), vectors, missing="zero")


def test_stays_float32_when_the_model_is_halved(vectors):
    targets = build_table(dictionary(), vectors)
    before = targets.table.clone()
    targets.half()
    assert targets.table.dtype == torch.float32
    assert torch.equal(targets.table, before)
    assert targets.banned.dtype == torch.bool


def test_nothing_for_the_optimiser(vectors):
    targets = build_table(dictionary(), vectors)
    assert list(targets.parameters()) == []
    assert set(targets.state_dict()) == {"table", "banned", "fingerprint"}


def test_checkpoint_fills_an_empty_table(vectors):
    targets = build_table(dictionary(), vectors)
    empty = TargetTable.awaiting_checkpoint(dictionary().symbols, 8)
    assert not empty.filled
    empty.load_state_dict(targets.state_dict())
    assert empty.filled
    assert torch.equal(empty.table, targets.table)


def test_checkpoint_of_another_dictionary_is_refused(vectors):
    state = build_table(dictionary(), vectors).state_dict()
    with pytest.raises(InputError, match="8 rows, but the target dictionary has 7 entries"):
        build_table(dictionary(WORDS[:-1]), vectors).load_state_dict(state)
    with pytest.raises(InputError, match="another dictionary of the same size"):
        build_table(dictionary(WORDS[::-1]), vectors).load_state_dict(state)


def test_a_checkpoint_with_other_vectors_does_not_silently_replace_those_given(vectors, tmp_path):
    given = build_table(dictionary(), vectors)
    state = given.state_dict()
    build_table(dictionary(), vectors).load_state_dict(state)
    half = {name: value.half() if value.is_floating_point() else value for name, value in state.items()}
    build_table(dictionary(), vectors).load_state_dict(half)  # as --fp16 keeps it
    path = random_vectors.write(tmp_path / "new.vec", WORDS, 8, seed=2)
    for other in (build_table(dictionary(), path), build_table(dictionary(), vectors, missing="unk")):
        if torch.equal(other.table, given.table):
            continue
        before = other.table.clone()
        for stored in (state, half):
            with pytest.raises(InputError, match="trained with other target vectors than those of --target-vectors"):
                other.load_state_dict(stored)
            assert torch.equal(other.table, before)


def test_swapped_vocabulary_keeps_trained_specials_and_its_own_words(vectors, tmp_path):
    state = build_table(dictionary(), vectors).state_dict()
    path = random_vectors.write(tmp_path / "new.vec", ["cat", "zebra", "</s>"], 8, seed=2)
    words = dictionary(["cat", "zebra"])
    swapped = build_table(words, path, swap=True)
    own = swapped.table.clone()
    swapped.load_state_dict(dict(state))
    assert torch.equal(swapped.table[:4], state["table"][:4])
    assert torch.equal(swapped.table[4:], own[4:])


def test_swapping_in_another_dimension_is_refused(vectors, tmp_path):
    state = build_table(dictionary(), vectors).state_dict()
    path = random_vectors.write(tmp_path / "new.vec", ["cat"], 5)
    with pytest.raises(InputError, match="have 5 dimensions, the model predicts 8"):
        build_table(dictionary(["cat"]), path, swap=True).load_state_dict(dict(state))


def test_words_swapped_in_get_the_mean_bias_of_the_words_that_were_known(vectors):
    """Fillers of the dictionary are banned: their bias was never learnt."""
    trained, words = build_table(dictionary(), vectors), dictionary()
    trained.bias = torch.nn.Parameter(torch.zeros(len(words)))
    with torch.no_grad():
        trained.bias[words.nspecial :][~trained.banned[words.nspecial :]] = 2.0
    assert trained.banned[words.nspecial :].any()
    swapped = build_table(words, vectors, swap=True)
    swapped.bias = torch.nn.Parameter(torch.zeros(len(words)))
    swapped.load_state_dict(trained.state_dict())
    assert (swapped.bias[words.nspecial :] == 2).all()
