"""Which known word an unknown one is read as."""

import pickle
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.substitutes import KnownWords
from fairseq_xl.vectors.train import Training, train_vectors

ROWS = "dog 1 0 0\ncat 0 1 0\n12 0 0 1\nhound 0.9 0.1 0\nkitten 0.3 0.8 0.3\ntram 0.5 0.5 0.7\n13 0 0 1\n"


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "x.vec"
    path.write_text(f"7 3\n{ROWS}")
    return path


def test_the_nearest_known_word_where_it_is_near_enough(vectors: Path) -> None:
    reader = KnownWords(["dog", "cat", "12"], vectors, 0.8)
    sentence = ["hound", "dog", "13", "kitten", "tram", "nothing", "hound"]
    assert reader.read(sentence) == ["dog", "dog", "13", "cat", "tram", "nothing", "dog"]
    assert reader.found == {"hound": "dog", "13": "13", "kitten": "cat", "tram": "tram", "nothing": "nothing"}
    assert reader.read([]) == []
    assert KnownWords(["dog", "cat", "12"], vectors, 0.5).read(["tram"])[0] in {"dog", "cat"}, "12 is no word"


def test_subwords_make_words_that_no_text_had_known(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("der Hund läuft schnell\ndie Katze schläft lange\n" * 60)
    settings = Training(dim=8, min_count=1, epoch=8, buckets=2000, max_subword=6, threads=1)
    train_vectors([text], tmp_path / "de", settings, progress=False)
    reader = KnownWords(["Hund", "Katze", "lange"], tmp_path / "de.bin", 0.1)
    assert reader.read(["Katzen", "Hunde", "Katze"]) == ["Katze", "Hund", "Katze"]
    assert pickle.loads(pickle.dumps(reader)).read(["Katzen"]) == ["Katze"]


def test_vectors_of_another_language_are_refused(vectors: Path) -> None:
    with pytest.raises(InputError, match="has a vector for none of the 2 known words"):
        KnownWords(["chien", "chat"], vectors, 0.5)
