"""Raw text to raw text: the same as fairseq-generate between the text steps, and every way it can be refused."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import fairseq_cli.generate
import fairseq_cli.preprocess
import fairseq_cli.train
import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

import fairseq_xl
from fairseq_xl import Translation, Translator, compat
from fairseq_xl.cli import main as cli
from fairseq_xl.cli.translate.pack import pack
from fairseq_xl.io.errors import InputError
from fairseq_xl.text import moses
from fairseq_xl.text.hypotheses import read_hypotheses
from fairseq_xl.translation.options import check, parse

compat.apply()  # once more: fairseq's commands were not loaded when the package was

WORDS = [("Hund", "dog"), ("Mann", "man"), ("Kind", "child"), ("Ball", "ball"), ("Vogel", "bird")]
DEEDS = [("sieht", "sees"), ("malt", "paints"), ("hört", "hears")]
COMMON = (
    "--optimizer adam --lr 0.02 --max-tokens 120 --num-workers 0 --seed 1 --cpu "
    "--required-batch-size-multiple 1 --disable-validation --no-epoch-checkpoints --no-progress-bar"
)
TINY = "--arch continuous_lstm_tiny --max-epoch 9 --target-vectors {}"
MODELS = {
    "continuous": f"{TINY} --criterion syn_margin_proj --decode-score vmf_posterior",
    "softmax": f"{TINY} --criterion cross_entropy --decoder-output softmax",
    "stock": "--arch lstm --max-epoch 14 --criterion cross_entropy --encoder-embed-dim 16 --encoder-hidden-size 16 "
    "--encoder-bidirectional --decoder-embed-dim 16 --decoder-hidden-size 16 --decoder-out-embed-dim 16",
}


def pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Raw sentences of five or ten words, with capitals and punctuation."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        parts = []
        for _ in range(draw.integers(1, 3)):
            (one, a), (two, b) = (WORDS[i] for i in draw.integers(0, len(WORDS), 2))
            does, deed = DEEDS[draw.integers(0, len(DEEDS))]
            parts.append((f"ein {one} {does} den {two}", f"a {a} {deed} the {b}"))
        source, target = (", ".join(part[side] for part in parts) for side in (0, 1))
        found.append((source[0].upper() + source[1:] + ".", target[0].upper() + target[1:] + "."))
    return found


def fairseq(module, parser, line: str) -> None:
    args = options.parse_args_and_arch(parser, shlex.split(line))
    module.main(convert_namespace_to_omegaconf(args))


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """Raw and prepared text, binarised data, and MODEL/checkpoint_last.pt of each of MODELS."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("work")
    for name, count, seed in (("train", 250, 0), ("test", 23, 1)):
        for side, language in enumerate(("de", "en")):
            lines = "".join(pair[side] + "\n" for pair in pairs(count, seed))
            (folder / f"{name}.{language}").write_text(lines, encoding="utf-8")
    for language in ("de", "en"):
        tokens, truecaser = folder / f"tok.train.{language}", folder / f"truecaser.{language}"
        for name in ("train", "test"):
            moses.map_file(
                moses.tokenize,
                folder / f"{name}.{language}",
                folder / f"tok.{name}.{language}",
                progress=False,
                language=language,
            )
        moses.train_truecaser([tokens], truecaser, progress=False)
        for name in ("train", "test"):
            moses.map_file(
                moses.truecase,
                folder / f"tok.{name}.{language}",
                folder / f"true.{name}.{language}",
                progress=False,
                model=str(truecaser),
            )
    fairseq_cli.preprocess.main(
        options.get_preprocessing_parser().parse_args(
            shlex.split(
                f"-s de -t en --trainpref {folder}/true.train --testpref {folder}/true.test "
                f"--destdir {folder}/bin --workers 1"
            )
        )
    )
    words = [line.split()[0] for line in (folder / "bin/dict.en.txt").read_text().splitlines()]
    rng = np.random.default_rng(0)
    rows = [f"{word} " + " ".join(f"{x:.4f}" for x in rng.standard_normal(12)) for word in words]
    (folder / "en.vec").write_text(f"{len(rows)} 12\n" + "\n".join(rows) + "\n")
    for name, line in MODELS.items():
        for function in (checkpoint_utils.save_checkpoint, fairseq_cli.train.should_stop_early):
            for attribute in ("best", "num_runs"):
                vars(function).pop(attribute, None)
        fairseq(
            fairseq_cli.train,
            options.get_training_parser(),
            f"{folder}/bin {line.format(folder / 'en.vec')} {COMMON} --save-dir {folder}/{name}",
        )
    return folder


