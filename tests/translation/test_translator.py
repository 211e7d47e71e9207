"""Raw text to raw text: the same as fairseq-generate between the text steps, and every way it can be refused."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import in_process
import numpy as np
import pytest
import torch

import fairseq_xl
from fairseq_xl import Translation, Translator
from fairseq_xl.io.errors import InputError
from fairseq_xl.text import moses
from fairseq_xl.text.hypotheses import read_hypotheses

MODELS = ("continuous", "softmax", "stock")


@pytest.fixture(scope="module")
def generated(work):
    """``generated(FOLDER, NAMES, OPTION…)``: what fairseq-generate writes for the preprocessed test set, with the text
    steps after it."""

    def generate(folder: Path, names: list[str], *further: str) -> list[str]:
        paths = os.pathsep.join(str(work / name / "checkpoint_last.pt") for name in names)
        line = f"{work}/bin --path {paths} --cpu --batch-size 64 --results-path {folder} {' '.join(further)}"
        in_process.run("generate", line)
        found = read_hypotheses(folder / "generate-test.txt")
        return [moses.postprocess(line, "en") for line in found]

    return generate


@pytest.mark.parametrize(("name", "beam"), [("continuous", 1), *[(n, 5) for n in (*MODELS, "both")]])
def test_raw_text_gives_what_the_steps_of_a_recipe_give(load, raw, generated, tmp_path, name, beam):
    names = ["continuous", "stock"] if name == "both" else [name]
    expected = generated(tmp_path, names, f"--beam {beam}")
    assert load(name, beam=beam).translate(raw) == expected
    assert len(set(expected)) > 5


def test_scores_and_their_order_are_fairseqs(load, raw, generated, tmp_path):
    generated(tmp_path, ["continuous"], "--beam 4 --nbest 3 --lenpen 0.6")
    log = (tmp_path / "generate-test.txt").read_text(encoding="utf-8")
    expected = re.findall(r"^H-(\d+)\t(\S+)\t(.*)$", log, re.M)
    found = load("continuous", beam=4, lenpen=0.6).candidates(raw, n_best=3)
    ours = {i: [(one.score, " ".join(one.tokens)) for one in best] for i, best in enumerate(found)}
    for i, best in ours.items():
        theirs = [(float(score), text) for number, score, text in expected if int(number) == i]
        assert [text for _, text in best] == [text for _, text in theirs]
        assert np.allclose([score for score, _ in best], [score for score, _ in theirs], atol=1e-4)
        assert best == sorted(best, reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_batches_change_nothing_and_alignments_point_into_the_sentence(load, raw, name):
    together = load(name).candidates(raw)
    alone = load(name, max_tokens=1).candidates(raw)
    for (one,), (other,) in zip(together, alone, strict=True):
        assert one.tokens == other.tokens
        assert math.isclose(one.score, other.score, abs_tol=1e-4)
        # A batch is padded, a sentence alone is not: a shift would show.
        assert one.alignment == other.alignment
        assert len(one.alignment) == len(one.tokens)
        assert all(0 <= place < len(one.source) for place in one.alignment)
    assert len({len(best.source) for (best,) in together}) > 1


def test_blank_lines_give_blank_lines(load, raw):
    translator = load("continuous")
    some = ["", raw[0], " \t", raw[1]]
    first, second = translator.translate(raw[:2])
    assert translator.translate(some) == ["", first, "", second]
    assert translator.candidates(["\u2028"]) == [[Translation("", 0.0, [], [], [])]]
    assert translator.translate([]) == []


def test_progress_counts_every_sentence(load, raw):
    counts = []
    load("continuous", max_tokens=40).candidates(["", *raw], progress=counts.append)
    assert sum(counts) == len(raw) + 1
    assert len(counts) > 3


def test_of_a_long_sentence_the_beginning_is_translated(load, raw):
    translator = load("continuous")
    assert translator.longest == 1024
    translator.longest = 5
    (long,), (short,) = translator.candidates([raw[0], "Ein Hund sieht"])
    assert long.cut == len(long.source) + long.cut - 4 > 0
    assert len(long.source) == 4
    assert short.cut == 0
    again = load("continuous").translate([" ".join(long.source)])
    assert [long.text] == again


def test_unknown_words_are_replaced_by_the_source(load, raw, tmp_path):
    always = {"unkpen": -1000, "max_len_b": 4}
    (plain,) = load("stock", **always).candidates(raw[:1])
    (copied,) = load("stock", **always, replace_unk=True).candidates(raw[:1])
    assert set(plain[0].tokens) == {"<unk>"}
    words = [word for word in copied[0].source if any(map(str.isalnum, word))]
    assert set(copied[0].tokens) <= set(words), "punctuation is passed over"
    for token, place in zip(copied[0].tokens, copied[0].alignment, strict=True):
        assert token == copied[0].source[place] or copied[0].source[place] not in words
    (near,) = load("stock", **always, replace_unk=True, replace_unk_distance=0.6).candidates(raw[:1])
    source = near[0].source
    for place, token in enumerate(near[0].tokens):
        expected = (place + 0.5) / len(near[0].tokens) * len(source) - 0.5
        assert token in ["<unk>", *(word for at, word in enumerate(source) if abs(at - expected) <= 0.6)]
    assert near[0].tokens != copied[0].tokens
    # As `fairseq-xl data lexicon` writes it, the most probable first.
    lines = [f"{word}\t<{word}>\t0.9\n{word}\tworse\t0.1\n" for word in dict.fromkeys(words)]
    (tmp_path / "words.tsv").write_text("".join(lines))
    (tmp_path / "words.json").write_text(json.dumps({word: [[f"<{word}>", 0.9], ["worse", 0.1]] for word in words}))
    for name in ("words.tsv", "words.json"):
        (mapped,) = load("stock", **always, replace_unk=True, lexicon=tmp_path / name).candidates(raw[:1])
        assert mapped[0].tokens == [f"<{word}>" for word in copied[0].tokens]


def test_unknown_words_are_read_as_the_nearest_known_ones(load, tmp_path):
    rows = {"Hund": "1 0", "Mann": "0 1", "Dackel": "0.9 0.1", "Tram": "-1 -1"}
    (tmp_path / "de.vec").write_text(f"{len(rows)} 2\n" + "".join(f"{word} {row}\n" for word, row in rows.items()))
    sentences = ["Ein Dackel sieht den Mann."]
    reading = {"read_unknown": tmp_path / "de.vec"}
    (plain,), (read,) = (load("continuous", **given).candidates(sentences) for given in ({}, reading))
    assert load("continuous", **reading).translate(sentences) == load("continuous").translate(
        ["Ein Hund sieht den Mann."]
    )
    assert read[0].source == plain[0].source, "what is copied is what was written"
    far = load("continuous", **reading, read_unknown_cosine=0.999).translate(sentences)
    assert far == [plain[0].text]


def test_special_tokens_in_the_text_are_words(pack_model, tmp_path):
    pack_model(tmp_path / "model", "continuous", tokenizer="none", truecaser=None)
    translator = Translator.load(tmp_path / "model", "cpu")
    (special,), (unknown,) = translator.candidates(["</s> <pad> Hund <s>", "xxx yyy Hund zzz"])
    assert special.tokens == unknown.tokens
    assert special.source == ["</s>", "<pad>", "Hund", "<s>"]
    assert special.text == " ".join(special.tokens)


def test_the_nearest_words_alone_give_the_same(load, raw):
    expected = load("continuous").translate(raw)
    assert load("continuous", nearest="top").translate(raw) == expected
    with pytest.raises(InputError, match="--nearest is for continuous outputs"):
        load("softmax", nearest="top")


def test_options_reach_the_search_and_the_model(load, raw):
    short = load("continuous", max_len_b=3).candidates(raw)
    assert all(len(best.tokens) <= 3 for (best,) in short)
    scored = [load("continuous", decode_score=s).candidates(raw[:1])[0][0].score for s in ("cosine", "vmf_posterior")]
    assert scored[0] != scored[1]
    torch.manual_seed(0)
    sampled = load("softmax", sampling=True, beam=2, temperature=3.0).translate(raw)
    assert sampled != load("softmax", beam=2).translate(raw)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"beem": 3}, "no option 'beem'; did you mean beam?"),
        ({"beam": "many"}, "the option beam is 'many': give a whole number"),
        ({"beam": 0}, "beam is 0: give a number from 1"),
        ({"decode_score": "best"}, "decode_score is one of cosine, vmf_posterior, vmf_density, not 'best'"),
        ({"nearest_effort": 2}, "nearest_effort says what nearest does if it is hnsw or ivf: give that, too"),
        ({"diverse_beam_strength": 1}, "diverse_beam_strength says what diverse_beam_groups does: give that, too"),
        ({"sampling_topk": 3}, "requires --sampling"),
        ({"temperature": 0}, "temperature is 0: give a number from 0.001 to 1000"),
        ({"min_len": 300}, "min_len is 300"),
        ({"lenpen": 400}, "lenpen is 400: give a number from -10 to 10"),
        ({"sampling": True, "sampling_topk": 100_000}, "sampling_topk is 100000, and the target language has "),
        ({"sampling": True, "sampling_topk": 0}, "sampling_topk is 0: give a number from 1"),
        ({"sampling": True, "sampling_topp": 1.5}, "sampling_topp is 1.5: give a number from 1e-06 to 1"),
        ({"unkpen": 1e300}, "unkpen is 1e+300: give a number from -10000 to 10000"),
        ({"beam": 10**9}, "beam is 1000000000: give a number from 1 to 1000"),
        ({"max_len_a": -1.0}, "max_len_a is -1.0: give a number from 0"),
        ({"max_len_b": -5}, "max_len_b is -5: give a number from 0"),
        ({"decode_scale": 1e300}, "decode_scale is 1e+300"),
        ({"device": "meta"}, "the device 'meta' cannot be used: Cannot copy out of meta tensor"),
        ({"diverse_beam_groups": 3}, "diverse_beam_groups is 3, which does not divide the beam, 5"),
        ({"replace_unk": True, "lexicon": "absent"}, "there is no file absent"),
        ({"replace_unk_distance": 3}, "replace_unk_distance says what replace_unk does: give that, too"),
        ({"replace_unk": False, "lexicon": "x"}, "lexicon says what replace_unk does: give that, too"),
        ({"nearest_effort": 2.0, "nearest": "flat"}, "nearest_effort says what nearest does if it is hnsw or ivf"),
        ({"nearest_index": "x", "nearest": "top"}, "nearest_index says what nearest does if it is flat or hnsw or ivf"),
        ({"sampling": True, "sampling_topk": 2, "sampling_topp": 0.5}, "sampling_topk and sampling_topp exclude each"),
        ({"sampling": True, "sampling_topp": 0.0}, "sampling_topp is 0.0: give a number from 1e-06 to 1"),
        ({"decode_score": "vmf_posterior", "decode_scale": 5.0}, "decode_scale has no effect with decode_score vmf_p"),
        ({"unnormalized": True, "lenpen": 2.0}, "unnormalized and lenpen exclude each other"),
        ({"read_unknown_cosine": 0.5}, "read_unknown_cosine says what read_unknown does: give that, too"),
        ({"read_unknown": "absent.vec"}, "absent.vec"),
        ({"replace_unk": True, "replace_unk_distance": -1}, "replace_unk_distance is -1: give a number from 0"),
        ({"sampling": 1}, "the option sampling is 1: give true or false"),
        ({"device": "gpu"}, "the device 'gpu' cannot be used"),
        ({"max_tokens": 0}, "give 1 or more"),
    ],
)
def test_options_that_cannot_work_are_refused(packed, given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(message)):
        Translator.load(packed / "continuous", **{"device": "cpu", **given})


@pytest.mark.parametrize(
    "given",
    [
        {"lenpen": 10.0},
        {"lenpen": -10.0, "beam": 2},
        {"sampling": True, "sampling_topk": 5},
        {"sampling": True, "sampling_topp": 1e-6},
        {"temperature": 1e-3},
        {"temperature": 1e3, "unkpen": 1e4},
        {"unkpen": -1e4, "max_len_b": 3},
        {"max_len_b": 10**18, "max_len_a": 1e6},
        {"beam": 50},
        {"decode_scale": 1e4, "decode_score": "cosine", "decode_csls_weight": 1e4},
        {"decode_scale": 0.0, "decode_score": "cosine"},
    ],
    ids=str,
)
def test_extreme_options_still_translate(load, raw, given):
    torch.manual_seed(0)
    assert len(load("continuous", **given).translate(raw[:2])) == 2


@pytest.mark.parametrize(("name", "given"), [("continuous", {}), ("both", {}), ("continuous", {"nearest": "flat"})])
def test_copies_translate_alike_in_other_processes_too(load, raw, elsewhere, name, given):
    translator = load(name, **given)
    expected = translator.candidates(raw[:3])
    assert copy.deepcopy(translator).candidates(raw[:3]) == expected
    assert pickle.loads(pickle.dumps(translator)).candidates(raw[:3]) == expected
    assert elsewhere("copy.candidates(raw)", copy=translator, raw=raw[:3]) == expected


def test_misuse_is_refused(load):
    with pytest.raises(InputError, match=r"decode_score: for continuous outputs; .* has a softmax"):
        load("stock", decode_score="cosine")
    with pytest.raises(InputError, match="9 translations of each sentence cannot be had from a beam of 5"):
        load("stock").candidates(["Hund"], n_best=9)
    with pytest.raises(TypeError, match="a list of sentences"):
        load("stock").translate("Hund")


def test_the_package_offers_the_translator_when_asked():
    assert fairseq_xl.Translator is Translator
    with pytest.raises(AttributeError, match="Traslator"):
        _ = fairseq_xl.Traslator


def test_a_model_of_the_hub(hub, packed, raw):
    shutil.copytree(packed / "continuous", hub.folder, dirs_exist_ok=True)
    assert Translator.load(hub.name, device="cpu").translate(raw[:3]) == (
        Translator.load(packed / "continuous", device="cpu").translate(raw[:3])
    )


@pytest.mark.parametrize(("target_words", "replaced"), [(False, "▁Schnauzer"), (True, "Schnauzer")])
def test_what_replaces_a_word_is_marked_where_the_target_is_of_pieces(target_words, replaced):
    pipeline = SimpleNamespace(pieces=True, target_words=target_words)
    translator = SimpleNamespace(pipeline=pipeline, replacements={}, replacement_distance=math.inf)
    attention = np.array([[0.9, 0.1], [0.1, 0.9]])
    assert Translator._known(translator, ["a", "<unk>"], attention, ["▁ein", "▁Schnauzer"]) == ["a", replaced]
