"""MV-RNN: its trees, its equations, and that it learns what needs word order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.baselines import Training, fit
from fairseq_xl.siamese.baselines.mvrnn import MVRNN, Tree, parse_tree


def leaf(word):
    return Tree(word=word)


@pytest.mark.parametrize(
    ("line", "tree"),
    [
        ("(S (NP (D the) (N film)) (V runs))", Tree(None, Tree(None, leaf("the"), leaf("film")), leaf("runs"))),
        ("((a) (b))", Tree(None, leaf("a"), leaf("b"))),
        ("(S (A a) (B b) (C c))", Tree(None, Tree(None, leaf("a"), leaf("b")), leaf("c"))),
        ("(S (X (Y a)))", leaf("a")),
        ("(NP the good film)", Tree(None, Tree(None, leaf("the"), leaf("good")), leaf("film"))),
        ("(S (A a) b)", Tree(None, leaf("a"), leaf("b"))),
        ("((A a) b)", Tree(None, leaf("a"), leaf("b"))),
        ("(S a (B b))", Tree(None, leaf("a"), leaf("b"))),
    ],
)
def test_trees(line, tree):
    assert parse_tree(line) == tree


@pytest.mark.parametrize("line", ["", "a b", "(S (A a)", "(A a))", "(A a) (B b)", "(A ())"])
def test_broken_trees(line):
    with pytest.raises(ValueError, match=r"bracket|node|trees"):
        parse_tree(line)


def test_a_parents_vector_and_matrix():
    """p = tanh(W [B a; A b] + bias), P = W_M [A; B] (Socher et al. 2012, section 2)."""
    torch.manual_seed(0)
    model = MVRNN(5, 2, dim=3, rank=1).double()
    a, a_matrix = model.leaf(torch.tensor(1))
    b, b_matrix = model.leaf(torch.tensor(2))
    vector, matrix = model.node(a, a_matrix, b, b_matrix)
    both = torch.cat([b_matrix @ a, a_matrix @ b])
    torch.testing.assert_close(vector, torch.tanh(model.combine.weight @ both + model.combine.bias))
    torch.testing.assert_close(matrix, model.combine_matrices.weight @ torch.cat([a_matrix, b_matrix]))
    encoded = model.encode(parse_tree("((x) (y))"), {"x": 1, "y": 2})
    torch.testing.assert_close(encoded[0], vector)


def test_a_word_matrix_is_the_identity_and_low_rank():
    model = MVRNN(5, 2, dim=6, rank=2)
    with torch.no_grad():
        model.factors.weight.normal_()
        model.factors.weight[:, 2 * 6 * 2 :] = 0
    _, matrix = model.leaf(torch.tensor(3))
    assert torch.linalg.matrix_rank(matrix - torch.eye(6), atol=1e-4) == 2


def test_a_deep_tree():
    line = "(a)"
    for _ in range(3000):
        line = f"({line} (b))"
    tree = parse_tree(line)
    assert tree.leaves() == ["a"] + ["b"] * 3000
    with torch.no_grad():
        vector, _ = MVRNN(3, 2, dim=2).encode(tree, {"a": 1, "b": 2})
    assert torch.isfinite(vector).all()


def test_it_learns_negation(tmp_path):
    """ "not" turns a class round, which no sum of word scores can do."""
    rows = [("good", 1), ("bad", 0), ("not good", 0), ("not bad", 1)] * 12
    trees = [f"({' '.join(f'({w})' for w in text.split())})" for text, _ in rows]
    path = tmp_path / "trees"
    path.write_text("\n".join(trees + trees[:8]) + "\n")
    texts, labels = zip(*rows, strict=True)
    labels = np.array(labels)
    data = Training(texts[:40], labels[:40], texts[40:], labels[40:], 2, 1, parses=path)
    classify = fit("mv-rnn", data)
    assert classify(texts[:8]).tolist() == labels[:8].tolist()
    with pytest.raises(InputError, match="has 8 trees for 9 test texts"):
        classify(texts[:9])
    with pytest.raises(InputError, match="needs a parse of each text"):
        fit("mv-rnn", Training(texts, labels, texts, labels, 2, 1))
    with pytest.raises(InputError, match="has 56 trees for 40 training, 8 development and 9 test texts"):
        fit("mv-rnn", replace(data, test_texts=texts[:9]))
    with pytest.raises(InputError, match="line 1: 1 leaves for the 2 words of 'good film'"):
        fit("mv-rnn", replace(data, texts=("good film", *texts[1:40])))
    path.write_text("(a\n")
    with pytest.raises(InputError, match="line 1: fewer closing"):
        fit("mv-rnn", data)