@pytest.fixture(scope="module")
def packed(work) -> Path:
    """Model folders by the names of MODELS, and ``both``, an ensemble; what made them has moved away."""
    elsewhere = work / "packed"
    for name in MODELS:
        pack_model(work, elsewhere / name, name)
    pack_model(work, elsewhere / "both", "continuous", "stock")
    (work / "en.vec").rename(work / "moved.vec")
    return elsewhere


def pack_model(work: Path, output: Path, *names: str, **settings) -> None:
    pack(
        output,
        [work / name / "checkpoint_last.pt" for name in names],
        settings.pop("data", work / "bin"),
        "de",
        "en",
        **{"truecaser": work / "truecaser.de", "options": {"beam": 5}, **settings},
    )


@pytest.fixture(scope="module")
def raw(work) -> list[str]:
    return (work / "test.de").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def load(packed):
    """``load("stock", beam=3)``, on the CPU."""
    return lambda name, **given: Translator.load(packed / name, device="cpu", **given)


def generated(work: Path, folder: Path, names: list[str], *further: str) -> list[str]:
    """What fairseq-generate writes for the binarised test set, with the text steps after it."""
    paths = os.pathsep.join(str(work / name / "checkpoint_last.pt") for name in names)
    fairseq(
        fairseq_cli.generate,
        options.get_generation_parser(),
        f"{work}/bin --path {paths} --cpu --batch-size 64 --results-path {folder} {' '.join(further)}",
    )
    found = read_hypotheses(folder / "generate-test.txt")
    return [moses.postprocess(line, "en") for line in found]


@pytest.mark.parametrize(("name", "beam"), [("continuous", 1), *[(n, 5) for n in (*MODELS, "both")]])
def test_raw_text_gives_what_the_steps_of_a_recipe_give(work, load, raw, tmp_path, name, beam):
    names = ["continuous", "stock"] if name == "both" else [name]
    expected = generated(work, tmp_path, names, f"--beam {beam}")
    assert load(name, beam=beam).translate(raw) == expected
    assert len(set(expected)) > 5


def test_scores_and_their_order_are_fairseqs(work, load, raw, tmp_path):
    generated(work, tmp_path, ["continuous"], "--beam 4 --nbest 3 --lenpen 0.6")
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
    alone = load(name, batch_tokens=1).candidates(raw)
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
    load("continuous", batch_tokens=40).candidates(["", *raw], progress=counts.append)
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
    (copied,) = load("stock", **always, replace_unk="").candidates(raw[:1])
    assert set(plain[0].tokens) == {"<unk>"}
    words = [word for word in copied[0].source if any(map(str.isalnum, word))]
    assert set(copied[0].tokens) <= set(words), "punctuation is passed over"
    for token, place in zip(copied[0].tokens, copied[0].alignment, strict=True):
        assert token == copied[0].source[place] or copied[0].source[place] not in words
    (near,) = load("stock", **always, replace_unk="", replace_unk_distance="0.6").candidates(raw[:1])
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
        (mapped,) = load("stock", **always, replace_unk=str(tmp_path / name)).candidates(raw[:1])
        assert mapped[0].tokens == [f"<{word}>" for word in copied[0].tokens]


