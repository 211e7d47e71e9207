"""recipes/tatoeba.sh with stand-ins for what it calls; what it shares with multi30k.sh is tested there."""

from __future__ import annotations

import gzip

import pytest


@pytest.fixture
def tatoeba(recipe):
    return recipe("tatoeba.sh")


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "deu-eng.tsv"
    path.write_text("Go.\tGeh.\n")
    return path


def test_from_a_list_of_pairs_to_a_record(tatoeba, pairs):
    done = tatoeba("--data", pairs, "--held-out", 7)
    assert done.returncode == 0, done.stderr
    words = tatoeba.arguments("fairseq-xl data split")
    folder = tatoeba.out / "prepared" / "de-en"
    expected = f"--languages de en --columns 2 1 --valid 7 --test 7 --output {folder / 'split'}"
    assert " ".join(words[4:]) == expected
    assert (tatoeba.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1" / "record.json").exists()
    tatoeba("--data", pairs, "--held-out", 7)
    assert tatoeba.calls == []
    pairs.write_text("Run!\tLauf!\n")
    tatoeba("--data", pairs, "--held-out", 7)
    assert any(call.startswith("fairseq-xl data split") for call in tatoeba.calls)


def test_from_english(tatoeba, pairs):
    tatoeba("--data", pairs, "--src", "en", "--tgt", "de")
    assert "--languages en de --columns 1 2" in " ".join(tatoeba.arguments("fairseq-xl data split"))


@pytest.mark.parametrize(
    ("lines", "loss", "epochs"), [(99_999, "vmf", "16"), (100_000, "vmf", "8"), (9, "combined", "8")]
)
def test_a_small_list_has_more_epochs(tatoeba, pairs, lines, loss, epochs):
    pairs.write_text("Go.\tGeh.\n" * lines)
    done = tatoeba("--data", pairs, "--loss", loss)
    assert done.returncode == 0, done.stderr
    words = tatoeba.arguments("fairseq-train")
    assert words[words.index("--max-epoch") + 1] == epochs


def test_pairs_of_a_compressed_list_are_counted(tatoeba, tmp_path):
    pairs = tmp_path / "deu-eng.tsv.gz"
    pairs.write_bytes(gzip.compress(b"Go.\tGeh.\n" * 100_000))
    done = tatoeba("--data", pairs, "--loss", "vmf")
    assert done.returncode == 0, done.stderr
    words = tatoeba.arguments("fairseq-train")
    assert words[words.index("--max-epoch") + 1] == "8"
    pairs.write_text("Go.\tGeh.\n")
    done = tatoeba("--data", pairs)
    assert done.returncode == 2
    assert done.stderr == f"error: {pairs} is no gzip file: check the name\n"


def test_a_language_without_blanks_is_cut_into_pieces(tatoeba, pairs):
    done = tatoeba("--data", pairs, "--src", "zh")
    assert done.returncode == 0, done.stderr
    pieces = tatoeba.arguments("fairseq-xl data train-subwords")
    assert pieces[pieces.index("--size") + 1] == "8000", "a sentence would be one word"
    done = tatoeba("--data", pairs, "--src", "zh", "--subwords", 0, "--dry-run")
    assert "train-subwords" not in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--data is missing"),
        (("--data", "nowhere.tsv"), "there is no list of pairs for --data"),
        (("--data", "FOLDER"), "is a folder: name the list of pairs for --data"),
        (("--data", "PAIRS", "--tgt", "fr"), "one of --src and --tgt must be en"),
        (("--data", "PAIRS", "--held-out", "x"), "--held-out is 'x'"),
        (("--data", "PAIRS", "--src", "zh", "--replace-unk", "lexicon"), "leave that out, or give --subwords 0"),
    ],
)
def test_mistakes(tatoeba, pairs, options, said):
    named = {"PAIRS": pairs, "FOLDER": pairs.parent}
    done = tatoeba(*(named.get(word, word) for word in options))
    assert done.returncode == 2
    assert said in done.stderr
    assert tatoeba.calls == []
