"""Training a tagger: what is written, what is refused, and what word vectors and tokenisers do."""

from __future__ import annotations

import json

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.syntactic.tagging.taggers import load_tagger
from fairseq_xl.syntactic.tagging.training import _held_out, blank
from fairseq_xl.text.conllu import read_conllu

from .conftest import GERMAN, treebank

pytest.importorskip("spacy")


def test_what_is_written_beside_a_model(trained):
    figures = json.loads((trained / "de" / "accuracy.json").read_text())
    assert figures["upos_f1"] > 95
    assert figures["sentences"] == len(GERMAN)
    about = json.loads((trained / "de" / "tagger.json").read_text())
    assert (about["language"], about["train"]) == ("de", ["de.conllu"])
    assert about["training_sentences"] + about["validation_sentences"] == len(GERMAN)


def test_vectors_of_pieces(trained, tmp_path):
    """A tagger with word vectors tags a noun that no treebank had but its vector's neighbours."""
    words = [trained / "de.conllu", "-l", "de", "-o", tmp_path / "de.pieces"]
    assert main(["embed", "pieces", *map(str, words)]) == 0
    pieces = (tmp_path / "de.pieces").read_text().splitlines()
    assert pieces[0] == "Tom geht zum Haus ."
    kinds = {word: tags for sentence in GERMAN for word, tags in sentence} | {"Burg": "NOUN"}
    axes = sorted(set(kinds.values()))
    rows = [[float(kinds[word] == axis) for axis in axes] for word in kinds]
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(kinds, rows, strict=True)]
    (tmp_path / "de.vec").write_text(f"{len(lines)} {len(axes)}\n" + "\n".join(lines) + "\n")
    options = ["-l", "de", "-o", tmp_path / "de", "--vectors", tmp_path / "de.vec", "--epochs", 12]
    words = [trained / "de.conllu", *options]
    assert main(["embed", "train-tagger", *map(str, words)]) == 0
    assert load_tagger(str(tmp_path / "de"), "de").tag(["Tom geht zum Burg ."])[0][4] == "NOUN"


def test_pieces_of_sentences_that_are_held_out_are_left_out(trained, tmp_path):
    words = [trained / "de.conllu", "-l", "de", "-o", tmp_path / "de.pieces", "--exclude", tmp_path / "held.txt"]
    (tmp_path / "held.txt").write_text("tom geht zum haus!\n")
    assert main(["embed", "pieces", *map(str, words)]) == 0
    pieces = (tmp_path / "de.pieces").read_text().splitlines()
    assert "Tom geht zum Haus ." not in pieces
    assert 0 < len(pieces) < len(GERMAN)


def test_what_a_tagger_is_judged_on_it_has_not_seen(tmp_path):
    """Also where a file is given twice, or once more in another script."""
    capitals = [[(word.upper(), tag) for word, tag in sentence] for sentence in GERMAN]
    files = [treebank(tmp_path / f"{name}.conllu", of) for name, of in (("a", GERMAN), ("b", GERMAN), ("c", capitals))]
    sentences, valid = _held_out([list(read_conllu(file)) for file in files])
    assert len(valid) == 3 * (len(GERMAN) // 10)
    assert len(sentences) == 3 * len(GERMAN) - len(valid)
    assert not {each.text.lower() for each in sentences} & {each.text.lower() for each in valid}
    again, held_out = _held_out([list(read_conllu(files[0])), list(read_conllu(files[0]))[1:]])
    assert not {each.words for each in again} & {each.words for each in held_out}


def test_too_small_a_treebank(tmp_path, capsys):
    path = treebank(tmp_path / "de.conllu", GERMAN[:5])
    assert main(["embed", "train-tagger", str(path), "-l", "de", "-o", str(tmp_path / "de")]) == 2
    assert "5 sentences are too few for a tagger; give 10 or more" in capsys.readouterr().err
    assert not (tmp_path / "de").exists()


@pytest.mark.parametrize("option", [(), ("--valid",)])
def test_a_text_that_is_not_its_words(option, tmp_path, capsys):
    good = treebank(tmp_path / "good.conllu", GERMAN)
    bad = tmp_path / "bad.conllu"
    blocks = good.read_text().split("\n\n")
    blocks[2] = "# sent_id = s3\n" + blocks[2].replace("# text = Tom", "# text = Tim")
    bad.write_text("\n\n".join(blocks))
    files = [good, *option, bad] if option else [bad]
    words = ["-l", "de", "-o", tmp_path / "de"]
    assert main(["embed", "train-tagger", *map(str, [*files, *words])]) == 2
    said = capsys.readouterr().err
    assert "bad.conllu, sentence 3 (s3): its words spell 'Tom geht zum Wasser .'" in said
    assert "says 'Tim geht zum Wasser .': mend one of them" in said


def test_a_folder_of_others_is_not_replaced_by_a_tagger(trained, tmp_path, capsys):
    """It is refused before anything is trained; a tagger is replaced."""
    (tmp_path / "thesis.tex").write_text("mine")
    words = ["embed", "train-tagger", str(trained / "de.conllu"), "-l", "de", "--epochs", "1"]
    assert main([*words, "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "holds something else than a tagger: name another folder" in said
    assert "LOSS" not in said
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    old = tmp_path / "old"
    with atomic_folder(old, "tagger.json", "a tagger") as folder:
        for name in ("tagger.json", "left"):
            (folder / name).write_text("{}")
    assert main([*words, "-o", str(old)]) == 0
    assert load_tagger(str(old), "de").tag(["Tom ."])
    assert not (old / "left").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("old", "."))] == ["old"]


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        ("ko", "나는 간다 ."),
        ("vi", "나는 간다 ."),
        ("xyz", "나는 간다 ."),
        ("ja", "나 는 간 다 ."),
        ("th", "나 는 간 다 ."),
    ],
)
def test_languages_whose_tokenisers_spacy_has_not(language, pieces):
    assert [token.text for token in blank(language).make_doc("나는 간다.") if not token.is_space] == pieces.split()


@pytest.mark.slow
def test_a_real_treebank(data_dir, tmp_path):
    """Dutch from 650 sentences."""
    path = data_dir / "ud" / "UD_Dutch-Alpino" / "nl_alpino-ud-dev.conllu"
    words = [path, "-l", "nl", "-o", tmp_path / "nl", "--epochs", 3]
    assert main(["embed", "train-tagger", *map(str, words)]) == 0
    about = json.loads((tmp_path / "nl" / "tagger.json").read_text())
    assert about["validation_accuracy_of_labels"] > 80
    assert len(list(read_conllu(path))) == about["training_sentences"] + about["validation_sentences"]
