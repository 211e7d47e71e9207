"""Which known word an unknown one is read as."""

import numpy as np

from fairseq_xl.vectors.substitutes import substitutes
from fairseq_xl.vectors.table import WordVectors

VECTORS = WordVectors(
    ["dog", "cat", "12", "hound", "kitten", "tram", "13"],
    np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.9, 0.1, 0], [0.3, 0.8, 0.3], [0.5, 0.5, 0.7], [0, 0, 1]]),
)


def test_the_nearest_known_word_where_it_is_near_enough():
    found = substitutes(["hound", "kitten", "tram", "13", "nothing"], ["dog", "cat", "12"], VECTORS, 0.8)
    assert found == {"hound": "dog", "kitten": "cat"}
    assert substitutes(["tram"], ["dog", "cat", "12"], VECTORS, 0.5)["tram"] in {"dog", "cat"}, "12 is no word"


def test_nothing_known_or_unknown_is_no_mistake():
    assert substitutes([], ["dog"], VECTORS, 0) == substitutes(["hound"], [], VECTORS, 0) == {}
