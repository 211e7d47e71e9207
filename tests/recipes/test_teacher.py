"""``--teacher`` of the translation recipes with stand-ins for what they call: training on a teacher's translations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_words import options

TRANSLATE, TRAIN, PREPROCESS = "fairseq-xl translate text", "fairseq-train --user-dir", "fairseq-preprocess"
LINES = 4100  # three parts of up to 2,000


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, lines in (("train", LINES), ("val", 2), ("test_2016_flickr", 2)):
        for language in ("de", "en"):
            text = "".join(f"{name} {language} {number}\n" for number in range(lines))
            (folder / f"{name}.{language}").write_text(text)
    return folder


@pytest.fixture
def teacher(tmp_path):
    return pack(tmp_path / "runs" / "best" / "model")


def pack(folder: Path, source: str = "de", target: str = "en", beam: int = 5) -> Path:
    """What a recipe needs to see of a packed model, as ``write_config`` lays it out."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"version": 2, "source_lang": source, "target_lang": target, "options": {"beam": beam}}
    (folder / "translator.json").write_text(json.dumps(config, indent=2))
    return folder


@pytest.fixture
def multi30k(recipe, data):
    made = recipe("multi30k.sh")
    shared = ("--data", data)
    return made, lambda *options, **env: made(*shared, *options, **env)


