from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text import moses, subwords
from fairseq_xl.text.parallel import Rules, clean
from fairseq_xl.text.pipeline import Pipeline

RAW = [
    "Das Haus, das ist groß.",
    '  Er sagt:\u2028"Das ist\'s!"\t (z. B. heute) ',
    "ein\x0bHund & eine Katze; 3,5 % der Häuser",
    "",
]


@pytest.fixture
def truecaser(tmp_path):
    (tmp_path / "tok").write_text("heute das Haus , das Haus das\nist ein Hund , ein Hund\n")
    moses.train_truecaser([tmp_path / "tok"], tmp_path / "truecaser")
    return tmp_path / "truecaser"


def test_a_line_takes_the_steps_that_whole_files_take(tmp_path, truecaser):
    plain, other, tokens, true = (tmp_path / name for name in ("plain", "other", "tokens", "true"))
    (tmp_path / "raw").write_text("\n".join(RAW) + "\n", encoding="utf-8")
    (tmp_path / "raw.en").write_text("x\n" * len(RAW))
    clean(tmp_path / "raw", tmp_path / "raw.en", plain, other, Rules(empty="keep"))
    moses.map_file(moses.tokenize, plain, tokens, language="de")
    moses.map_file(moses.truecase, tokens, true, model=str(truecaser))
    pipeline = Pipeline("de", "en", truecaser=str(truecaser))
    found = [" ".join(pipeline.tokens(line)) for line in RAW]
    assert found == true.read_text(encoding="utf-8").split("\n")[:-1]
    assert found[0] == "das Haus , das ist groß ."
    assert pipeline.tokens(" \t\u2029") == []


def test_the_way_back_restores_case_and_spacing(truecaser):
    tokens = ["the", "dog", "'s", "house", ",", "isn", "'t", "it", "?"]
    with_case = Pipeline("de", "en", truecaser=str(truecaser))
    assert with_case.text(tokens) == moses.postprocess(" ".join(tokens), "en")
    assert with_case.text(tokens) == "The dog's house, isn't it?"
    assert Pipeline("de", "en").text(tokens) == "the dog's house, isn't it?"
    assert with_case.text([]) == ""
    without_source_case = Pipeline("ar", "en", target_truecased=True)
    assert without_source_case.text(tokens) == "The dog's house, isn't it?"
    assert Pipeline("ar", "en", "none", target_truecased=True).text(["the", "dog"]) == "The dog"


def test_subwords_go_out_and_back(tmp_path):
    (tmp_path / "tok").write_text("das große Haus\nein großer Hund\n" * 20)
    subwords.train_subwords([tmp_path / "tok"], tmp_path / "pieces", 24)
    pipeline = Pipeline("de", "en", pieces=str(tmp_path / "pieces"))
    pieces = pipeline.tokens("das Großhaus.")
    assert len(pieces) > 3
    assert pieces[0].startswith("▁")
    assert pipeline.text(pieces) == "das Großhaus."


def test_pieces_of_the_source_side_alone_leave_the_words_of_the_other(tmp_path):
    (tmp_path / "tok").write_text("das große Haus\n" * 20)
    subwords.train_subwords([tmp_path / "tok"], tmp_path / "pieces", 15)
    pipeline = Pipeline("de", "en", pieces=str(tmp_path / "pieces"), target_words=True)
    assert len(pipeline.tokens("das Haus")) > 2
    assert pipeline.text(["a", "big", "house", "."]) == "a big house."


def test_text_that_is_tokenised_already_stays_as_it_is():
    pipeline = Pipeline("qel", "en", tokenizer="none")
    assert pipeline.tokens(" A  b , c. ") == ["A", "b", ",", "c."]
    assert pipeline.text(["a", ",", "b"]) == "a , b"


def test_a_missing_truecaser_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no truecaser model .*gone"):
        Pipeline("de", "en", truecaser=str(tmp_path / "gone")).tokens("x")
