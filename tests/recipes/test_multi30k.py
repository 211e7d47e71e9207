from __future__ import annotations

import argparse
import ast
import json
import shutil
from pathlib import Path

import pytest
import torch
from command_words import options

from fairseq_xl.cli.parsing import parse
from fairseq_xl.cli.translate.pack import Pack
from fairseq_xl.training import checkpoints
from fairseq_xl.translation.options import Search, VectorScores

SETS = ("train", "val", "test_2016_flickr")
PREPARATION = {
    *("fairseq-xl data clean", "fairseq-xl data tokenize", "fairseq-xl data train-truecaser"),
    *("fairseq-xl data truecase", "fairseq-preprocess --source-lang de"),
    *("fairseq-xl vectors train", "fairseq-xl vectors convert"),
}
TRANSLATION = {
    *("fairseq-generate --user-dir", "fairseq-xl data hypotheses"),
    *("fairseq-xl data postprocess", "fairseq-xl translate word-recall", "sacrebleu --input"),
}
RECORD, TRAIN, PACK = "fairseq-xl experiment record", "fairseq-train --user-dir", "fairseq-xl translate pack"
SUBWORDS = {f"fairseq-xl data {step}-subwords" for step in ("train", "encode", "decode")}
DIAGNOSE, TUNE = "fairseq-xl translate diagnose", "fairseq-xl translate tune"


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in SETS:
        for language in ("de", "en"):
            (folder / f"{name}.{language}").write_text(f"{name} {language}\n")
    return folder


@pytest.fixture
def multi30k(recipe):
    return recipe("multi30k.sh")


def test_dry_run_prints_every_command_and_does_nothing(multi30k, data):
    done = multi30k("--data", data, "--dry-run")
    assert done.returncode == 0
    assert multi30k.calls == []
    assert not multi30k.out.exists()
    for words in PREPARATION | TRANSLATION | {RECORD, TRAIN, PACK, DIAGNOSE}:
        assert words.split(" --")[0] in done.stdout


def test_dry_run_without_data_shows_the_download(multi30k):
    done = multi30k("--dry-run", "--src", "fr")
    assert done.stdout.count("data fetch https://") == 6
    assert "test_2016_flickr.fr.gz" in done.stdout
    assert not multi30k.out.exists()


def test_a_finished_run_is_not_repeated(multi30k, data):
    done = multi30k("--data", data)
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == PREPARATION | TRANSLATION | {RECORD, TRAIN, PACK, DIAGNOSE}
    run = multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1"
    for name in ("hyp.beam1.txt", "hyp.beam5.txt", "score.beam5.json", "target.vec", "train.command"):
        assert (run / name).exists()
    plain = multi30k.out / "prepared" / "de-en" / "plain"
    for name, language in (("src.txt", "de"), ("ref.txt", "en")):
        assert (run / name).read_text() == (plain / f"test.{language}").read_text()
    again = multi30k("--data", data)
    assert again.returncode == 0
    assert multi30k.calls == []
    assert "train: done before" in again.stderr


@pytest.mark.parametrize(
    ("call", "finished"),
    [
        ("data truecase ", {"data clean", "data tokenize"}),
        ("fairseq-preprocess", {"data clean", "data tokenize", "data truecase"}),
        ("vectors convert", {"data clean", "fairseq-preprocess", "vectors train"}),
        ("fairseq-train", {"data clean", "fairseq-preprocess", "vectors train", "vectors convert"}),
        ("fairseq-xl translate pack", {"vectors convert", "fairseq-train"}),
        ("--beam 5 --batch-size", {"data clean", "vectors convert", "fairseq-train", "fairseq-xl translate pack"}),
        ("record", {"vectors convert", "fairseq-train", "fairseq-generate", "sacrebleu"}),
    ],
)
def test_killed_anywhere_it_goes_on_there(multi30k, data, call, finished):
    assert multi30k("--data", data, KILL_AT=call).returncode != 0
    cut_off = multi30k.calls[-1]
    done = multi30k("--data", data)
    assert done.returncode == 0, done.stderr
    assert cut_off in multi30k.calls
    assert multi30k.calls[-2:] == [RECORD, DIAGNOSE]
    repeated = {words for words in finished if any(words in entry for entry in multi30k.calls)}
    assert not repeated


def test_another_address_is_fetched_anew(multi30k):
    mirror = ("--url", "https://mirror.org")
    assert multi30k("--prepare-only").returncode == 0
    plain = multi30k.out / "prepared" / "de-en" / "plain" / "train.de"
    assert multi30k("--prepare-only", *mirror, FAIL_AT="data fetch https://mirror.org/val.de.gz").returncode != 0
    done = multi30k("--prepare-only", *mirror)
    assert done.returncode == 0, done.stderr
    assert plain.read_text() == "https://mirror.org/train.de.gz\n"
    folders = {path.parent for path in multi30k.out.glob("raw/**/*.gz")}
    assert len(folders) == 2, "the interrupted download has gone on"
    for folder in folders - {multi30k.out / "raw"}:
        shutil.rmtree(folder)
    assert multi30k("--prepare-only", *mirror).returncode == 0
    assert multi30k.calls == ["fairseq-xl data fetch"] * 6
    assert multi30k("--prepare-only").returncode == 0
    assert plain.read_text().startswith("https://raw.githubusercontent.com/")


def test_a_removed_checkpoint_is_trained_again(multi30k, data):
    multi30k("--data", data)
    (run,) = (multi30k.out / "runs").iterdir()
    shutil.rmtree(run / "checkpoints")
    done = multi30k("--data", data)
    assert done.returncode == 0, done.stderr
    assert TRAIN in multi30k.calls
    assert (run / "score.beam5.json").exists()


def test_another_seed_shares_the_prepared_data(multi30k, data):
    multi30k("--data", data)
    done = multi30k("--data", data, "--seed", 2, "--loss", "vmf")
    assert done.returncode == 0
    assert set(multi30k.calls) == TRANSLATION | {RECORD, TRAIN, PACK, DIAGNOSE}
    assert options(multi30k.arguments("fairseq-train"), "--seed", "--criterion") == ("2", "vmf")


def test_other_epochs_are_another_run_since_the_learning_rate_follows_them(multi30k, data):
    multi30k("--data", data, "--epochs", 3)
    done = multi30k("--data", data, "--epochs", 5)
    assert done.returncode == 2
    assert "was begun with other settings" in done.stderr
    assert TRAIN not in multi30k.calls
    assert multi30k("--data", data, "--epochs", 5, "--name", "longer").returncode == 0
    assert TRAIN in multi30k.calls


@pytest.mark.parametrize(
    ("loss", "epochs", "anneal"), [("vmf", "16", "8"), ("cross_entropy_tied", "8", "4"), ("stock", "14", None)]
)
def test_epochs_and_schedule_of_each_kind_of_output(multi30k, data, loss, epochs, anneal):
    multi30k("--data", data, "--loss", loss)
    command = multi30k.arguments("fairseq-train")
    assert options(command, "--max-epoch") == (epochs,)
    if anneal is None:
        assert "--force-anneal" not in command
    else:
        assert options(command, "--force-anneal") == (anneal,)


