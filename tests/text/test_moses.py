from __future__ import annotations

import os
import sys

import pytest
import sacrebleu

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text import moses


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def model(tmp_path):
    text = ["The dog sees a dog in Paris .", "A man walks the dog .", "I say the man is here ."]
    moses.train_truecaser([write(tmp_path / "tok", text)], tmp_path / "model")
    return str(tmp_path / "model")


def test_tokens_are_not_escaped_unless_asked():
    text = "Tom's R&D costs <5 | 'a' [b]"
    plain, escaped = moses.tokenize(text, "en"), moses.tokenize(text, "en", escape=True)
    assert "&" in plain.split()
    assert not any(mark in plain for mark in ("&amp;", "&apos;", "&lt;", "&#124;"))
    assert "&amp;" in escaped
    assert moses.detokenize(escaped, "en", escape=True).replace(" ", "") == text.replace(" ", "")


def test_text_that_shows_an_escape_keeps_it():
    text = "He types &amp; here"
    assert moses.detokenize(moses.tokenize(text, "en"), "en").replace(" ", "") == "Hetypes&amp;here"


@pytest.mark.parametrize("odd", "\r\x0b\x0c\x1c\x1e\x85\u2028\u2029")
def test_no_token_holds_a_line_separator(odd):
    tokens = moses.tokenize(f"one{odd}two{odd}three .", "en")
    assert len(f"{tokens}\n".splitlines()) == 1
    assert tokens.endswith("three .")


def test_truecasing_lowers_sentence_starts_and_keeps_names(model):
    assert moses.truecase("The dog . Paris sleeps .", model) == "the dog . Paris sleeps ."
    assert moses.truecase("I see Unknown words", model) == "I see Unknown words"


def test_keep_known_leaves_seen_cases_inside_a_sentence(tmp_path):
    text = ["x Green x", "x green x", "x green x"]
    moses.train_truecaser([write(tmp_path / "tok", text)], tmp_path / "model")
    model = str(tmp_path / "model")
    assert moses.truecase("Green x Green", model) == "green x green"
    assert moses.truecase("Green x Green", model, keep_known=True) == "green x Green"


def test_pipes_and_tags_survive_truecasing(model):
    line = "The | dog <b> || a|b ."
    assert moses.truecase(line, model).lower().split() == line.lower().split()


def test_bad_truecaser_models_are_named(tmp_path, model):
    with pytest.raises(InputError, match=r"there is no truecaser model .*absent: train one"):
        moses.truecase("a", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="is not a truecaser model"):
        moses.truecase("a", str(write(tmp_path / "bad", ["word (x/2) more"])))
    with pytest.raises(InputError, match="no truecaser can be trained"):
        moses.train_truecaser([write(tmp_path / "empty", ["", ""])], tmp_path / "m")


def test_processes_keep_the_order(tmp_path, monkeypatch):
    monkeypatch.setattr(moses, "PARALLEL_FROM", 1)
    # Workers take over sys.argv; under the command's name they need not load fairseq.
    monkeypatch.setattr(sys, "argv", ["fairseq-xl"])
    lines = [f"Line {number}, isn't it?" for number in range(2345)]
    source = write(tmp_path / "in", lines)
    assert moses.map_file(moses.tokenize, source, tmp_path / "two", 2, language="en") == 2345
    moses.map_file(moses.tokenize, source, tmp_path / "one", 1, language="en")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("language", "bleu", "same"), [("en", 98.0, 0.95), ("fr", 96.0, 0.8)])
def test_round_trip_on_captions_is_nearly_lossless(data_dir, tmp_path, language, bleu, same):
    folder = data_dir / "mt" / "multi30k"
    train = list(read_lines(folder / f"train.{language}"))[:5000]
    raw = [line.strip() for line in read_lines(folder / f"test_2016_flickr.{language}")]
    tokens = list(moses.map_lines(moses.tokenize, train, language=language))
    model = str(tmp_path / "model")
    moses.train_truecaser([write(tmp_path / "train", tokens)], model)
    tokens = list(moses.map_lines(moses.tokenize, raw, language=language))
    cased = list(moses.map_lines(moses.truecase, tokens, model=model))
    back = list(moses.map_lines(moses.postprocess, cased, language=language))
    assert sacrebleu.corpus_bleu(back, [raw]).score > bleu
    assert sum(x == y for x, y in zip(raw, back, strict=True)) / len(raw) > same
    assert sum(x != y for x, y in zip(tokens, cased, strict=True)) > 900, "nothing was truecased"


def test_a_truecaser_goes_where_it_is_told_to(tmp_path):
    text = write(tmp_path / "tok", ["The dog sees a dog in Paris .", "A man walks the dog ."])
    model, pipe = write(tmp_path / "model", ["old"]), tmp_path / "pipe"
    model.chmod(0o640)
    moses.train_truecaser([text], model)
    assert model.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    moses.train_truecaser([text], pipe)
    assert pipe.is_fifo()
    assert os.read(reading, 1 << 16) == model.read_bytes()
    os.close(reading)
