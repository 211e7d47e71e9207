"""MV-RNN: a vector and a matrix for each node of a parse (Socher, Huval, Manning & Ng 2012).

The user gives the parses in a file with one binary tree a line. The trees have brackets, as treebanks write them, such
as ``(S (NP (D the) (N film)) (VP (V is) (A good)))``. They have the order of the data directory's training, development
and test texts. The first of several words in a bracket is the node's label, which is not used. Every other word is a
leaf, so that ``(NP the film)`` has two. Nodes with more than two children are made binary from the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import regex
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.siamese.baselines import Classifier, Training

EPOCHS, BATCH = 15, 16
_TOKEN = regex.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True)
class Tree:
    """A leaf with a word, or a node of two trees."""

    word: str | None = None
    left: Tree | None = None
    right: Tree | None = None

    def children(self) -> tuple[Tree, Tree]:
        """Of a node."""
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right

    def leaves(self) -> list[str]:
        """The words from left to right, without recursion: a parse can be deeper than Python's stack."""
        words, todo = [], [self]
        while todo:
            tree = todo.pop()
            if tree.word is not None:
                words.append(tree.word)
            else:
                todo += reversed(tree.children())
        return words


def parse_tree(line: str) -> Tree:
    """A binary tree from brackets.

    Raises:
        ValueError: brackets that do not match, or a node without children.
    """
    tokens = _TOKEN.findall(line)
    if not tokens or tokens[0] != "(":
        raise ValueError("a tree begins with an opening bracket")
    stack: list[list[Tree | str]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) < 2:
                raise ValueError("more closing than opening brackets")
            stack[-2].append(_node(stack.pop()))
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise ValueError("fewer closing than opening brackets, or several trees")
    (root,) = stack[0]
    assert isinstance(root, Tree)
    return root


def _node(parts: Sequence[Tree | str]) -> Tree:
    """A node from its label, where it has one, and its children and words."""
    if not parts:
        raise ValueError("an empty node")
    if len(parts) > 1 and isinstance(parts[0], str):
        parts = parts[1:]
    children = [Tree(word=part) if isinstance(part, str) else part for part in parts]
    node = children[0]
    for child in children[1:]:
        node = Tree(left=node, right=child)
    return node


class MVRNN(nn.Module):
    """Vectors a and matrices A of two nodes make p = tanh(W [B a; A b]) and P = W_M [A; B].

    Word matrices are the identity plus a product of low rank, as in the paper.

    Args:
        vocabulary: words, of which 0 is the unknown one.
        classes: outputs.
        dim: of vectors, n; matrices are n × n.
        rank: of a word's matrix beside the identity.
    """

    def __init__(self, vocabulary: int, classes: int, dim: int = 25, rank: int = 3):
        super().__init__()
        self.dim, self.rank = dim, rank
        self.vector = nn.Embedding(vocabulary, dim)
        self.factors = nn.Embedding(vocabulary, 2 * dim * rank + dim)
        nn.init.normal_(self.vector.weight, std=0.1)
        nn.init.normal_(self.factors.weight, std=0.01)
        self.combine = nn.Linear(2 * dim, dim)
        self.combine_matrices = nn.Linear(2 * dim, dim, bias=False)
        self.output = nn.Linear(dim, classes)

    def leaf(self, word: Tensor) -> tuple[Tensor, Tensor]:
        """Vector (n,) and matrix (n, n) = U V + diag(1 + a) of a word number ()."""
        n, r = self.dim, self.rank
        left, right, diagonal = self.factors(word).split([n * r, n * r, n])
        return self.vector(word), left.view(n, r) @ right.view(r, n) + torch.diag(1 + diagonal)

    def node(self, a: Tensor, a_matrix: Tensor, b: Tensor, b_matrix: Tensor) -> tuple[Tensor, Tensor]:
        """Vector (n,) and matrix (n, n) of two nodes' parent."""
        vector = torch.tanh(self.combine(torch.cat([b_matrix @ a, a_matrix @ b])))
        matrix = self.combine_matrices(torch.cat([a_matrix, b_matrix]).t()).t()
        return vector, matrix

    def encode(self, tree: Tree, index: dict[str, int]) -> tuple[Tensor, Tensor]:
        """Vector and matrix of a tree's root, without recursion as well."""
        done: list[tuple[Tensor, Tensor]] = []
        todo: list[tuple[Tree, bool]] = [(tree, False)]
        while todo:
            node, ready = todo.pop()
            if node.word is not None:
                done.append(self.leaf(torch.tensor(index.get(node.word, 0))))
            elif ready:
                right, left = done.pop(), done.pop()
                done.append(self.node(*left, *right))
            else:
                left_child, right_child = node.children()
                todo += [(node, True), (right_child, False), (left_child, False)]
        return done[0]

    def forward(self, trees: Sequence[Tree], index: dict[str, int]) -> Tensor:
        """Logits (N, C)."""
        return self.output(torch.stack([self.encode(tree, index)[0] for tree in trees]))


def read_trees(path: Path) -> list[Tree]:
    """Raises: InputError: a line that is no tree."""
    trees = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            trees.append(parse_tree(line))
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    return trees


def fit_mvrnn(data: Training) -> Classifier:
    """A classifier by trees; the parses stand in the order train, valid, test.

    Raises:
        InputError: no parses, not one for each text, or one with fewer leaves than its text has words.
    """
    if data.parses is None:
        raise InputError("baseline mv-rnn needs a parse of each text: give the file of trees with --parses")
    trees = read_trees(data.parses)
    count, held = len(data.texts), len(data.valid_texts)
    if len(trees) < count + held:
        raise InputError(f"{data.parses} has {len(trees)} trees for {count} training and {held} development texts")
    texts = [*data.texts, *data.valid_texts, *data.test_texts]
    if data.test_texts and len(trees) != len(texts):
        raise InputError(
            f"{data.parses} has {len(trees)} trees for {count} training, {held} development and "
            f"{len(data.test_texts)} test texts: give one for each, in this order"
        )
    for number, (tree, text) in enumerate(zip(trees, texts, strict=False), start=1):
        # A parser may take words apart, but not together.
        if (leaves := len(tree.leaves())) < (words_here := len(text.split())):
            raise InputError(
                f"{data.parses}, line {number}: {leaves} leaves for the {words_here} words of {text!r}: parse the "
                "texts of the data directory, in their order"
            )
    train = trees[:count]
    words = sorted({word for tree in train for word in tree.leaves()})
    index = {word: i for i, word in enumerate(words, start=1)}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(data.seed)
        model = MVRNN(len(index) + 1, data.classes)
        optimiser = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
        random = np.random.default_rng(data.seed)
        for _ in range(EPOCHS):
            order = random.permutation(count)
            for start in range(0, count, BATCH):
                batch = order[start : start + BATCH]
                logits = model([train[i] for i in batch], index)
                loss = F.cross_entropy(logits, torch.from_numpy(data.labels[batch]))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

    @torch.no_grad()
    def predict(texts: Sequence[str]) -> np.ndarray:
        """Of the texts whose trees come last in the file."""
        if len(texts) > len(trees) - count - held:
            raise InputError(f"{data.parses} has {len(trees) - count - held} trees for {len(texts)} test texts")
        chosen = trees[count + held : count + held + len(texts)]
        return model(chosen, index).argmax(1).numpy()

    return predict
