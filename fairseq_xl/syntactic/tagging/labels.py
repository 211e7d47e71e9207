"""The tags of a sentence as labels of the pieces that a tokeniser cuts it into.

Universal Dependencies tags words that are not always written apart: German *zum* is ADP DET. A tokeniser also cuts at
other places than a treebank does (*do* + *n't*; every character of Chinese). So a piece is labelled with the tags of
all the words that begin in it, joined by ``+``. Where no word begins in it the label is ``_``. One sequence labeller
then cuts, takes contractions apart and tags, in every language. Training needs no tokeniser of the treebank's kind, and
the sentence's tags are the labels one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

JOINT = "+"
NONE = "_"


def labels_of(pieces: Sequence[str], tokens: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str]:
    """One label for each piece.

    The two sequences meet where a piece's end is a token's end. Between two meeting points the tags go to the pieces
    one by one, and the last piece takes those that remain. Pieces without a tag of their own get ``_``.

    Args:
        pieces: the sentence as a tokeniser cuts it.
        tokens: the same sentence as a treebank does; white space inside either does not count.
        tags: for each token those of its words.

    Raises:
        ValueError: pieces and tokens spell different sentences.
    """
    labels: list[str] = []
    left = right = 0  # pieces and tokens of the current block
    ends = [_ends(pieces), _ends(tokens)]
    if "".join("".join(pieces).split()) != "".join("".join(tokens).split()):
        raise ValueError(f"the pieces {' '.join(pieces)!r} are not the tokens {' '.join(tokens)!r}")
    token_at = {end: place for place, end in enumerate(ends[1], start=1)}
    for place, end in enumerate(ends[0], start=1):
        if end in token_at and (place == len(pieces) or ends[0][place] != end):
            words = [tag for word in tags[right : token_at[end]] for tag in word]
            labels += _shared(words, place - left)
            left, right = place, token_at[end]
    return labels


def tags_of(labels: Sequence[str]) -> list[str]:
    """The tags of a sentence from the labels of its pieces."""
    return [tag for label in labels if label != NONE for tag in label.split(JOINT)]


def _ends(parts: Sequence[str]) -> list[int]:
    """For each part the number of characters, white space apart, up to its end."""
    ends, end = [], 0
    for part in parts:
        end += len("".join(part.split()))
        ends.append(end)
    return ends


def _shared(words: list[str], pieces: int) -> list[str]:
    own, rest = words[: pieces - 1], words[pieces - 1 :]
    labels = [*own, JOINT.join(rest)] if rest else own
    return labels + [NONE] * (pieces - len(labels))