def test_changed_text_is_prepared_anew_and_the_old_run_is_left_alone(multi30k, data):
    multi30k("--data", data)
    (data / "train.de").write_text("other text\n")
    done = multi30k("--data", data, "--name", "second")
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == PREPARATION | TRANSLATION | {RECORD, TRAIN, PACK, DIAGNOSE}


def test_a_mistyped_option_is_mended_where_it_stands(multi30k, data, tmp_path):
    assert multi30k("--data", data, "--", "--margin", "nonsense", FAIL_AT="nonsense").returncode != 0
    (tmp_path / "my.vec").write_text("1 2\n")
    done = multi30k("--data", data, "--vectors", tmp_path / "my.vec", "--", "--margin", "0.3")
    assert done.returncode == 0, done.stderr
    run = multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1"
    assert (run / "target.vec").read_text().startswith("1 2\n")
    assert "0.3" in (run / "settings").read_text()
    assert multi30k("--data", data).returncode == 2


def test_a_loss_of_ones_own(multi30k, data, tmp_path):
    own = ["--data", data, "--loss", "angle", "--user-dir", tmp_path / "losses"]
    done = multi30k(*own)
    assert done.returncode == 2
    assert "is no plugin: there is no __init__.py in it" in done.stderr
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses" / "__init__.py").touch()
    assert multi30k(*own).returncode == 0
    train = multi30k.arguments("fairseq-train")
    assert options(train, "--criterion", "--user-dir") == ("angle", str(tmp_path / "losses"))
    assert multi30k(*own).returncode == 0
    (tmp_path / "losses" / "angle.py").write_text("changed\n")
    done = multi30k(*own)
    assert done.returncode == 2
    assert "was begun with other settings" in done.stderr