def translated(recipe) -> list[str]:
    """The parts of the training text that the last run translated."""
    lines = recipe.calls_file.read_text().splitlines()
    return [Path(options(line.split(), "--input")[0]).name for line in lines if line.startswith(TRANSLATE)]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("multi30k.sh", "--data DATA"),
        ("iwslt16.sh", "--src de --data DATA"),
        ("tatoeba.sh", "--data DATA/train.de"),
        ("train.sh", "--train DATA/train --src de --tgt en"),
    ],
)
def test_every_translation_recipe_takes_a_teacher(recipe, data, teacher, name, given):
    made = recipe(name)
    done = made(*given.replace("DATA", str(data)).split(), "--teacher", teacher, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"fairseq-xl translate text {teacher} --beam 5 --unkpen 1000 --input " in done.stdout
    train = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train")).split()
    assert Path(train[1]).parent.name.startswith("distilled.")
    assert ".distilled.seed1/" in options(train, "--save-dir")[0]
    assert "--teacher FOLDER" in made("--help").stdout
    assert not made.out.exists()


def test_the_translations_are_trained_on_and_all_else_is_of_the_real_text(multi30k, teacher):
    recipe, run = multi30k
    run()
    done = run("--teacher", teacher)
    assert done.returncode == 0, done.stderr
    assert translated(recipe) == ["source.aaaaa", "source.aaaab", "source.aaaac"]
    assert not {"fairseq-xl data train-truecaser", "fairseq-xl vectors train"} & set(recipe.calls)
    prepared = recipe.out / "prepared" / "de-en"
    (folder,) = prepared.glob("distilled.*")
    source = (prepared / "plain" / "train.de").read_text()
    assert (folder / "translations.en").read_text() == source, "the stand-in says what it hears, part by part"
    assert (folder / "true" / "train.en").read_text() == source
    preprocess = recipe.arguments(PREPROCESS)
    sets = (str(folder / "true" / "train"), str(prepared / "true" / "valid"), str(prepared / "true" / "test"))
    assert options(preprocess, "--trainpref", "--validpref", "--testpref") == sets
    dictionaries = tuple(str(prepared / "bin" / f"dict.{language}.txt") for language in ("de", "en"))
    assert options(preprocess, "--srcdict", "--tgtdict") == dictionaries
    assert "--thresholdtgt" not in preprocess
    assert recipe.arguments("fairseq-train")[1] == str(folder / "bin")
    assert recipe.arguments("fairseq-generate")[1] == str(prepared / "bin")
    about = " ".join(recipe.arguments("fairseq-xl experiment record"))
    assert f"teacher=best ({folder.suffix[1:]})" in about
    assert {path.name for path in folder.iterdir()} >= {"bin", "plain", "tok", "true"}
    assert not list(folder.glob("parts.*"))


def test_finished_translations_are_shared_and_runs_without_a_teacher_left_alone(multi30k, teacher):
    recipe, run = multi30k
    run()
    run("--teacher", teacher)
    for again in ((), ("--teacher", teacher)):
        assert run(*again).returncode == 0
        assert recipe.calls == []
    assert run("--teacher", teacher, "--loss", "softmax").returncode == 0
    assert TRAIN in recipe.calls
    assert not {TRANSLATE, "fairseq-preprocess --source-lang de"} & set(recipe.calls)


def test_another_teacher_and_other_text_are_translated_anew(multi30k, teacher, data):
    recipe, run = multi30k
    run("--teacher", teacher)
    pack(teacher, beam=6)
    done = run("--teacher", teacher)
    assert done.returncode == 2
    assert len(translated(recipe)) == 3
    assert "was begun with other settings (above): give another --name" in done.stderr
    assert run("--teacher", teacher, "--name", "of_another").returncode == 0
    assert translated(recipe) == []
    (data / "train.de").write_text("other text\n" * LINES)
    assert run("--teacher", teacher, "--name", "of_other_text").returncode == 0
    assert len(translated(recipe)) == 3


def test_an_interruption_costs_no_finished_part(multi30k, teacher, data):
    recipe, run = multi30k
    assert run("--teacher", teacher, KILL_AT="source.aaaac").returncode != 0
    assert len(translated(recipe)) == 3
    done = run("--teacher", teacher)
    assert done.returncode == 0, done.stderr
    assert translated(recipe) == ["source.aaaac"]
    assert "the teacher translates part 3 of 3" in done.stderr
    (folder,) = (recipe.out / "prepared" / "de-en").glob("distilled.*")
    assert (folder / "translations.en").read_text() == (data / "train.de").read_text()


def test_parts_of_other_text_are_not_taken(multi30k, teacher, data):
    recipe, run = multi30k
    assert run("--teacher", teacher, KILL_AT="source.aaaac").returncode != 0
    (data / "train.de").write_text("other text\n" * LINES)
    assert run("--teacher", teacher).returncode == 0
    assert len(translated(recipe)) == 3
    (folder,) = (recipe.out / "prepared" / "de-en").glob("distilled.*")
    assert (folder / "translations.en").read_text() == "other text\n" * LINES
    assert not list(folder.glob("parts.*"))


def test_subwords_are_those_of_the_real_text(multi30k, teacher):
    recipe, run = multi30k
    done = run("--teacher", teacher, "--subwords", 500)
    assert done.returncode == 0, done.stderr
    calls = recipe.calls_file.read_text()
    assert calls.count("train-subwords ") == 2
    prepared = recipe.out / "prepared" / "de-en"
    (text,) = prepared.glob("distilled.*")
    folder = prepared / "bpe500" / text.name
    for language in ("de", "en"):
        files = f"{text}/true/train.{language} --output {folder}/pieces/train.{language}"
        assert f"encode-subwords {files} --model {prepared}/bpe500/subwords.{language}.model\n" in calls
    assert recipe.arguments("fairseq-train")[1] == str(folder / "bin")
    assert f"--srcdict {prepared}/bpe500/bin/dict.de.txt " in calls
    run("--teacher", teacher)
    assert translated(recipe) == [], "words and pieces come from the same translations"


def test_the_short_softmax_before_a_warm_start_learns_from_the_teacher_too(multi30k, teacher):
    _, run = multi30k
    done = run("--teacher", teacher, "--loss", "combined", "--target-epochs", 3, "--warm-start", "--dry-run")
    assert done.returncode == 0, done.stderr
    first, second = (line.split() for line in done.stdout.splitlines() if line.startswith("fairseq-train"))
    assert options(first, "--criterion") == ("cross_entropy",)
    assert first[1] == second[1]
    assert Path(first[1]).parent.name.startswith("distilled.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("RUN", "--teacher RUN is no packed model, for there is no translator.json in it: give the folder RUN/model"),
        ("NOWHERE", "--teacher NOWHERE is no packed model"),
        ("FRENCH", "--teacher FRENCH translates from fr to en: give one that translates from de to en"),
        ("TURNED", "--teacher TURNED translates from en to de: give one that translates from de to en"),
        ("TORN", "--teacher: TORN/translator.json is damaged, for it names no languages: pack the model again"),
    ],
)
def test_folders_that_are_no_teacher_are_refused_before_anything_starts(multi30k, teacher, tmp_path, given, said):
    recipe, run = multi30k
    folders = {
        "RUN": teacher.parent,
        "NOWHERE": tmp_path / "nowhere",
        "FRENCH": pack(tmp_path / "french", "fr"),
        "TURNED": pack(tmp_path / "turned", "en", "de"),
        "TORN": pack(tmp_path / "torn"),
    }
    (folders["TORN"] / "translator.json").write_text("{")
    done = run("--teacher", folders[given])
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {said.replace(given, str(folders[given]), 1)}")
    assert done.stderr.count("\n") == 1
    assert recipe.calls == []
    assert not recipe.out.exists()
