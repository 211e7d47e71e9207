from __future__ import annotations

from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.subwords import MARK, decode, encode, train_subwords, whole_words

SYLLABLES = ["ba", "do", "ki", "lum", "re", "sto", "tan", "wa", "ze"]
TEXT = ["the black dog sees a blackbird .", "birds see dogs , dogs see birds !", "Straße ½ e\u0301 ’s"]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def corpus():
    """Words of one to three syllables, and the lines of TEXT."""
    words = map("".join, chain(*(product(SYLLABLES, repeat=length) for length in (1, 2, 3))))
    return [*TEXT * 3, *map(" ".join, zip(*[words] * 9, strict=True))]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of each kind with 80 pieces."""
    folder = tmp_path_factory.mktemp("subwords")
    text = write(folder / "text", corpus())
    for kind in ("bpe", "unigram"):
        lines = train_subwords([text], folder / kind, 80, kind)
        assert lines == len(corpus())
    return folder


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_seen_text_becomes_known_pieces_and_comes_back(models, kind):
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=str(models / kind))
    pieces = {model.id_to_piece(number) for number in range(len(model))}
    assert len(pieces) == 80
    assert not {"<s>", "</s>"} & pieces, "fairseq has its own"
    for line in corpus():
        encoded = encode(line, str(models / kind))
        assert set(encoded.split(" ")) <= pieces - {"<unk>"}
        assert encoded.count(MARK) == len(line.split()), "each token begins with the mark"
        assert encode(line, str(models / kind)) == encoded
        assert decode(encoded) == line, "not normalised: a fraction, an accent of its own"


@given(st.text().filter(lambda text: MARK not in text))
def test_any_text_comes_back_with_single_spaces(models, text):
    for kind in ("bpe", "unigram"):
        encoded = encode(text, str(models / kind))
        assert encoded.split() == encoded.split(" ") or not encoded, "no other space inside"
        assert decode(encoded) == " ".join(text.split())


def test_what_a_model_makes_up_is_joined_without_stray_spaces():
    assert decode("▁a ▁ man <unk> ▁ ▁ . ▁") == "a man<unk> ."
    assert decode("man ▁a") == "man a"
    assert decode("") == decode("▁") == ""


@pytest.mark.parametrize(
    ("subwords", "pieces", "words", "belongs"),
    [
        (None, ["a@@", "b"], ["a@@", "b"], [0, 1]),
        ("subword_nmt", ["Schnee@@", "mann", "da", "x@@"], ["Schneemann", "da", "x"], [0, 0, 1, 2]),
        ("sentencepiece", ["▁Schnee", "mann", "▁da"], ["Schneemann", "da"], [0, 0, 1]),
        ("sentencepiece", ["Schnee", "▁", "da"], ["Schnee", "da"], [0, 1, 1]),
    ],
)
def test_pieces_make_words(subwords, pieces, words, belongs):
    assert whole_words(pieces, subwords) == (words, belongs)


def test_the_same_text_gives_the_same_file(models, tmp_path):
    text = write(tmp_path / "text", corpus())
    for kind in ("bpe", "unigram"):
        train_subwords([text], tmp_path / kind, 80, kind)
        assert (tmp_path / kind).read_bytes() == (models / kind).read_bytes()


def test_several_files_give_one_joint_model(tmp_path):
    texts = [write(tmp_path / "de", ["äh äh"]), write(tmp_path / "en", ["so so", "", " "])]
    assert train_subwords(texts, tmp_path / "new" / "model", 10) == 2
    model = str(tmp_path / "new" / "model")
    assert encode("äh so", model).split() == ["▁äh", "▁so"]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_long_lines_are_not_passed_over(tmp_path, kind):
    text = write(tmp_path / "text", ["short", "x" * 10 + " word" * 1000])
    train_subwords([text], tmp_path / "model", 12, kind)
    assert encode("xx", str(tmp_path / "model")) != f"{MARK} xx", "x is known"


@pytest.mark.parametrize(
    ("lines", "size", "kind", "sentence"),
    [
        (["", "  "], 50, "bpe", "no subwords can be learnt: .*text holds no tokens"),
        ([], 50, "unigram", "no subwords can be learnt"),
        (TEXT, 5000, "bpe", r"text yields at most \d+ subwords, not 5000: ask for fewer"),
        (TEXT, 5000, "unigram", r"text yields at most \d+ subwords, not 5000"),
        (TEXT, 5, "bpe", r"5 subwords are fewer than the \d+ characters of .*text: ask for more"),
        (TEXT, 0, "bpe", "subwords"),
        (TEXT, 50, "wordpiece", "bpe or unigram, not 'wordpiece'"),
    ],
)
def test_impossible_vocabularies_are_refused(tmp_path, lines, size, kind, sentence):
    text = write(tmp_path / "text", lines)
    with pytest.raises(InputError, match=sentence):
        train_subwords([text], tmp_path / "model", size, kind)
    assert [path.name for path in tmp_path.iterdir()] == ["text"], "nothing half-made is left"


def test_text_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "text").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"^\S+/text, line 2: byte 0xe9 is not valid UTF-8"):
        train_subwords([tmp_path / "text"], tmp_path / "model", 9)
    with pytest.raises(InputError, match=r"there is no file .*absent"):
        train_subwords([tmp_path / "absent"], tmp_path / "model", 9)


def test_bad_models_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no subword model .*absent: train one"):
        encode("a", str(tmp_path / "absent"))
    for content in (["no model"], []):
        with pytest.raises(InputError, match="bad is not a SentencePiece model: train one"):
            encode("a", str(write(tmp_path / "bad", content)))