def test_special_tokens_in_the_text_are_words(work, tmp_path):
    pack_model(work, tmp_path / "model", "continuous", tokeniser="none", truecaser=None)
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
        ({"beam": "many"}, "the option beam cannot be 'many'"),
        ({"beam": 0}, "beam is 0: give 1 or more"),
        ({"decode_score": "best"}, "the option decode_score cannot be 'best'"),
        ({"sampling_topk": 3}, "requires --sampling"),
        ({"temperature": 0}, "--temperature must be greater than 0"),
        ({"min_len": 300}, "min_len is 300"),
        ({"diverse_beam_groups": 3}, "diverse_beam_groups is 3, which does not divide the beam, 5"),
        ({"replace_unk": "/nonexistent"}, "there is no file /nonexistent"),
        ({"replace_unk_distance": 3}, "replace_unk_distance says which words replace_unk may take: give that, too"),
        ({"replace_unk": "", "replace_unk_distance": -1}, "replace_unk_distance is -1.0: give a number of words"),
        ({"device": "gpu"}, "the device 'gpu' cannot be used"),
        ({"batch_tokens": 0}, "give 1 or more"),
    ],
)
def test_options_that_cannot_work_are_refused(packed, given, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Translator.load(packed / "continuous", **{"device": "cpu", **given})


def test_misuse_is_refused(load):
    with pytest.raises(InputError, match=r"decode_score: for continuous outputs; .* has a softmax"):
        load("stock", decode_score="cosine")
    with pytest.raises(InputError, match="9 translations of each sentence cannot be had from a beam of 5"):
        load("stock").candidates(["Hund"], n_best=9)
    with pytest.raises(TypeError, match="a list of sentences"):
        load("stock").translate("Hund")
    with pytest.raises(InputError, match="'lenpen'"):
        parse("lenpen 0.8")
    assert check(parse("no-repeat-ngram-size=3 unnormalized=true")).search == {
        "no_repeat_ngram_size": 3,
        "unnormalized": True,
    }


def test_a_packed_model_holds_what_it_needs_and_no_more(work, packed):
    folder = packed / "continuous"
    assert {path.name for path in folder.iterdir()} == {
        *("translator.json", "model1.pt", "dict.de.txt", "dict.en.txt", "truecaser.de")
    }
    config = (folder / "translator.json").read_text()
    assert "/" not in config
    assert json.loads(config)["options"] == {"beam": 5}
    state = torch.load(folder / "model1.pt", weights_only=True)
    assert "last_optimizer_state" not in state
    trained = torch.load(work / "continuous" / "checkpoint_last.pt", weights_only=True)
    assert trained["last_optimizer_state"]
    assert all(torch.equal(state["model"][name], x) for name, x in trained["model"].items())


def test_packing_again_replaces_and_a_failure_leaves_the_old_model(work, tmp_path):
    output = tmp_path / "model"
    pack_model(work, output, "stock")
    pack_model(work, output, "stock", options={"beam": 2})
    assert Translator.load(output, "cpu").generator.beam_size == 2
    with pytest.raises(InputError, match="does not exist"):
        pack_model(work, output, "nothing")
    assert Translator.load(output, "cpu").generator.beam_size == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("name", MODELS)
def test_dictionaries_that_do_not_fit_are_refused(work, tmp_path, name):
    (tmp_path / "bin").mkdir()
    for language in ("de", "en"):
        shutil.copy(work / "bin" / f"dict.{language}.txt", tmp_path / "bin")
    with (tmp_path / "bin" / "dict.en.txt").open("a") as stream:
        stream.write("more 1\n")
    with pytest.raises(InputError, match=r"target table has|do not fit its dictionaries"):
        pack_model(work, tmp_path / "model", name, data=tmp_path / "bin")
    assert not (tmp_path / "model").exists()


def test_what_cannot_be_packed_is_refused(work, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine").touch()
    with pytest.raises(InputError, match="holds something else than a model"):
        pack_model(work, tmp_path / "notes", "stock")
    assert (tmp_path / "notes" / "mine").exists()
    output = tmp_path / "model"
    with pytest.raises(InputError, match="there is no subword model"):
        pack_model(work, output, "stock", subwords=tmp_path / "gone")
    with pytest.raises(InputError, match="there is no truecaser"):
        pack_model(work, output, "stock", truecaser=tmp_path / "gone")
    with pytest.raises(InputError, match="there is no dictionary"):
        pack_model(work, output, "stock", data=tmp_path)
    with pytest.raises(InputError, match="replace_unk names what is not in the folder"):
        pack_model(work, output, "stock", options={"replace_unk": "words"})
    state = torch.load(work / "stock" / "checkpoint_last.pt", weights_only=True)
    state["cfg"]["task"]["_name"] = "language_modeling"
    (tmp_path / "other").mkdir()
    torch.save(state, tmp_path / "other" / "checkpoint_last.pt")
    with pytest.raises(InputError, match="not trained by --task translation"):
        pack_model(work, output, str(tmp_path / "other"))
    assert not output.exists()


def edited(**values):
    def change(folder: Path) -> None:
        config = json.loads((folder / "translator.json").read_text())
        (folder / "translator.json").write_text(json.dumps({**config, **values}))

    return change


def removed(name: str):
    return lambda folder: (folder / name).unlink()


def appended(name: str, text: str):
    def change(folder: Path) -> None:
        with (folder / name).open("a") as stream:
            stream.write(text)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shutil.rmtree, "there is no folder"),
        (removed("translator.json"), "is no model folder, for it holds no translator.json"),
        (appended("translator.json", "}"), "is damaged"),
        (edited(format=2), "has format 2, this version of fairseq_xl reads 1"),
        (edited(format=None), "it names no format"),
        (edited(more=1), "missing or unknown: more"),
        (edited(source_lang="../de"), "'../de' is no language code"),
        (edited(tokeniser="spm"), "tokeniser is one of moses, none"),
        (edited(truecase="yes"), "truecase is true or false"),
        (edited(subwords=1), "subwords is true or false"),
        (edited(subwords=True), "lacks subwords.de.model"),
        (edited(checkpoints=["../model1.pt"]), "checkpoints is a list of names of files beside it"),
        (edited(checkpoints=[]), "checkpoints is a list of names"),
        (edited(dictionaries={}), "dictionaries holds the checksums of dict.de.txt and dict.en.txt"),
        (edited(options=[]), "options is a table"),
        (edited(options={"beem": 1}), "no option 'beem'"),
        (removed("model1.pt"), "lacks model1.pt: copy it anew"),
        (removed("dict.en.txt"), "lacks dict.en.txt"),
        (removed("truecaser.de"), "lacks truecaser.de"),
        (appended("dict.de.txt", "more 1\n"), "is not the dictionary that the model was packed with"),
        (lambda folder: (folder / "model1.pt").write_bytes(b"PK torn"), "is torn or is no checkpoint"),
    ],
)
def test_a_damaged_folder_is_told_in_one_sentence(packed, tmp_path, capsys, change, message):
    folder = tmp_path / "model"
    shutil.copytree(packed / "continuous", folder)
    change(folder)
    assert cli.main(["translate", "text", str(folder), "--cpu", "--input", __file__]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.fixture
def translate(packed, monkeypatch, capsys):
    """``translate("line\\n", "--beam", 2)`` runs the command; gives status, output and messages."""

    def run(text: bytes | str | object, *arguments: object, name: str = "continuous"):
        data = text.encode() if isinstance(text, str) else text
        buffer = io.BytesIO(data) if isinstance(data, bytes) else data
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))
        status = cli.main(["translate", "text", str(packed / name), "--cpu", *map(str, arguments)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_lines_go_from_standard_input_to_standard_output(translate, load, raw):
    text = "\n".join([*raw[:3], "", *raw[3:]])  # and no newline at the end
    expected = load("continuous").translate(raw)
    lines = [*expected[:3], "", *expected[3:]]
    assert translate(text) == (0, "".join(line + "\n" for line in lines), "")
    assert translate(text, "--block-lines", 2)[1].splitlines() == lines
    assert translate("") == (0, "", "")
    # A pipe named as a file, as a shell's <(…) is, holds its lines once.
    there, here = os.pipe()
    os.write(here, text.encode())
    os.close(here)
    assert translate("", "--input", f"/dev/fd/{there}")[1].splitlines() == lines
    os.close(there)


def test_n_best_and_alignment_have_their_columns(translate, load, raw):
    status, out, _ = translate("\n".join(["", *raw[:2]]), "--n-best", 2, "--alignment", "--beam", 3)
    assert status == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["1", "0.0000", "", "", "", ""]
    assert [row[0] for row in rows[1:]] == ["2", "2", "3", "3"]
    found = load("continuous", beam=3).candidates(raw[:2], n_best=2)
    for row, one in zip(rows[1:], [one for best in found for one in best], strict=True):
        assert row[1:4] == [f"{one.score:.4f}", one.text, " ".join(one.source)]
        assert row[4] == " ".join(one.tokens)
        assert row[5] == " ".join(f"{i}-{j}" for j, i in enumerate(one.alignment))


def test_a_file_appears_when_it_is_complete(translate, work, raw, tmp_path):
    output = tmp_path / "new" / "hyp.en"
    status, out, _ = translate(
        b"", "--input", work / "test.de", "--output", output, "--override", "max_len_b=2 decode_scale=5"
    )
    assert (status, out) == (0, "")
    assert len(output.read_text().splitlines()) == len(raw)
    output.write_text("before")
    bad = b"\n".join([line.encode() for line in raw[:4]] + [b"sch\xf6n"])
    status, _, err = translate(bad, "--output", output, "--block-lines", 2)
    assert status == 2
    assert err.startswith("error: standard input, line 5: byte 0xf6 is not valid UTF-8")
    assert output.read_text() == "before"
    assert [path.name for path in output.parent.iterdir()] == ["hyp.en"]


def test_an_answer_comes_before_the_next_question(translate, monkeypatch, raw, load):
    answers, pipe = [], io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))

    def ask():
        for line in raw[:3]:
            yield f"{line}\n".encode()
            answers.append(pipe.getvalue().decode())

    assert translate(ask(), "--block-lines", 1)[0] == 0
    lines = [f"{line}\n" for line in load("continuous").translate(raw[:3])]
    assert answers == ["".join(lines[: n + 1]) for n in range(3)]


