"""recipes/experiments/manuals.sh with stand-ins for what semantic_similarity.sh calls."""

from __future__ import annotations

import pytest

from tests.recipes.test_semantic_similarity import FOLD, SHALLOW

LEXICON = [*["fairseq-xl match words"] * 2, "fairseq-xl data lexicon"]


@pytest.fixture
def manuals(recipe, tmp_path):
    """The recipe with two manuals and Tatoeba's pairs."""
    script = recipe("experiments/manuals.sh")
    for name in ("apache", "office"):
        (tmp_path / name / "en").mkdir(parents=True)
        (tmp_path / name / "en" / "a.html").write_text(f"<p>{name}</p>")
    for language in ("fra", "spa", "deu", "nld"):
        (tmp_path / f"{language}-eng.tsv").write_text("Go.\tVa !\n")
    (tmp_path / "msrp.txt").write_text("Quality\t#1 String\t#2 String\n1\ta\tb\n")
    for language in ("en", "fr", "es"):
        (tmp_path / f"stsb-{language}-dev.csv").write_text("a,b,3\n")
    options = ["--manual", tmp_path / "apache", "--manual", tmp_path / "office", "--tatoeba", tmp_path]
    script.options = [*options, "--msrp", tmp_path / "msrp.txt", "--stsb", tmp_path]
    return script


def test_every_part_makes_its_tables_and_none_twice(manuals):
    parts = ["--parts", "manuals unmatched paraphrases with-paraphrases one-manual"]
    done = manuals(*manuals.options, *parts)
    assert done.returncode == 0, done.stderr
    assert manuals.calls[:6] == LEXICON * 2
    assert manuals.calls.count("fairseq-xl corpus paraphrases") == 1, "two parts train on them"
    # Folds: ten of three sets, ten and three with paraphrases, and ten of three sets. On MSRP five from scratch, and
    # from each model that is transferred: two of `manuals`, one of the others.
    assert manuals.calls.count(FOLD[0]) == (30 + 10 + 3 + 30) + (15 + 10 + 10)
    tables = {path.parent.parent.name for path in manuals.out.glob("*/tables/*.md")}
    assert tables == {"manuals", "paraphrases", "with-paraphrases", "one-manual"}
    assert (manuals.out / "unmatched" / "vectors").is_dir()
    assert manuals(*manuals.options, *parts).returncode == 0
    assert manuals.calls == []
    shown = manuals(*manuals.options, "--parts", "encoders", "--dry-run").stdout.splitlines()
    trained = [line.split("--sentence-encoder ")[1].split()[:3] for line in shown if "--sentence-encoder" in line]
    assert trained == [[encoder, "--sets", "fr"] for encoder in ("conv", "bigru_last", "lstm_last")]


def test_parts_train_on_what_their_names_say(manuals):
    done = manuals(*manuals.options, "--parts", "manuals paraphrases", "--prepare-only")
    assert done.returncode == 0, done.stderr
    lines = manuals.calls_file.read_text().splitlines()
    aligned = [line for line in lines if line.startswith("fairseq-xl vectors align")]
    assert len(aligned) == 4
    assert all("/lexicons/" in line and "--rounds 0" in line for line in aligned)
    inits = [line for line in lines if line.startswith("fairseq-xl corpus init")]
    assert all(line.endswith("/office") and "/apache " in line for line in inits)
    assert [line.split("/corpus/")[1].split()[0] for line in inits] == ["en-fr", "en-es"], "paraphrases make none anew"
    assert not set(manuals.calls) & {*FOLD, *SHALLOW}, "--prepare-only is for every part"
    found = manuals.arguments("fairseq-xl corpus paraphrases")
    assert f"vectors:{manuals.out}/manuals/vectors/en.vec" in found
    assert manuals(*manuals.options, "--parts", "one-manual", "--prepare-only").returncode == 0
    lines = manuals.calls_file.read_text().splitlines()
    inits = [line for line in lines if line.startswith("fairseq-xl corpus init")]
    assert [line.endswith("/apache") for line in inits] == [True, True]
    aligned = [line for line in lines if line.startswith("fairseq-xl vectors align")]
    assert ["--identical" in line for line in aligned] == [True, True]


def test_unmatched_corpora_differ_in_what_is_matched_alone(manuals):
    """They once had no paired negatives, either, and so more pairs than their record."""
    settings = {}
    for part in ("manuals", "unmatched"):
        assert manuals(*manuals.options, "--parts", part, "--prepare-only").returncode == 0
        lines = manuals.calls_file.read_text().splitlines()
        made = next(line for line in lines if line.startswith("fairseq-xl corpus run") and " --first topics " in line)
        settings[part] = {word for word in made.split() if "=" in word and "/" not in word}
    assert settings["manuals"] - settings["unmatched"] == {"negatives.length=1", "negatives.overlap=0.05"}
    assert settings["unmatched"] <= settings["manuals"]


def test_further_options_reach_the_trainings(manuals):
    done = manuals(*manuals.options, "--parts", "manuals one-manual encoders", "--dry-run", "--", "--dropout", "0.3")
    runs = [line for line in done.stdout.splitlines() if "semantic_similarity.sh" in line]
    assert len(runs) == 5
    assert all(line.strip().endswith("--batch-size 64 --dropout 0.3") for line in runs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--parts", "manual"], "--parts has 'manual': choose from manuals unmatched"),
        (["--parts", "paraphrases"], "--parts paraphrases needs the word vectors of manuals: name that part before it"),
        (["--parts", "paraphrases manuals"], "--parts paraphrases needs the word vectors of manuals: name that part"),
        (["--manual", "/nowhere"], "there is no folder --manual /nowhere: check the name"),
        (["--tatoeba", "/nowhere"], "there is no file of sentence pairs, /nowhere/fra-eng.tsv"),
        (["--msrp", "/nowhere"], "there is no file of paraphrases, /nowhere"),
        (["--stsb", "/nowhere"], "there is no file of graded similarities, /nowhere/stsb-en-dev.csv"),
    ],
)
def test_mistakes_are_told_before_anything_runs(manuals, options, words):
    done = manuals(*manuals.options, *options)
    assert (done.returncode, manuals.calls) == (2, [])
    assert words in done.stderr


def test_folders_have_to_be_named(recipe, tmp_path):
    script = recipe("experiments/manuals.sh")
    assert "--manual is missing: name a folder of HTML files" in script().stderr
    assert "--tatoeba is missing: name the folder with fra-eng.tsv and the like" in script("--manual", tmp_path).stderr
