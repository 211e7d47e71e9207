"""What every recipe shares: names and numbers that are refused at the start, folders with blanks, stamps of content."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

SENTIMENT = ("--low-resource", "te", "--low-resource-source")


@pytest.fixture
def files(tmp_path):
    """Files that every recipe can begin with, and options that name them."""
    data = tmp_path / "the data"
    names = [f"{name}.{language}" for name in ("train", "val", "test_2016_flickr") for language in ("de", "en")]
    names += [f"cikm_{name}.txt" for name in ("english_train", "spanish_train", "test_a")]
    names += ["pairs.tsv", "labelled.tsv", "mt/tatoeba/deu-eng.tsv", "mt/tatoeba/fra-eng.tsv"]
    names += [f"campaign/train.tags.fr-en.{language}" for language in ("fr", "en")]
    treebanks = ("English-EWT", "German-GSD", "German-LIT", "French-GSD", "Portuguese-Bosque")
    names += [f"ud/UD_{treebank}/x.conllu" for treebank in treebanks]
    for name in names:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(f"{name}\n" * (500 if name.startswith("train.") else 1))
    return data


def options(name: str, data: Path) -> list[str]:
    return {
        "multi30k.sh": ["--data", str(data)],
        "tatoeba.sh": ["--data", str(data / "pairs.tsv")],
        "iwslt16.sh": ["--data", str(data / "campaign")],
        "train.sh": ["--train", str(data / "train"), "--src", "de", "--tgt", "en", "--held-out", "1"],
        "syntactic.sh": ["--data", str(data), "--languages", "en de", "--unseen", "fr", "--few", "20"],
        "sentiment.sh": [*SENTIMENT, f"{data}/labelled.tsv", "--high-resource", "none"],
        "emoji.sh": [*SENTIMENT, f"{data}/labelled.tsv", "--high-resource", "none"],
        "question_matching.sh": ["--data", str(data)],
        "semantic_similarity.sh": ["--base", str(data), "--folds", "0"],
    }[name]


RECIPES = (
    "multi30k.sh",
    "tatoeba.sh",
    "iwslt16.sh",
    "train.sh",
    "syntactic.sh",
    "sentiment.sh",
    "emoji.sh",
    "question_matching.sh",
    "semantic_similarity.sh",
)


@pytest.mark.parametrize("name", RECIPES)
def test_blanks_and_quotes_in_a_folders_name_change_nothing(recipe, files, name):
    """The same commands with the same words, whatever the folder is called."""
    made = recipe(name)
    calls = []
    for out in ("out", "it's my out"):
        made.out = made.out.with_name(out)
        done = made(*options(name, files))
        assert done.returncode == 0, done.stderr
        calls.append(made.calls_file.read_text().replace(str(made.out), "OUT"))
        assert not list(made.out.parent.glob("my"))
    assert calls[0] == calls[1]
    assert made(*options(name, files)).returncode == 0
    assert "fairseq-train" not in made.calls_file.read_text()


BAD = ("run-12:30", "a,b", "x*", "a[b]", "a{b}", "a\nb")
STUMBLED_OVER = (
    *((("--out", bad), "name a folder without : , * ? [") for bad in BAD),
    (("--seed", "08"), "--seed is '08': give a whole number"),
    (("--seed", "4294967296"), "--seed is '4294967296': give a number below 4294967296"),
)
"""Names and numbers that fairseq would take otherwise than they are meant."""


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        *((name, arguments, said) for arguments, said in STUMBLED_OVER for name in RECIPES),
        ("multi30k.sh", ("--name", "run-12:30"), "--name is 'run-12:30': give a name of letters, digits"),
        ("multi30k.sh", ("--name", "../x"), "--name is '../x'"),
        ("multi30k.sh", ("--src", "a b"), "--src is 'a b': give a language code such as de"),
        ("tatoeba.sh", ("--src", "../../../x"), "--src is '../../../x': give a language code"),
        ("tatoeba.sh", ("--tgt", ""), "--tgt needs a value"),
        ("multi30k.sh", ("--epochs", "08"), "--epochs is '08': give a whole number, such as 8"),
        ("multi30k.sh", ("--epochs", "0"), "--epochs is 0: give 1 or more"),
        ("multi30k.sh", ("--size", "1e3"), "--size is '1e3'"),
        ("tatoeba.sh", ("--held-out", "0"), "--held-out is 0"),
        ("sentiment.sh", ("--low-resource", "a/b"), "--low-resource is 'a/b': give a language code"),
        ("sentiment.sh", ("--updates", "0"), "--updates is 0"),
        ("emoji.sh", ("--classes", "08"), "--classes is '08'"),
        ("question_matching.sh", ("--name", "a b"), "--name is 'a b'"),
        ("semantic_similarity.sh", ("--languages", "en ../fr"), "--languages is '../fr'"),
        ("syntactic.sh", ("--temperature", "0"), "--temperature is '0': give a number above 0"),
        ("syntactic.sh", ("--temperature", "warm"), "--temperature is 'warm'"),
        ("syntactic.sh", ("--few", "08"), "--few is '08'"),
        ("iwslt16.sh", ("--dev-sets", "../tst2013"), "--dev-sets is '../tst2013': give a name"),
    ],
)
def test_names_and_numbers_that_cannot_be_are_refused_before_any_work(recipe, files, name, arguments, said):
    made = recipe(name)
    done = made(*options(name, files), *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert made.calls == []
    assert not made.out.exists()


@pytest.mark.parametrize(
    ("name", "file", "option", "again"),
    [
        ("syntactic.sh", "mt/tatoeba/deu-eng.tsv", None, "embed prepare"),
        ("syntactic.sh", "ud/UD_German-GSD/x.conllu", None, "embed train-tagger"),
        ("question_matching.sh", "my.vec", "--embeddings", "match prepare"),
        ("semantic_similarity.sh", "page.html", None, "corpus run"),
        ("semantic_similarity.sh", "more", "--text=en=", "vectors train"),
        ("semantic_similarity.sh", "words", "--dictionary=fr=", "vectors align"),
        ("semantic_similarity.sh", "pairs", "--paraphrases", "match prepare"),
        ("semantic_similarity.sh", "graded", "--sts=en=", "match similarity"),
        ("sentiment.sh", "classes.tsv", "--low-resource-source", "classify prepare"),
    ],
)
def test_a_file_of_the_same_name_with_other_content_is_read_anew(recipe, files, name, file, option, again):
    made, path = recipe(name), files / file
    path.write_text("one\n")
    given = options(name, files)
    if name == "sentiment.sh":
        given = [*SENTIMENT, f"{files}/labelled.tsv,classes={path}", "--high-resource", "none"]
    elif option:
        option, _, prefix = option.partition("=")
        given += [option, f"{prefix}{path}"]
    assert made(*given).returncode == 0
    assert any(again in call for call in made.calls)
    assert made(*given).returncode == 0
    assert not any(again in call for call in made.calls)
    path.write_text("two\n")
    done = made(*given)
    assert done.returncode == 0, done.stderr
    assert any(again in call for call in made.calls)


def test_what_a_stage_left_and_is_gone_is_made_again(recipe, files):
    made = recipe("multi30k.sh")
    given = options("multi30k.sh", files)
    made(*given)
    for gone, again in (("bin/dict.de.txt", None), ("bin", "fairseq-preprocess"), ("vectors/en.bin", "vectors train")):
        path = made.out / "prepared" / "de-en" / gone
        subprocess.run(["rm", "-r", path], check=True)
        done = made(*given)
        assert done.returncode == 0, done.stderr
        if again:
            assert [call for call in made.calls if again in call] == made.calls
            assert f"{path} is gone: it is made again" in done.stderr
            assert path.exists()
    (record,) = made.out.glob("runs/*/record.json")
    record.unlink()
    assert made(*given).returncode == 0
    assert record.exists()


def test_two_in_one_folder_wait_for_each_other(tmp_path):
    """As stages do: the second finds done what it waited for."""
    script = tmp_path / "recipe.sh"
    library = Path(__file__).resolve().parents[2] / "recipes" / "lib" / "common.sh"
    script.write_text(
        f"""set -euo pipefail