def test_a_model_of_ones_own_is_only_trained(multi30k, data, tmp_path):
    """What comes after training loads models without the plugin."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").touch()
    own = ["--data", data, "--arch", "my_model", "--size", "0", "--user-dir", tmp_path / "models"]
    done = multi30k(*own)
    assert done.returncode == 2
    assert "--arch is 'my_model', and fairseq-xl translate loads no model of --user-dir" in done.stderr
    assert "give --train-only, or choose one of continuous_lstm" in done.stderr
    assert not any(call.startswith("fairseq-train") for call in multi30k.calls)
    done = multi30k(*own, "--train-only")
    assert done.returncode == 0, done.stderr
    assert options(multi30k.arguments("fairseq-train"), "--arch") == ("my_model",)


def test_other_vectors_under_the_same_name_are_refused(multi30k, data, tmp_path):
    multi30k("--data", data)
    (tmp_path / "mono").write_text("more\n")
    done = multi30k("--data", data, "--mono", tmp_path / "mono")
    assert done.returncode == 2
    assert "was begun with other settings (above): give another --name" in done.stderr
    assert not any(call.startswith("fairseq-train") for call in multi30k.calls)
    done = multi30k("--data", data, "--mono", tmp_path / "mono", "--name", "mono")
    assert done.returncode == 0, done.stderr
    old, new = (
        multi30k.out / "runs" / name / "target.vec"
        for name in ("de-en.syn_margin_proj.continuous_lstm.256.seed1", "mono")
    )
    assert "mono" not in old.read_text()
    assert "mono" in new.read_text()


def test_ready_vectors_and_transforms_get_tables_of_their_own(multi30k, data, tmp_path):
    (tmp_path / "my.vec").write_text("1 2\n")
    multi30k("--data", data, "--vectors", tmp_path / "my.vec", "--transform", "--center --normalize")
    assert not any("vectors train" in call for call in multi30k.calls)
    convert = multi30k.arguments("fairseq-xl vectors convert")
    assert convert[3] == str(tmp_path / "my.vec")
    assert convert[-2:] == ["--center", "--normalize"]
    assert Path(convert[5]).name != "target.en.vec"


def test_another_test_set_is_translated_by_the_trained_model(multi30k, data, tmp_path):
    multi30k("--data", data)
    for language in ("de", "en"):
        (tmp_path / f"coco.{language}").write_text("text\n")
    done = multi30k("--data", data, "--test", tmp_path / "coco")
    assert done.returncode == 0, done.stderr
    assert TRAIN not in multi30k.calls
    assert "--srcdict" in multi30k.arguments("fairseq-preprocess")
    run = multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1"
    assert (run / "coco.hyp.beam5.txt").exists()
    plain = multi30k.out / "prepared" / "de-en" / "tests" / "coco" / "plain"
    for name, language in (("coco.src.txt", "de"), ("coco.ref.txt", "en")):
        assert (run / name).read_text() == (plain / f"test.{language}").read_text()
    assert (run / "hyp.beam5.txt").exists()
    multi30k("--data", data, "--test", tmp_path / "coco")
    assert multi30k.calls == []


@pytest.mark.parametrize("name", ["test", "test.unknown_by_lexicon"])
def test_a_test_set_that_has_the_name_of_the_recipes_own_scores(multi30k, data, tmp_path, name):
    for language in ("de", "en"):
        (tmp_path / f"{name}.{language}").write_text("text\n")
    done = multi30k("--data", data, "--test", tmp_path / name)
    assert done.returncode == 2
    assert "could not be told from the recipe's own by that name; give the files another one" in done.stderr
    assert multi30k.calls == []


@pytest.mark.parametrize("way", ["attention", "lexicon"])
def test_replaced_unknown_words_are_in_the_names_of_scores_and_in_the_record(multi30k, data, way):
    multi30k("--data", data)
    plain = multi30k.arguments("fairseq-generate"), multi30k.arguments("fairseq-xl experiment record")
    assert "--print-alignment" not in plain[0]
    assert not any(word.startswith("unknown") for word in plain[1])
    done = multi30k("--data", data, "--replace-unk", way)
    assert done.returncode == 0, done.stderr
    assert ("fairseq-xl data lexicon" in multi30k.calls) == (way == "lexicon")
    assert TRAIN not in multi30k.calls
    assert options(multi30k.arguments("fairseq-generate"), "--print-alignment") == ("soft",)
    hypotheses = multi30k.arguments("fairseq-xl data hypotheses")
    (spelling,) = options(hypotheses, "--spelling")
    assert spelling.endswith("/true/test.de")
    assert "--replace-unk" in hypotheses
    assert ("--lexicon" in hypotheses) == (way == "lexicon")
    about = " ".join(multi30k.arguments("fairseq-xl experiment record"))
    assert f"unknown_words=in test.unknown_by_{way} replaced by {way}" in about
    run = multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.seed1"
    assert (run / f"test.unknown_by_{way}.score.beam5.json").exists()
    assert (run / "score.beam5.json").exists()
    multi30k("--data", data, "--replace-unk", way)
    assert multi30k.calls == []
    multi30k("--data", data)
    assert multi30k.calls == []


def test_another_search_translates_anew_what_was_trained(multi30k, data):
    multi30k("--data", data)
    wanted = "lenpen=1.2 max_len_b=9\ndecode_score=cosine decode_scale=12.5"
    done = multi30k("--data", data, "--search", wanted)
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == TRANSLATION | {RECORD, PACK}
    generate = multi30k.arguments("fairseq-generate")
    assert options(generate, "--max-len-a", "--max-len-b", "--lenpen") == ("1.5", "9", "1.2")
    (overrides,) = options(generate, "--model-overrides")
    assert ast.literal_eval(overrides) == {"decode_score": "cosine", "decode_scale": 12.5}
    pack = multi30k.arguments("fairseq-xl translate pack")
    packed = parse(argparse.ArgumentParser(), Pack, pack[3:])
    assert packed.given(VectorScores) == {"decode_score": "cosine", "decode_scale": 12.5}
    assert packed.given(Search) == {"beam": 5, "max_len_a": 1.5, "max_len_b": 9, "lenpen": 1.2}
    assert "--lenpen 1.2" in " ".join(multi30k.arguments("fairseq-xl experiment record"))
    multi30k("--data", data, "--search", wanted)
    assert multi30k.calls == []


def test_a_search_is_tuned_on_the_development_set_once(multi30k, data):
    multi30k("--data", data)
    done = multi30k("--data", data, "--search", "tune")
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == TRANSLATION | {RECORD, PACK, TUNE}
    tune = multi30k.arguments("fairseq-xl translate tune")
    assert options(tune, "--max-len-a", "--max-len-b") == ("1.5", "5")
    assert "--post-process" not in tune
    generate = multi30k.arguments("fairseq-generate")
    assert options(generate, "--lenpen", "--max-len-a") == ("1.25", "1.5")
    assert options(generate, "--model-overrides") == ("{'decode_score':'cosine'}",)
    assert "--lenpen 1.25" in " ".join(multi30k.arguments("fairseq-xl experiment record"))
    assert multi30k("--data", data, "--search", "tune").returncode == 0
    assert multi30k.calls == []
    multi30k("--data", data)
    assert TUNE not in multi30k.calls, "its own search again"


def test_a_search_of_subwords_is_tuned_by_words(multi30k, data):
    done = multi30k("--data", data, "--subwords", 500, "--search", "tune", "--dry-run")
    assert done.returncode == 0, done.stderr
    (tune,) = (line.split() for line in done.stdout.splitlines() if "translate tune" in line)
    assert options(tune, "--post-process") == ("sentencepiece",)
    assert not multi30k.out.exists()


def test_subwords_go_from_the_truecased_text_to_words_again(multi30k, data):
    done = multi30k("--data", data, "--subwords", 500)
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == PREPARATION | TRANSLATION | SUBWORDS | {RECORD, TRAIN, PACK, DIAGNOSE}
    prepared = multi30k.out / "prepared" / "de-en"
    calls = multi30k.calls_file.read_text()
    for language in ("de", "en"):
        text, model = prepared / "true" / f"train.{language}", f"subwords.{language}.model"
        model = prepared / "bpe500" / model
        assert f"train-subwords {text} --output {model} --size 500 --kind bpe\n" in calls
        pieces = prepared / "bpe500" / "pieces" / f"train.{language}"
        assert f"encode-subwords {text} --output {pieces} --model {model}\n" in calls
    preprocess = multi30k.arguments("fairseq-preprocess")
    assert options(preprocess, "--trainpref") == (str(prepared / "bpe500" / "pieces" / "train"),)
    assert "--thresholdtgt" not in preprocess
    vectors = multi30k.arguments("fairseq-xl vectors train")
    assert vectors[3] == str(prepared / "bpe500" / "pieces" / "train.en")
    assert options(vectors, "--min-count", "--max-subword") == ("1", "0")
    run = multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.bpe500.seed1"
    pieces, tokens = run / "hyp.beam5.pieces", run / "hyp.beam5.tok"
    assert f"decode-subwords {pieces} --output {tokens}\n" in calls
    assert f"data postprocess {tokens} --output {run / 'hyp.beam5.txt'} " in calls
    assert "subwords=bpe500" in multi30k.arguments("fairseq-xl experiment record")


def test_subwords_of_the_source_side_leave_the_target_sides_words_and_vectors(multi30k, data):
    multi30k("--data", data)
    units = ("--subwords", 500, "--subword-sides", "source")
    done = multi30k("--data", data, *units)
    assert done.returncode == 0, done.stderr
    assert "fairseq-xl vectors train" not in multi30k.calls
    assert "fairseq-xl data decode-subwords" not in multi30k.calls
    prepared = multi30k.out / "prepared" / "de-en"
    pieces, calls = prepared / "bpe500.source" / "pieces", multi30k.calls_file.read_text()
    assert calls.count("train-subwords ") == 1
    assert {line.split()[-5] for line in calls.splitlines() if "encode-subwords" in line} == {
        str(prepared / "true" / f"{name}.de") for name in ("train", "valid", "test")
    }
    assert (pieces / "train.en").read_text() == (prepared / "true" / "train.en").read_text()
    preprocess = multi30k.arguments("fairseq-preprocess")
    assert options(preprocess, "--trainpref", "--thresholdtgt") == (str(pieces / "train"), "2")
    assert preprocess[-2:] == ["--thresholdsrc", "0"]
    assert str(prepared / "vectors" / "en.bin") in multi30k.arguments("fairseq-xl vectors convert")
    pack = multi30k.arguments(PACK)
    assert options(pack, "--subwords") == (str(prepared / "bpe500.source" / "subwords.de.model"),)
    assert "--target-words" in pack
    assert "subwords=bpe500.source" in multi30k.arguments("fairseq-xl experiment record")
    multi30k("--data", data, *units, "--target-min-count", 1)
    assert multi30k.arguments("fairseq-train")[1] == str(prepared / "bpe500.source.tgt.min1" / "bin")
    assert "fairseq-xl data train-subwords" not in multi30k.calls


def test_what_is_diagnosed(multi30k, data):
    multi30k("--data", data, "--epochs", 3, "--diagnose", "epochs", "--name", "each")
    assert "--no-epoch-checkpoints" not in multi30k.arguments("fairseq-train")
    words = multi30k.arguments(DIAGNOSE)
    files = [Path(word).name for word in words if word.endswith(".pt")]
    assert files == ["checkpoint1.pt", "checkpoint2.pt", "checkpoint3.pt", "checkpoint_best.pt"]
    short = ("--data", data, "--epochs", 3, "--diagnose", "epochs", "--diagnose-words", "dog  man", "--name", "short")
    done = multi30k(*short, STOPS_AFTER="2", FAIL_AT="fairseq-xl translate diagnose")
    assert done.returncode == 3
    assert "fairseq-xl ended with status 3 (it broke here); its output is in" in done.stderr
    assert (multi30k.out / "runs" / "short" / "record.json").exists(), "scores outlive what fails after them"
    assert multi30k(*short, STOPS_AFTER="2").returncode == 0
    assert multi30k.calls == [DIAGNOSE]
    words = multi30k.arguments(DIAGNOSE)
    assert [Path(word).name for word in words if word.endswith(".pt")] == [
        "checkpoint1.pt",
        "checkpoint2.pt",
        "checkpoint_best.pt",
    ]
    assert words[-3:] == ["--words", "dog", "man"]
    for extra in (["--diagnose", "no"], ["--loss", "cross_entropy"], ["--loss", "stock"]):
        multi30k("--data", data, *extra)
        assert DIAGNOSE not in multi30k.calls
    late = ("--data", data, "--epochs", 3, "--name", "late")
    multi30k(*late)
    for path in (multi30k.out / "runs" / "late" / "checkpoints").glob("checkpoint[0-9].pt"):
        path.unlink()
    done = multi30k(*late, "--diagnose", "epochs")
    assert done.returncode == 2
    assert "late was trained without it and kept no epoch's model; give another --name, or best" in done.stderr
    done = multi30k("--data", data, "--diagnose", "some")
    assert done.returncode == 2
    assert "choose best, epochs or no" in done.stderr


def test_words_and_subwords_share_what_they_can_and_leave_each_other_alone(multi30k, data):
    units = [
        *([], ["--subwords", 500], ["--subwords", 500, "--joint"]),
        ["--subwords", 500, "--subword-kind", "unigram"],
    ]
    for number, option in enumerate(units):
        assert multi30k("--data", data, *option).returncode == 0
        shared = {"fairseq-xl data clean", "fairseq-xl data tokenize", "fairseq-xl data truecase"}
        assert number == 0 or not shared & set(multi30k.calls)
        assert "fairseq-preprocess --source-lang de" in multi30k.calls
        assert "fairseq-xl vectors train" in multi30k.calls
    for option in units:
        assert multi30k("--data", data, *option).returncode == 0
        assert multi30k.calls == []
    names = {"bpe500", "bpe500.joint", "unigram500"}
    assert names < {path.name for path in (multi30k.out / "prepared" / "de-en").iterdir()}


def test_joint_subwords_are_learnt_once_from_both_sides(multi30k, data):
    multi30k("--data", data, "--subwords", 500, "--joint")
    calls = multi30k.calls_file.read_text()
    assert calls.count("train-subwords ") == 1
    command = multi30k.arguments("fairseq-xl data train-subwords")
    assert [Path(word).name for word in command[3:5]] == ["train.de", "train.en"]
    models = {line.split()[-1] for line in calls.splitlines() if "encode-subwords" in line}
    assert models == set(options(command, "--output"))


@pytest.mark.parametrize("call", ["encode-subwords", "decode-subwords"])
def test_killed_among_subwords_it_goes_on_there(multi30k, data, call):
    arguments = ["--data", data, "--subwords", 500]
    assert multi30k(*arguments, KILL_AT=call).returncode != 0
    done = multi30k(*arguments)
    assert done.returncode == 0, done.stderr
    assert SUBWORDS & set(multi30k.calls)
    assert "fairseq-xl data truecase" not in multi30k.calls
    assert (TRAIN in multi30k.calls) == (call == "encode-subwords")


def test_more_text_and_other_test_sets_are_cut_by_the_same_models(multi30k, data, tmp_path):
    for name in ("mono", "coco.de", "coco.en"):
        (tmp_path / name).write_text("more\n")
    extra = ["--mono", tmp_path / "mono", "--test", tmp_path / "coco"]
    done = multi30k("--data", data, "--subwords", 500, *extra)
    assert done.returncode == 0, done.stderr
    folder = multi30k.out / "prepared" / "de-en" / "bpe500"
    assert str(folder / "pieces" / "mono.en") in multi30k.arguments("fairseq-xl vectors train")
    for language in ("de", "en"):
        assert (folder / "tests" / "coco" / "pieces" / f"test.{language}").exists()
    calls = multi30k.calls_file.read_text()
    assert f"--testpref {folder / 'tests' / 'coco' / 'pieces' / 'test'} " in calls
    assert f"--srcdict {folder / 'bin' / 'dict.de.txt'} " in calls
    assert multi30k("--data", data, "--subwords", 500, *extra).returncode == 0
    assert multi30k.calls == []


def test_the_subword_commands_are_shown_by_a_dry_run(multi30k, data):
    done = multi30k("--data", data, "--subwords", 500, "--dry-run")
    assert done.stdout.count("data train-subwords ") == 2
    assert done.stdout.count("data encode-subwords ") == 6
    assert done.stdout.count("data decode-subwords ") == 2
    assert not multi30k.out.exists()


LOSSES = {
    "cross_entropy": ("cross_entropy", "softmax"),
    "cross_entropy_tied": ("cross_entropy", "softmax_tied"),
    "vmf": ("vmf", "continuous"),
    "l2": ("l2", "continuous"),
    "most_informative_negative": ("most_informative_negative", "continuous"),
    "syn_margin_diff": ("syn_margin_diff", "continuous"),
    "power_spherical": ("power_spherical", "continuous"),
    "in_batch_negative": ("in_batch_negative", "continuous"),
    "info_nce": ("info_nce", "continuous"),
    "vmf_posterior": ("vmf_posterior", "continuous"),
    "combined": ("combined", "continuous"),
    "annealed": ("annealed", "continuous"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_each_loss_has_its_criterion_and_output(multi30k, data, loss):
    done = multi30k("--data", data, "--dry-run", "--loss", loss, "--", "--margin", "0.3")
    train = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train")).split()
    assert options(train, "--criterion", "--decoder-output") == LOSSES[loss]
    assert options(train, "--margin") == ("0.3",)


def test_info_nce_is_decoded_by_what_it_trains_with(multi30k, data):
    done = multi30k("--data", data, "--dry-run", "--loss", "info_nce")
    train = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train")).split()
    assert options(train, "--decode-score", "--decode-scale", "--decode-csls-weight") == ("cosine", "20", "0")


def test_the_baseline_is_fairseqs_own_model(multi30k, data):
    done = multi30k("--data", data, "--dry-run", "--loss", "stock", "--size", 128)
    train = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train")).split()
    assert options(train, "--arch", "--criterion", "--decoder-hidden-size") == (*("lstm", "cross_entropy", "128"),)
    assert "--target-vectors" not in train


WARM_START = ("--loss", "combined", "--warm-start", "--target-epochs", 3)


def dry_trainings(multi30k, data, *arguments):
    """The words of each training that the recipe would do, the short softmax first."""
    done = multi30k("--data", data, "--dry-run", *arguments)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines() if line.startswith("fairseq-train")]


def dry_training(multi30k, data, *arguments):
    return dry_trainings(multi30k, data, *arguments)[0]


def test_unknown_source_words_are_read_as_known_ones(multi30k, data, tmp_path):
    mono = tmp_path / "more.de"
    mono.write_text("ein Hund\n")
    multi30k("--data", data)
    done = multi30k("--data", data, "--read-unknown", "0.6", "--source-mono", mono, "--replace-unk", "attention")
    assert done.returncode == 0, done.stderr
    prepared = multi30k.out / "prepared" / "de-en"
    vectors = multi30k.arguments("fairseq-xl vectors train")
    assert options(vectors, "--output", "--max-subword") == (str(prepared / "vectors" / "source.de"), "6")
    assert str(prepared / "true" / "mono.de") in vectors
    known = multi30k.arguments("fairseq-xl data known-words")
    assert known[3] == str(prepared / "true" / "test.de")
    assert options(known, "--min-cosine", "--vectors") == ("0.6", str(prepared / "vectors" / "source.de.bin"))
    folder = prepared / "tests" / "test.known0.6"
    assert multi30k.arguments("fairseq-generate")[1] == str(folder / "bin")
    hypotheses = multi30k.arguments("fairseq-xl data hypotheses")
    assert options(hypotheses, "--spelling") == (str(prepared / "true" / "test.de"),), "what is copied was not replaced"
    assert options(hypotheses, "--as-read") == (str(folder / "known" / "test.de"),)
    assert "test.known_words.unknown_by_attention.hyp.beam1.tok" in str(hypotheses)
    about = " ".join(multi30k.arguments("fairseq-xl experiment record"))
    assert "source_words=unknown ones read as known ones from a cosine of 0.6" in about
    multi30k("--data", data, "--read-unknown", "0.6", "--source-mono", mono, "--replace-unk", "attention")
    assert multi30k.calls == []


def test_targets_of_a_short_softmax_are_a_run_before_the_run(multi30k, data):
    extra = [
        "--loss",
        "vmf_posterior",
        "--target-epochs",
        2,
        "--seed",
        3,
        "--search",
        "unkpen=3",
        "--",
        "--negatives",
        9,
    ]
    done = multi30k("--data", data, "--dry-run", *extra)
    assert done.returncode == 0, done.stderr
    first, second = (line.split() for line in done.stdout.splitlines() if line.startswith("fairseq-train"))
    assert options(first, "--criterion", "--max-epoch", "--seed") == ("cross_entropy", "2", "3")
    assert options(second, "--criterion", "--seed", "--negatives") == ("vmf_posterior", "3", "9")
    assert "--negatives" not in first
    (run,) = options(first, "--save-dir")
    convert = [line for line in done.stdout.splitlines() if "vectors convert" in line][-1]
    assert f"vectors convert {run}/checkpoint_best.pt " in convert
    assert convert.endswith("--specials --normalize ")
    assert options(second, "--special-vectors") == ("file",)
    assert done.stdout.count("fairseq-generate") == 2, "the softmax translates nothing"
    assert not multi30k.out.exists()


def test_a_warm_start_goes_on_from_the_softmax_for_the_rest_of_its_epochs(multi30k, data):
    first, second = dry_trainings(multi30k, data, *WARM_START)
    assert options(first, "--criterion", "--max-epoch") == ("cross_entropy", "3")
    assert "--force-anneal 4 --max-epoch" in " ".join(first), "its learning rate stays"
    assert options(second, "--criterion", "--max-epoch") == ("combined", "5"), "all in all a softmax's eight"
    assert options(second, "--decode-score", "--decode-csls-weight") == ("vmf_posterior", "0")
    (run,) = options(first, "--save-dir")
    assert options(second, "--finetune-from-model") == (f"{run}/checkpoint_best.pt",)
    assert "--untie-decoder-input" in second
    assert ".softmax_targets3.warm_start.seed1/" in options(second, "--save-dir")[0]


def test_the_softmax_before_it_can_be_a_tied_one(multi30k, data):
    first, second = dry_trainings(multi30k, data, *WARM_START, "--target-loss", "cross_entropy_tied")
    assert options(first, "--criterion", "--decoder-output") == ("cross_entropy", "softmax_tied")
    assert options(second, "--decoder-output") == ("continuous",)
    assert ".softmax_targets3.tied.warm_start.seed1/" in options(second, "--save-dir")[0]
    assert multi30k("--data", data, *WARM_START, "--target-loss", "cross_entropy_tied").returncode == 0
    assert "targets=tied softmax" in " ".join(multi30k.arguments("fairseq-xl experiment record"))


def test_a_moved_folder_is_gone_on_with(multi30k, data):
    assert multi30k("--data", data, *WARM_START).returncode == 0
    multi30k.out = multi30k.out.rename(multi30k.out.with_name("moved"))
    done = multi30k("--data", data, *WARM_START)
    assert done.returncode == 0, done.stderr
    assert multi30k.calls == []
    (settings,) = (multi30k.out / "runs").glob("*seed1/settings")
    settings.write_text(settings.read_text().replace("runs/", f"{multi30k.out}/runs/"))  # with the folder's name
    assert multi30k("--data", data, *WARM_START, "--search", "lenpen=1.2").returncode == 0
    assert str(multi30k.out) in settings.read_text()


def test_before_a_short_softmax_is_trained_its_own_table_alone_is_prepared(multi30k, data):
    done = multi30k("--data", data, *WARM_START, "--prepare-only")
    assert done.returncode == 0, done.stderr
    assert set(multi30k.calls) == PREPARATION
    assert "--specials" not in multi30k.calls_file.read_text()


def test_ready_vectors_need_no_text(multi30k, data, tmp_path):
    for name in ("my.vec", "more"):
        (tmp_path / name).write_text("1 2\n")
    done = multi30k("--data", data, "--vectors", tmp_path / "my.vec", "--mono", tmp_path / "more")
    assert done.returncode == 0, done.stderr
    assert "--mono is not used: it is text for vectors, and --vectors gives ready ones" in done.stderr
    assert not any("vectors train" in call for call in multi30k.calls)


def test_a_transformers_short_softmax_has_no_option_of_another_scheduler(multi30k, data):
    for command in dry_trainings(multi30k, data, *WARM_START, "--arch", "continuous_transformer"):
        assert options(command, "--lr-scheduler") == ("inverse_sqrt",)
        assert "--force-anneal" not in command


def test_labels_are_smoothed_in_the_loss_and_in_the_softmax_before_it(multi30k, data):
    given = ("--label-smoothing", 0.1)
    first, second = dry_trainings(multi30k, data, *given, *WARM_START)
    assert options(first, "--criterion", "--label-smoothing") == ("label_smoothed_cross_entropy", "0.1")
    assert options(second, "--criterion", "--main-options") == ("combined", "label_smoothing=0.1")
    assert ".smoothed0.1.seed1/" in options(second, "--save-dir")[0]
    (command,) = dry_trainings(multi30k, data, *given, "--loss", "vmf_posterior")
    assert options(command, "--criterion", "--label-smoothing") == ("vmf_posterior", "0.1")
    done = multi30k("--data", data, *given, "--loss", "combined", "--", "--main-options", "negatives=9")
    assert done.returncode == 2
    assert "give label_smoothing=0.1 there, too" in done.stderr


def test_a_softmax_and_the_one_before_another_loss_can_be_trained_on_samples(multi30k, data):
    given = ("--softmax-negatives", 700)
    first, second = dry_trainings(multi30k, data, *given, *WARM_START)
    assert options(first, "--criterion", "--negatives") == ("sampled_softmax", "700")
    assert options(second, "--criterion") == ("combined",)
    assert "--negatives" not in second
    assert ".sampled700.seed1/" in options(second, "--save-dir")[0]
    (command,) = dry_trainings(multi30k, data, *given, "--loss", "cross_entropy_tied")
    assert options(command, "--criterion", "--decoder-output") == ("sampled_softmax", "softmax_tied")
    done = multi30k("--data", data, *given, "--loss", "cross_entropy")
    assert done.returncode == 0, done.stderr
    assert "softmax_negatives=700" in multi30k.arguments("fairseq-xl experiment record")


def test_a_short_softmax_is_trained_once_and_again_when_its_epochs_change(multi30k, data):
    arguments = ["--data", data, "--loss", "combined", "--target-epochs"]
    done = multi30k(*arguments, 2)
    assert done.returncode == 0, done.stderr
    assert multi30k.calls.count(TRAIN) == 2
    names = {path.name for path in (multi30k.out / "runs").iterdir()}
    mine = "de-en.combined.continuous_lstm.256.softmax_targets2.seed1"
    assert names == {mine, f"{mine}.targets"}
    before = options(multi30k.arguments("fairseq-xl experiment record"), "--targets-run")
    assert before == (str(multi30k.out / "runs" / f"{mine}.targets"),), "its time is on record"
    assert not list((multi30k.out / "runs" / f"{mine}.targets").glob("*hyp*"))
    assert multi30k(*arguments, 2).returncode == 0
    assert multi30k.calls == []
    assert multi30k(*arguments, 1).returncode == 0
    assert multi30k.calls.count(TRAIN) == 2


def test_other_minimal_counts_have_data_of_their_own_and_share_the_vectors(multi30k, data):
    multi30k("--data", data)
    assert multi30k("--data", data, "--target-min-count", 1).returncode == 0
    assert "fairseq-preprocess --source-lang de" in multi30k.calls
    assert "fairseq-xl vectors train" not in multi30k.calls
    thresholds = options(multi30k.arguments("fairseq-preprocess"), "--thresholdsrc")
    assert thresholds == ("2",)
    prepared = multi30k.out / "prepared" / "de-en"
    assert "--thresholdtgt 2 --thresholdtgt 1\n" in multi30k.calls_file.read_text()
    assert (prepared / "tgt.min1" / "bin").is_dir()
    assert multi30k.arguments("fairseq-train")[1] == str(prepared / "tgt.min1" / "bin")
    multi30k("--data", data)
    assert multi30k.calls == [], "the words of the recipe's own counts are as they were"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target-epochs", "2", "--loss", "cross_entropy"], "cross_entropy has a softmax of its own"),
        (["--target-epochs", "2", "--vectors", "{data}/train.en"], "both name the targets"),
        (["--warm-start"], "give --target-epochs N, or its checkpoint with --vectors"),
        (["--target-loss", "cross_entropy"], "the softmax of --target-epochs: give that, too"),
        (["--target-loss", "vmf", "--target-epochs", "2"], "choose cross_entropy or cross_entropy_tied"),
        (["--warm-start", "--loss", "cross_entropy", "--vectors", "{data}/m.pt"], "not for cross_entropy"),
        (["--loss", "stock", "--vectors", "{data}/m.pt"], "stock has no target vectors"),
        (["--label-smoothing", "1"], "give a share from 0 to below 1"),
        (["--label-smoothing", "0.1"], "syn_margin_proj has none"),
        (["--softmax-negatives", "9"], "--target-epochs: not for syn_margin_proj"),
        (["--softmax-negatives", "9", "--loss", "softmax", "--label-smoothing", "0.1"], "do not go together"),
        (["--softmax-negatives", "-9"], "--softmax-negatives is '-9'"),
        (["--subwords", "500", "--target-min-count", "1"], "are for whole words"),
        (["--subwords", "500", "--subword-sides", "source", "--source-min-count", "1"], "are for whole words"),
        (["--source-min-count", "x"], "--source-min-count"),
        (["--read-unknown", "7"], "give a cosine from 0 to 1"),
        (["--read-unknown", "0.5", "--subwords", "500"], "--read-unknown is for whole words"),
        (["--source-mono", "{data}/train.de"], "is text for --read-unknown"),
    ],
)
def test_targets_and_counts_that_do_not_go_together_are_refused(multi30k, data, arguments, message):
    done = multi30k("--data", data, *(argument.format(data=data) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert not multi30k.out.exists()


def test_a_checkpoint_gives_the_vectors_of_its_output_layer_as_targets(multi30k, data, tmp_path):
    checkpoint = tmp_path / "checkpoint_best.pt"
    checkpoint.write_text("weights")
    done = multi30k("--data", data, "--vectors", checkpoint)
    assert done.returncode == 0, done.stderr
    convert = multi30k.arguments("fairseq-xl vectors convert")
    assert str(checkpoint) in convert
    assert {"--specials", "--normalize"} < set(convert)
    assert "--center" not in convert
    train = multi30k.arguments("fairseq-train")
    decoding = ("--decode-score", "--decode-csls-weight")
    assert options(train, "--special-vectors", *decoding) == ("file", "cosine", "0")
    assert "targets=softmax" in multi30k.arguments("fairseq-xl experiment record")
    assert (multi30k.out / "runs" / "de-en.syn_margin_proj.continuous_lstm.256.softmax_targets.seed1").is_dir()
    other = dry_training(multi30k, data, "--vectors", checkpoint, "--transform", "--center", "--name", "other")
    assert "--special-vectors" not in other


def test_a_transformer_has_its_own_sizes_and_schedule(multi30k, data):
    train = dry_training(multi30k, data, "--arch", "continuous_transformer", "--size", 128)
    sizes = ("--encoder-embed-dim", "--encoder-ffn-embed-dim", "--decoder-embed-dim", "--decoder-ffn-embed-dim")
    assert options(train, "--arch", *sizes) == ("continuous_transformer", "128", "512", "128", "512")
    assert options(train, "--lr-scheduler", "--warmup-updates", "--lr") == ("inverse_sqrt", "1000", "5e-4")
    assert options(train, "--criterion", "--dropout") == ("syn_margin_proj", "0")
    for name in ("--encoder-hidden-dim", "--decoder-hidden-dim", "--force-anneal"):
        assert name not in train
    own = dry_training(multi30k, data, "--arch", "continuous_transformer_iwslt", "--size", 0)
    assert "--encoder-embed-dim" not in own


def test_a_transformers_softmax_baseline_differs_in_the_output_alone(multi30k, data):
    arch = ("--arch", "continuous_transformer", "--name", "one")
    ours = dry_training(multi30k, data, *arch, "--epochs", 3)
    theirs = dry_training(multi30k, data, *arch, "--epochs", 3, "--loss", "cross_entropy")
    assert options(theirs, "--criterion", "--decoder-output") == ("cross_entropy", "softmax")
    for name in ("--lr", "--warmup-updates", "--max-tokens", "--decoder-embed-dim", "--target-vectors"):
        assert options(ours, name) == options(theirs, name)


def test_the_modern_baseline_is_a_transformer_on_joint_subwords(multi30k, data):
    done = multi30k("--data", data, "--loss", "stock_transformer")
    assert done.returncode == 0, done.stderr
    command = multi30k.arguments("fairseq-train")
    names = ("--criterion", "--label-smoothing", "--lr-scheduler", "--max-epoch")
    expected = ("label_smoothed_cross_entropy", "0.1", "inverse_sqrt", "80")
    assert options(command, *names) == expected
    names = ("--arch", "--encoder-embed-dim", "--decoder-ffn-embed-dim", "--decoder-layers")
    assert options(command, *names) == ("transformer_iwslt_de_en", "256", "512", "4")
    assert "--target-vectors" not in command
    assert not any("vectors" in call for call in multi30k.calls)
    run = multi30k.out / "runs" / "de-en.stock_transformer.256.bpe10000.joint.seed1"
    assert (run / "hyp.beam5.txt").exists()
    done = multi30k("--data", data, "--loss", "stock_transformer", "--size", 0, "--subwords", 0)
    assert done.returncode == 0, done.stderr
    assert (run.parent / "de-en.stock_transformer.0.seed1").exists()
    assert "--encoder-embed-dim" not in multi30k.arguments("fairseq-train")
    assert not SUBWORDS & set(multi30k.calls)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--subwords", "many"], "--subwords is 'many': give a whole number"),
        (["--subwords", "5", "--subword-kind", "x"], "--subword-kind is 'x': choose bpe or unigram"),
        (["--joint"], "--joint is for subwords: give --subwords N, too"),
        (["--subwords", "5", "--subword-sides", "target"], "--subword-sides is 'target': choose both or source"),
        (["--subword-sides", "source"], "--subword-sides is for subwords: give --subwords N, too"),
        (["--subwords", "5", "--joint", "--subword-sides", "source"], "--joint is for subwords of both sides"),
        (["--loss", "stock_transformer", "--size", "30"], "four heads need a multiple of 4"),
        (["--loss", "hinge"], "--loss is 'hinge': choose one of cross_entropy "),
        (["--loss", "vmf cosine"], "--loss is 'vmf cosine': choose one of cross_entropy "),
        (["--arch", "continuous_transfomer"], "--arch is 'continuous_transfomer': choose one of continuous_lstm"),
        (["--src", "en"], "--src and --tgt are both 'en'"),
        (["--src", "cs"], "has no language 'cs'"),
        (["--epochs", "many"], "--epochs is 'many': give a whole number"),
        (["--seed"], "--seed needs a value"),
        (["--replace-unk", "yes"], "--replace-unk is 'yes': choose attention or lexicon"),
        (
            ["--search", "lenpen=1 beams=2"],
            "--search has 'beams=2': give tune alone, or NAME=VALUE with one of lenpen ",
        ),
        (["--search", "tune lenpen=2"], "--search has 'tune': give tune alone, or NAME=VALUE"),
        (["--search", "lenpen"], "--search has 'lenpen': give tune alone, or NAME=VALUE"),
        (["--search", "lenpen=long"], "--search has 'lenpen=long': give a number"),
        (["--search", "decode_score=a'b"], "give the name of a score"),
        (["--search", "decode_scale=5", "--loss", "stock"], "for continuous outputs: stock has a softmax"),
        (["--sed", "1"], "has no option '--sed'"),
        (["--data", "{absent}"], "--data {absent} is no folder"),
        (["--mono", "{absent}"], "there is no text for --mono, {absent}"),
        (["--test", "{absent}/x"], "there is no test set for --test, {absent}/x.de"),
        (["--src", "fr"], "there is no Multi30k file"),
    ],
)
def test_mistakes_are_told_in_one_sentence_before_anything_starts(multi30k, data, arguments, message, tmp_path):
    *arguments, message = (word.replace("{absent}", f"{tmp_path}/absent") for word in (*arguments, message))
    done = multi30k("--data", data, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert multi30k.calls == []


def test_a_failing_command_stops_the_recipe_and_shows_its_output(multi30k, data):
    done = multi30k("--data", data, FAIL_AT="fairseq-preprocess")
    assert done.returncode == 3
    assert "it broke here" in done.stderr
    assert "preprocess.log" in done.stderr
    assert multi30k.calls[-1] == "fairseq-preprocess --source-lang de"
    done = multi30k("--data", data, FAIL_AT="fairseq-train")
    assert done.returncode == 3
    assert multi30k.calls[-1] == TRAIN


def test_help_explains_every_option(multi30k):
    done = multi30k("--help")
    assert done.returncode == 0
    for option in (
        "--data",
        "--loss",
        "--seed",
        "--arch",
        "--size",
        "--epochs",
        "--test",
        "--replace-unk",
        "--search",
        "--mono",
        "--subwords",
        "--subword-kind",
        "--joint",
    ):
        assert option in done.stdout


@pytest.fixture(scope="module")
def captions(data_dir, tmp_path_factory, forks):
    """``captions(OPTION…)`` runs the recipe with the real commands (as forks) on a few captions, in ``.out``."""
    folder = tmp_path_factory.mktemp("captions")
    small = folder / "small"
    small.mkdir()
    for name, count in zip(SETS, (400, 50, 20), strict=True):
        for language in ("fr", "en"):
            text = (data_dir / "mt" / "multi30k" / f"{name}.{language}").read_text(encoding="utf-8")
            lines = text.split("\n")[:count]
            (small / f"{name}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    root = Path(__file__).resolve().parents[2]

    def run(*options):
        words = ["bash", root / "recipes" / "multi30k.sh", "--src", "fr", "--data", small]
        words += ["--out", run.out, "--size", 16, "--epochs", 1, "--vector-epochs", 1, *options]
        done = forks.run(*words, timeout=1800)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    run.out, run.raw = folder / "out", small / "test_2016_flickr.fr"
    return run


@pytest.fixture(scope="module")
def small_run(captions) -> Path:
    """The whole recipe with the real commands: a minute of work on 2 cores."""
    captions("--name", "try", "--", "--cpu", "--target-dim", 300)
    return captions.out / "runs" / "try"


def assert_translates_as_the_recipe_did(run: Path, raw: Path, forked_cli, folder: Path, beam: int) -> None:
    copied = folder / "elsewhere"
    shutil.copytree(run / "model", copied)
    options = ["--input", raw, "--output", folder / "hyp", "--device", "cpu", "--beam", beam]
    done = forked_cli("translate", "text", copied, *options)
    assert done.returncode == 0, done.stderr
    assert (folder / "hyp").read_bytes() == (run / f"hyp.beam{beam}.txt").read_bytes()


@pytest.mark.slow
def test_a_few_captions_from_raw_text_to_a_record(small_run):
    run = small_run
    assert len((run / "hyp.beam5.txt").read_text().splitlines()) == 20
    record = json.loads((run / "record.json").read_text())
    assert record["scores"]["test"]["beam1"]["BLEU"]["signature"].startswith("nrefs:1|case:mixed")
    assert record["seed"] == 1
    assert record["epochs"] == 1
    assert record["training"]["model"]["encoder_hidden_dim"] == 2 * 16


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 5])
def test_the_packed_model_translates_raw_text_as_the_recipe_did(small_run, captions, forked_cli, tmp_path, beam):
    assert_translates_as_the_recipe_did(small_run, captions.raw, forked_cli, tmp_path, beam)


@pytest.mark.slow
def test_a_few_captions_through_subwords_and_fairseqs_transformer(captions, forked_cli, tmp_path):
    """What the words left out, about as long again: all tokens come back, all 300 pieces have vectors."""
    units = ["--subwords", 300]
    done = captions(*units, "--prepare-only", "--transform", "--random-share 0.5 --normalize")
    assert "(100.00% of the words, 100.00% of the tokens)" in done.stderr
    prepared = captions.out / "prepared" / "fr-en"
    texts = [prepared / "true" / "valid.en", prepared / "bpe300" / "pieces" / "valid.en"]
    tokens, pieces = (path.read_text(encoding="utf-8").splitlines() for path in texts)
    assert [line.replace(" ", "").replace("▁", " ").strip() for line in pieces] == tokens
    # One update at once, since the schedule warms up for 4,000; a higher rate than is ever good.
    quick = ["--cpu", "--warmup-updates", 1, "--lr", 0.05, "--max-tokens", 500]
    captions("--loss", "stock_transformer", *units, "--name", "baseline", "--", *quick)
    run = captions.out / "runs" / "baseline"
    assert "▁" in (run / "hyp.beam5.pieces").read_text(encoding="utf-8")
    plain = (run / "hyp.beam5.txt").read_text(encoding="utf-8")
    assert len(plain.splitlines()) == 20
    assert plain.strip()
    assert "▁" not in plain
    record = json.loads((run / "record.json").read_text())
    assert (record["loss"], record["subwords"]) == ("stock_transformer", "bpe300")
    assert record["training"]["criterion"]["label_smoothing"] == 0.1
    assert record["training"]["model"]["encoder_layers"] == 4
    assert_translates_as_the_recipe_did(run, captions.raw, forked_cli, tmp_path, beam=5)


@pytest.mark.slow
def test_a_few_captions_through_subwords_of_the_source_side(captions, forked_cli, tmp_path):
    units = ["--subwords", 300, "--subword-sides", "source"]
    captions(*units, "--diagnose", "no", "--name", "source", "--", "--cpu", "--max-tokens", 500)
    run = captions.out / "runs" / "source"
    assert json.loads((run / "record.json").read_text())["subwords"] == "bpe300.source"
    assert "▁" in (captions.out / "prepared" / "fr-en" / "bpe300.source" / "pieces" / "test.fr").read_text()
    words = set((captions.out / "prepared" / "fr-en" / "true" / "train.en").read_text().split())
    assert set((run / "hyp.beam5.tok").read_text().split()) <= words | {"<unk>"}
    assert_translates_as_the_recipe_did(run, captions.raw, forked_cli, tmp_path, beam=5)


@pytest.mark.slow
def test_a_softmaxs_output_layer_becomes_the_targets(captions):
    """Both trainings; the table is the rows of the layer, as units."""
    quick = ["--loss", "cross_entropy", "--diagnose", "no", "--name", "softmax"]
    captions(*quick, "--", "--cpu", "--max-tokens", 500)
    checkpoint = captions.out / "runs" / "softmax" / "checkpoints" / "checkpoint_best.pt"
    captions("--vectors", checkpoint, "--diagnose", "no", "--name", "of_softmax", "--", "--cpu", "--max-tokens", 500)
    run = captions.out / "runs" / "of_softmax"
    record = json.loads((run / "record.json").read_text())
    assert (record["targets"], record["training"]["model"]["special_vectors"]) == ("softmax", "file")
    rows = checkpoints.read(checkpoint)["model"]["decoder.softmax_weight"]
    table = checkpoints.read(run / "checkpoints" / "checkpoint_best.pt")["model"]["decoder.targets.table"]
    words = [2, 3, *range(4, 20)]  # end of sentence and the unknown word, too
    torch.testing.assert_close(table[words], torch.nn.functional.normalize(rows[words], dim=1))


@pytest.mark.slow
def test_a_students_data_are_its_teachers_translations(small_run, captions, forked_cli, tmp_path):
    captions("--teacher", small_run / "model", "--diagnose", "no", "--name", "student", "--", "--cpu")
    prepared = captions.out / "prepared" / "fr-en"
    (folder,) = prepared.glob("distilled.*")
    options = ["--input", prepared / "plain" / "train.fr", "--output", tmp_path / "hyp", "--device", "cpu"]
    done = forked_cli("translate", "text", small_run / "model", *options, "--beam", 5, "--unkpen", 1000)
    assert done.returncode == 0, done.stderr
    assert (folder / "translations.en").read_bytes() == (tmp_path / "hyp").read_bytes()
    assert b"<unk>" not in (tmp_path / "hyp").read_bytes()
    for kept in ("dict.fr.txt", "dict.en.txt", "valid.fr-en.en.bin", "test.fr-en.en.bin"):
        assert (folder / "bin" / kept).read_bytes() == (prepared / "bin" / kept).read_bytes()
    record = json.loads((captions.out / "runs" / "student" / "record.json").read_text())
    assert record["teacher"] == f"try ({folder.suffix[1:]})"
    assert Path(record["training"]["task"]["data"]) == folder / "bin"


def test_the_short_softmax_has_its_own_vectors_and_smoothing(multi30k, data):
    options_of_both = ("--target-epochs", 2, "--transform", "--specials --normalize", "--label-smoothing", 0.1)
    short, trained = dry_trainings(multi30k, data, *options_of_both, "--diagnose", "epochs")
    assert options(short, "--label-smoothing") == ("0.1",)
    assert "--special-vectors" not in short, "--transform is for the targets that the softmax gives"
    assert "--no-epoch-checkpoints" in short
    assert "--special-vectors" in trained
    assert "--label-smoothing" not in trained, "syn_margin_proj has none"
