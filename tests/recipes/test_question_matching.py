"""recipes/question_matching.sh with stand-ins for what it calls."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import registered

from fairseq_xl.pairs.baselines import BASELINES

ROOT = Path(__file__).resolve().parents[2]
DATA = ["fairseq-xl match words", "fairseq-xl vectors train"]
PREPARED = ["fairseq-xl match transfer-labels", "fairseq-xl match prepare", "fairseq-xl match statistics"]
RECORD = [*["fairseq-xl match predict"] * 2, "fairseq-xl match calibrate", "fairseq-xl match predict"]
TRAINED = ["fairseq-train --user-dir", *RECORD]


@pytest.fixture
def matching(recipe):
    return recipe("question_matching.sh")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("english_train", "spanish_train", "test_a"):
        (folder / f"cikm_{name}.txt").write_text("x\n")
    return folder


def test_from_the_files_to_records_and_not_again(matching, data):
    done = matching("--data", data, "--seed", 2)
    assert done.returncode == 0, done.stderr
    assert matching.calls == [*DATA, *PREPARED, *TRAINED]
    run = matching.out / "runs/esim.own.subwords.transferred.sentences.5.seed2"
    assert {path.name for path in run.glob("*.json")} == {
        "fold.json",
        "record.json",
        "calibration.json",
        "calibrated.json",
    }
    words = " ".join(matching.arguments("fairseq-train"))
    assert "--arch esim --fold 1 --seed 2" in words
    assert matching("--data", data, "--seed", 2).returncode == 0
    assert matching.calls == []
    matching("--data", data, "--system", "siamese_conv")
    assert matching.calls == TRAINED
    (data / "cikm_english_train.txt").write_text("y\n")
    matching("--data", data, "--seed", 2)
    assert matching.calls == [*DATA, *PREPARED, *TRAINED]


@pytest.mark.parametrize(
    ("where", "again"),
    [("vectors train", [*DATA[1:], *PREPARED, *TRAINED]), ("fairseq-train", TRAINED), ("calibrate", RECORD)],
)
def test_a_killed_run_goes_on(matching, data, where, again):
    assert matching("--data", data, KILL_AT=where).returncode != 0
    assert matching("--data", data).returncode == 0
    assert matching.calls == again


def test_other_settings_begin_anew(matching, data, begins_anew):
    checkpoints = "runs/esim.own.subwords.transferred.sentences.5.seed1/checkpoints"
    begins_anew(matching, checkpoints, ["--data", data], ["--", "--dropout", "0.5"])


def test_the_spanish_pairs_are_judged_and_nothing_else(matching, data):
    matching("--data", data)
    words = matching.arguments("fairseq-xl match prepare")
    spanish = [word for word in words if "cikm_spanish" in word]
    assert [word.split(",")[-1] for word in spanish] == ["split=test"]
    transfer = matching.arguments("fairseq-xl match transfer-labels")
    labelled = transfer[transfer.index("--labelled") : transfer.index("--exclude")]
    assert not any("cikm_spanish" in word for word in labelled)
    assert "--exclude-sentences" in transfer
    for call in ("--split fold", "--split test"):
        assert call in matching.calls_file.read_text()
    assert "calibrate --bias" not in matching.calls_file.read_text()
    assert any(
        "match calibrate" in line and "fold.json" in line for line in matching.calls_file.read_text().split("\n")
    )


def test_folds_are_held_out_in_turn(matching, data):
    for seed, fold in ((1, 0), (3, 2), (4, 0)):
        matching("--data", data, "--folds", 3, "--seed", seed)
        words = matching.arguments("fairseq-train")
        assert words[words.index("--fold") + 1] == str(fold)


def test_help_that_can_be_left_out(matching, data):
    matching("--data", data, "--transfer", "no", "--unknown", "none", "--leaks", "nothing")
    assert "fairseq-xl match transfer-labels" not in matching.calls
    words = " ".join(matching.arguments("fairseq-xl match prepare"))
    assert "vectors/own.vec" in words
    assert "--leaks nothing" in words


def test_repair_is_of_all_files(matching, data, tmp_path):
    vectors = tmp_path / "given.vec"
    vectors.write_text("1 1\na 1\n")
    matching("--data", data, "--embeddings", vectors)
    assert matching.calls == ["fairseq-xl match repair-words", *PREPARED, *TRAINED]
    assert "repaired/given.vec/cikm_english_train.txt" in " ".join(matching.arguments("fairseq-xl match prepare"))


def test_official_vectors_are_downloaded(matching, data):
    matching("--data", data, "--embeddings", "official", "--prepare-only")
    assert matching.calls == ["fairseq-xl data fetch", "fairseq-xl match repair-words", *PREPARED]


def test_more_translated_questions_get_labels(matching, data, tmp_path):
    more = tmp_path / "more.tsv"
    more.write_text("a\tb\n")
    (data / "cikm_unlabel_spanish_train.txt").write_text("a\tb\n")
    matching("--data", data, "--translated", more)
    words = " ".join(matching.arguments("fairseq-xl match transfer-labels"))
    assert f"--sentences {more} {data}/cikm_unlabel_spanish_train.txt" in words


def test_questions_without_a_translation_are_translated(matching, data):
    """By a model of the others alone; the recipe for Tatoeba trains it, with stand-ins, too."""
    (data / "cikm_english_train.txt").write_text("hello\thola\tbye\tadiós\t0\n")
    (data / "cikm_spanish_train.txt").write_text("sí\tyes\tno\tno\t1\n")
    (data / "cikm_test_a.txt").write_text("qué\tcómo\ncómo\tquién\nqué\tes <unk>\n")
    done = matching("--data", data, "--translate", "yes")
    assert done.returncode == 0, done.stderr
    folder = matching.out / "translation"
    assert set((folder / "spa-eng.tsv").read_text().splitlines()) == {"hello\thola", "bye\tadiós", "yes\tsí", "no\tno"}
    assert (folder / "questions.tsv").read_text() == "cómo\tcómo\nquién\tquién\nqué\tqué\n"
    assert f"--sentences {folder}/questions.tsv" in " ".join(matching.arguments("fairseq-xl match transfer-labels"))
    trained = [call for call in matching.calls if call.startswith("fairseq-train")]
    assert len(trained) == 2  # the translation model and the classifier
    assert (matching.out / "runs/esim.own.subwords.translated.sentences.5.seed1/record.json").exists()
    matching("--data", data, "--translate", "yes", "--seed", 2)
    assert matching.calls == TRAINED
    shutil.rmtree(folder)
    done = matching("--data", data, "--translate", "yes")
    assert done.returncode == 0, done.stderr
    assert (folder / "questions.tsv").exists()
    (data / "cikm_english_train.txt").write_text("hello\tbuenas\tbye\tadiós\t0\n")
    done = matching("--data", data, "--translate", "yes")
    assert done.returncode == 0, done.stderr
    assert sum(call.startswith("fairseq-train") for call in matching.calls) == 2
    models = {path.parent for path in folder.glob("runs/questions.*/model")}
    (read,) = (line.split()[3] for line in matching.calls_file.read_text().splitlines() if "translate text" in line)
    assert len(models) == 2
    assert Path(read).parent in models


def test_a_baseline_needs_no_training(matching, data):
    matching("--data", data, "--system", "vectors")
    assert matching.calls == [*DATA, *PREPARED, *["fairseq-xl match baseline"] * 2]
    assert "--vectors" in matching.arguments("fairseq-xl match baseline")


def test_a_dry_run_does_nothing(matching, data):
    done = matching("--data", data, "--dry-run")
    assert done.returncode == 0
    assert "fairseq-train" in done.stdout
    assert matching.calls == []
    assert not matching.out.exists()


MIXED = [*["fairseq-xl match words"] * 2, "fairseq-xl vectors train"]


def test_both_languages_beside_finished_runs_of_one(matching, data):
    """Spanish vectors and transferred labels are shared; what is prepared and trained has a name of its own."""
    matching("--data", data)
    name = "esim.own.subwords.transferred.sentences.5"
    before = (matching.out / f"runs/{name}.seed1/record.json").stat()
    done = matching("--data", data, "--languages", "both")
    assert done.returncode == 0, done.stderr
    assert matching.calls == [*MIXED, *PREPARED[1:], *TRAINED]
    assert (matching.out / f"runs/{name}.both.seed1/record.json").exists()
    assert (matching.out / f"runs/{name}.seed1/record.json").stat() == before
    assert matching("--data", data, "--languages", "both", "--seed", 2).returncode == 0
    assert matching.calls == TRAINED
    assert matching("--data", data).returncode == 0
    assert matching.calls == []


def test_pairs_of_both_languages_are_held_out_together_and_judged_in_spanish(matching, data):
    matching("--data", data, "--languages", "both", "--chains", "yes")
    _, _, _, _, folder, *words = matching.arguments("fairseq-xl match prepare")
    sources = {word.partition("/cikm_")[2] or word: word for word in words if "languages=" in word}
    translated = "left_translation={},right_translation={},translation_languages=en+en"
    assert list(sources) == [
        f"english_train.txt,left=2,right=4,label=5,languages=es+es,{translated.format(1, 3)}",
        f"spanish_train.txt,left=1,right=3,label=5,split=test,languages=es+es,{translated.format(2, 4)}",
        f"{matching.out}/transferred/own.subwords.transferred.sentences.5.tsv,left=left,right=right,label=label,"
        f"languages=es+es,{translated.format('left_translation', 'right_translation')}",
        "english_train.txt,left=1,right=3,label=5,languages=en+en,split=train_only",
        "test_a.txt,label=none,languages=es+es",
    ]
    assert folder.endswith("prepared/own.subwords.transferred.sentences.5.both.chains")
    assert words[words.index("--vectors") + 1].endswith("vectors/mixed.bin")
    assert "--chains" in words


def test_words_of_questions_stand_beside_their_translations_in_the_text_of_the_vectors(matching, data, tmp_path):
    (tmp_path / "more.en").write_text("more\n")
    both = ["--data", data, "--languages", "both", "--english-text", tmp_path / "more.en"]
    matching(*both, "--unknown", "none")
    folder = matching.out / "vectors"
    assert f"{tmp_path}/more.en --output {folder}/text.en" in matching.calls_file.read_text()
    assert f"--vectors {folder}/mixed.vec" in " ".join(matching.arguments("fairseq-xl match prepare"))
    assert f"--vectors {folder}/own.vec" in " ".join(matching.arguments("fairseq-xl match statistics"))
    for name, text in {
        "questions.en": "where is it\nyes\nwhere is it\n\n",
        "questions.es": "dónde está\n\ndónde está\nno\n",
        "text": "dónde está\n¿ qué ?\n",
        "text.en": "more\n",
    }.items():
        (folder / name).write_text(text)
    script = ROOT / "recipes/lib/question_matching/prepare.sh"
    lines = f'. "{script}"; ENGLISH_TEXTS=(x); mix_text "{folder}"'
    subprocess.run(["bash", "-euc", lines], check=True)
    assert (folder / "text.mixed").read_text().splitlines() == [
        "es:no",
        "en:where es:dónde en:is es:está en:it",
        "en:yes",
        "es:dónde es:está",
        "es:¿ es:qué es:?",
        "en:more",
    ]


@pytest.mark.parametrize("unknown", ["subwords", "repair", "none"])
def test_a_dry_run_with_both_languages(matching, data, tmp_path, unknown):
    more = tmp_path / "more.tsv"
    more.write_text("a\tb\n")
    help = ["--translate", "yes", "--translated", more, "--chains", "yes", "--runs", 2]
    done = matching("--data", data, "--languages", "both", "--unknown", unknown, *help, "--dry-run")
    assert done.returncode == 0, done.stderr
    (repaired,) = [line for line in done.stdout.splitlines() if "repair-words" in line] or [""]
    assert ("--vectors" in repaired and "/vectors/own.vec" in repaired) == (unknown == "repair")
    assert f"esim.own.{unknown}.translated.sentences.5.both.chains.mean2" in done.stdout
    assert matching.calls == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--languages", "en"), "--languages is 'en': choose es or both"),
        (("--english-text", __file__), "is for the vectors of --languages both alone"),
        (("--languages", "both", "--english-text", "nowhere"), "there is no text"),
        (("--languages", "both", "--embeddings", "official"), "own vectors of both languages in one space"),
        (("--languages", "both", "--embeddings", __file__), "leave out --embeddings"),
        (("--languages", "both", "--system", "tfidf"), "--system tfidf reads no word vectors"),
        (("--system", "magic"), "--system is 'magic': choose one of siamese_lstm"),
        (("--seed", "0"), "--seed counts from 1"),
        (("--folds", "1"), "--folds is 1: at least 2"),
        (("--runs", "6"), "--runs is 6: at most one for each of the 5 folds"),
        (("--runs", "2", "--system", "vectors"), "--runs 2 averages trainings, and the baseline vectors is not"),
        (("--choose", "luck"), "--choose is 'luck'"),
        (("--chains", "long"), "--chains is 'long'"),
        (("--transfer", "perhaps"), "--transfer is 'perhaps'"),
        (("--translate", "maybe"), "--translate is 'maybe'"),
        (("--translate", "yes", "--transfer", "no"), "serves label transfer alone"),
        (("--translated", __file__, "--transfer", "no"), "--translated serves label transfer alone"),
        (("--text", __file__, "--embeddings", "official"), "--text is for own vectors alone"),
        (("--leaks", "some"), "--leaks is 'some'"),
        (("--unknown", "guess"), "--unknown is 'guess'"),
        (("--embeddings", "official", "--unknown", "subwords"), "needs vectors with subwords"),
        (("--embeddings", "nowhere.vec"), "there is no file of word vectors"),
        (("--system", "st"), "--system st needs --model"),
        (("--colour", "red"), "has no option '--colour'"),
    ],
)
def test_mistakes(matching, data, options, said):
    done = matching("--data", data, *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert matching.calls == []


def test_it_offers_every_classifier_and_every_baseline(matching, data):
    offered = matching("--data", data, "--system", "magic").stderr.partition("choose one of ")[2].split()
    assert sorted(offered) == sorted([*registered.models("pairs"), "decomposable_attention_enhanced", *BASELINES])
    explained = matching("--help").stdout.partition("--system SYSTEM")[2].partition("\n  --")[0]
    assert [name for name in offered if not re.search(rf"\b{name}\b", explained)] == []


def test_data_is_never_downloaded(matching, tmp_path):
    assert "nothing is downloaded" in matching().stderr
    assert "there is no file of question pairs" in matching("--data", tmp_path).stderr


@pytest.mark.parametrize(
    ("system", "enhanced"), [("decomposable_attention", False), ("decomposable_attention_enhanced", True)]
)
def test_attention_as_published_and_enhanced_are_two_systems(matching, data, system, enhanced):
    matching("--data", data, "--system", system)
    words = matching.arguments("fairseq-train")
    assert words[words.index("--arch") + 1] == "decomposable_attention"
    assert ("--enhanced" in words) == enhanced
    named = matching.arguments("fairseq-xl match predict")
    assert named[named.index("--name") + 1] == system


def test_checkpoints_are_chosen_by_what_is_reported(matching, data):
    matching("--data", data)
    words = matching.arguments("fairseq-train")
    assert words[words.index("--best-checkpoint-metric") + 1] == "log_loss"
    assert "--maximize-best-checkpoint-metric" not in words
    assert matching.arguments("fairseq-xl match predict")[3].endswith("/checkpoint_best.pt")
    matching("--data", data, "--choose", "average_precision")
    words = matching.arguments("fairseq-train")
    assert words[words.index("--best-checkpoint-metric") + 1] == "average_precision"
    assert "--maximize-best-checkpoint-metric" in words
    assert matching("--data", data, "--choose", "last").returncode == 0
    assert "--best-checkpoint-metric" not in matching.arguments("fairseq-train")
    assert matching.arguments("fairseq-xl match predict")[3].endswith("/checkpoint_last.pt")


def test_calibrations_are_for_the_share_of_matches_that_is_asked_for(matching, data):
    pairs = "".join(f"a\tb\tc\td\t{label}\n" for label in (0, 1, 0, 0))
    (data / "cikm_english_train.txt").write_text(pairs)
    run = matching.out / "runs/esim.own.subwords.transferred.sentences.5.seed1"
    estimated = "esim.own.subwords.transferred.sentences.5.prior-estimated.seed1"
    for options, expected in (
        ((), ["--prior", "0.2500"]),
        (("--prior", "fold"), []),
        (("--prior", "estimated"), ["--prior-from", f"{run.with_name(estimated)}/record.json"]),
        (("--prior", ".3"), ["--prior", ".3"]),
    ):
        assert matching("--data", data, *options).returncode == 0
        assert matching.calls[-4:] == RECORD
        words = matching.arguments("fairseq-xl match calibrate")
        assert words[words.index("--bias") + 1 : words.index("--output")] == expected
    for prior in ("0", "0.0", "1", "none", "-0.5"):
        done = matching("--data", data, "--prior", prior)
        assert done.returncode != 0
        assert f"--prior is '{prior}': choose labelled, fold, estimated, or a number between 0 and 1" in done.stderr


def test_several_runs_are_averaged_and_calibrated_on_their_folds(matching, data):
    done = matching("--data", data, "--folds", 3, "--runs", 3)
    assert done.returncode == 0, done.stderr
    assert matching.calls == [*DATA, *PREPARED, *3 * TRAINED, *["fairseq-xl match ensemble"] * 2]
    lines = matching.calls_file.read_text().splitlines()
    trained = [line.split() for line in lines if line.startswith("fairseq-train")]
    assert [words[words.index("--fold") + 1] for words in trained] == ["0", "1", "2"]
    base = matching.out / "runs/esim.own.subwords.transferred.sentences.3"
    mean, calibrated = (line.split()[3:] for line in lines if " ensemble " in line)
    plain, own = ([f"{base}.seed{seed}/{name}.json" for seed in (1, 2, 3)] for name in ("record", "calibrated"))
    assert mean == [*plain, "--name", "esim", "--output", f"{base}.mean3/record.json"]
    assert calibrated == [*own, "--name", "esim,", "calibrated", "--output", f"{base}.mean3/calibrated.json"]
    matching("--data", data, "--folds", 3, "--runs", 3)
    assert matching.calls == []
    shutil.rmtree(matching.out / "runs")
    assert matching("--data", data, "--folds", 3, "--runs", 3).returncode == 0
    assert matching.calls == [*3 * TRAINED, *["fairseq-xl match ensemble"] * 2]
    (base.with_name(f"{base.name}.seed2") / "calibrated.json").unlink()
    assert matching("--data", data, "--folds", 3, "--runs", 3).returncode == 0
    assert matching.calls == RECORD


def test_a_baseline_that_was_removed_is_judged_again(matching, data):
    matching("--data", data, "--system", "tfidf")
    for path in matching.out.glob("runs/*/fold.json"):
        path.unlink()
    matching("--data", data, "--system", "tfidf")
    assert matching.calls == ["fairseq-xl match baseline"] * 2


def test_chains_make_another_folder(matching, data):
    matching("--data", data)
    matching("--data", data, "--chains", "yes")
    assert matching.calls == [*PREPARED[1:], *TRAINED]
    assert "--chains" in matching.arguments("fairseq-xl match prepare")
    assert (matching.out / "runs/esim.own.subwords.transferred.sentences.5.chains.seed1/record.json").exists()