. {library}
OUT={tmp_path}/out STAMPS={tmp_path}/out/stamps
work() {{ echo began >>{tmp_path}/log; sleep 2; echo ended >>{tmp_path}/log; }}
inner() {{ locked {tmp_path}/out/inner true; stage one '' work; }}
locked {tmp_path}/out/lock inner
"""
    )
    running = [subprocess.Popen(["bash", script], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    start = time.monotonic()
    said = sorted(process.communicate(timeout=60)[1] for process in running)
    assert time.monotonic() - start < 60
    assert [process.returncode for process in running] == [0, 0]
    assert (tmp_path / "log").read_text() == "began\nended\n"
    assert sum("waiting for another process at work in" in text for text in said) == 1
    assert sum("one: done before" in text for text in said) == 1


def test_a_training_that_goes_on_goes_on_in_its_log(tmp_path):
    """One that begins anew begins a log, which can be followed while it runs."""
    script = f"""
set -euo pipefail
. recipes/lib/common.sh
DRY_RUN=no
logged_training {tmp_path}/train.log {tmp_path}/checkpoints bash -c "$1"
"""
    root = Path(__file__).resolve().parents[2]

    def train(command):
        return subprocess.run(["bash", "-c", script, "bash", command], cwd=root, capture_output=True, text=True)

    (tmp_path / "train.log").write_text("of another training\n")
    stopped = train(f"echo one; cat {tmp_path}/train.log >{tmp_path}/seen; mkdir -p {tmp_path}/checkpoints; false")
    assert (stopped.returncode, (tmp_path / "seen").read_text()) == (1, "one\n")
    assert "ended with status 1; its output is in" in stopped.stderr
    (tmp_path / "checkpoints" / "checkpoint_last.pt").touch()
    assert train("echo two").returncode == 0
    assert (tmp_path / "train.log").read_text() == "one\ntwo\n"