def test_long_lines_are_named(translate):
    long = "Hund " * 1030
    status, out, err = translate(f"Hund\n{long}\n\n{long}\n", "--block-lines", 3, "--override", "max_len_b=3")
    assert status == 0
    assert len(out.splitlines()) == 4
    assert err == "".join(
        f"warning: one line is too long for the model, and only the first 1023 tokens were translated: line {number}\n"
        for number in (2, 4)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "/nonexistent"], "there is no file /nonexistent"),
        (["--override", "beam"], "options are given as name=value"),
        (["--block-lines", 0], "--block-lines is 0"),
        (["--n-best", 0], "0 translations of each sentence"),
        (["--n-best", 3, "--beam", 2], "3 translations of each sentence cannot be had from a beam of 2"),
        (["--output", "."], "cannot write .: it is a directory"),
    ],
)
def test_mistakes_are_told_in_one_sentence(translate, arguments, message):
    status, out, err = translate("Hund\n", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_the_pack_command(work, tmp_path, capsys):
    checkpoint, output = work / "stock" / "checkpoint_last.pt", tmp_path / "model"
    words = ["translate", "pack", checkpoint, "--data", work / "bin", "-s", "de", "-t", "en", "--output", output]
    words += ["--truecaser", work / "truecaser.de", "--options", "beam=3 lenpen=0.8"]
    assert cli.main([str(word) for word in words]) == 0
    assert capsys.readouterr().out == f"translate with: fairseq-xl translate text {output}\n"
    assert json.loads((output / "translator.json").read_text())["options"] == {"beam": 3, "lenpen": 0.8}


def test_the_package_offers_the_translator_when_asked():
    assert fairseq_xl.Translator is Translator
    with pytest.raises(AttributeError, match="Traslator"):
        _ = fairseq_xl.Traslator
