"""recipes/semantic_similarity.sh with stand-ins for what it calls."""

from __future__ import annotations

import re
import shutil

import pytest

BASE = ["--base", "https://example.org/"]
LINES = ["fairseq-xl corpus init", "fairseq-xl corpus run"]
VECTORS = ["fairseq-xl match words", "fairseq-xl vectors train"]
JOINED = ["fairseq-xl vectors align", "fairseq-xl vectors join"]
SHALLOW = ["fairseq-xl match baseline", "fairseq-xl match folds"]
FOLD = ["fairseq-train --user-dir", *["fairseq-xl match predict"] * 2]


@pytest.fixture
def similarity(recipe):
    return recipe("semantic_similarity.sh")


def test_the_shallow_baseline_judges_what_the_models_are_tested_on(similarity, tmp_path):
    (tmp_path / "p.tsv").write_text("a\tb\t1\n")
    paraphrases = ["--paraphrases", f"{tmp_path}/p.tsv,label=3"]
    assert similarity(*BASE, "--folds", "0 3", *paraphrases).returncode == 0

    def judged() -> list[str]:
        lines = [line for line in similarity.calls_file.read_text().splitlines() if "match baseline shallow" in line]
        return [" ".join(line.split("/prepared/")[1].split()[:3]) for line in lines]

    assert judged() == [*(f"fr --fold {n}" for n in (0, 3)), *(f"paraphrases --fold {n}" for n in range(5))]
    (tmp_path / "t.tsv").write_text("a\tb\t1\n")
    similarity(*BASE, "--folds", "0 3", *paraphrases, "--paraphrase-test", f"{tmp_path}/t.tsv,label=3")
    assert judged()[-1] == "paraphrases --split test"
    tables = [line for line in similarity.calls_file.read_text().splitlines() if "match folds" in line]
    assert any(line.endswith("/tables/shallow.paraphrases.md") for line in tables)


def test_from_a_site_to_tables_and_not_again(similarity):
    options = [*BASE, "--folds", "0 3"]
    done = similarity(*options)
    assert done.returncode == 0, done.stderr
    assert similarity.calls == [
        *LINES,
        *VECTORS * 2,
        "fairseq-xl corpus run",
        *JOINED,
        *["fairseq-xl match prepare"] * 2,
        SHALLOW[0],
        *SHALLOW,
        *FOLD * 2,
        "fairseq-xl match folds",
    ]
    assert "--fold 0 --valid-fold 1 --seed 1" in " ".join(similarity.arguments("fairseq-train"))
    assert similarity(*options).returncode == 0
    assert similarity.calls == []
    similarity(*options, "--system", "siamese_conv")
    assert similarity.calls == [*FOLD * 2, "fairseq-xl match folds"]
    similarity(*options, "--set-for", "fr:negatives.low=0.5")
    assert similarity.calls[:2] == ["fairseq-xl corpus run", "fairseq-xl match prepare"]  # with the vectors there are
    assert "negatives.low=0.5" in similarity.arguments("fairseq-xl corpus run")
    similarity(*options, "--set", "align.distance=0.7")
    assert similarity.calls[:2] == ["fairseq-xl corpus run", *VECTORS[:1]]


def test_pages_of_another_site_are_not_taken_for_those_of_this_one(similarity):
    assert similarity(*BASE, "--folds", "0").returncode == 0
    project = similarity.out / "corpus" / "en-fr"
    (project / "corpus.yaml").write_text("languages: [en, fr]\n")  # what corpus init writes
    assert similarity(*BASE, "--folds", "0", "--set", "align.distance=0.7").returncode == 0
    assert similarity.calls[0] == "fairseq-xl corpus run"
    done = similarity("--base", "https://other.example/", "--folds", "0")
    assert done.returncode != 0
    assert (
        f"{project} has the pages of another site, https://example.org/: name another --out, or remove" in done.stderr
    )
    assert similarity.calls == []


def test_three_languages_make_three_training_sets(similarity):
    done = similarity(*BASE, "--languages", "en fr es", "--folds", "0", "--set-for", "es:crawl.delay=2")
    assert done.returncode == 0, done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    assert ["crawl.delay=2" in line for line in calls if "corpus run" in line] == [False, True, False, True]
    trained = [line for line in calls if line.startswith("fairseq-train")]
    assert [line.split("/prepared/")[1].split()[0] for line in trained] == ["fr", "es", "joint"]
    assert len([line for line in calls if "match predict" in line]) == 3 * 3
    (words,) = (line for line in calls if "match words" in line and "/en.txt" in line)
    assert words.count("extract.en.txt") == 2


def test_partitions_by_domain_are_corpora_that_all_models_judge(similarity, tmp_path):
    (tmp_path / "s.csv").write_text("a,b,3.5\n")
    sites = ["fr.gov=https://gov.example/?a=b", "fr.bank=https://b.example/", "es.bank=https://c.example/"]
    sites.append("fr.bank=https://d.example/")
    options = [word for site in sites for word in ("--partition", site)]
    options += ["--set-for", "fr:crawl.delay=1", "--set-for", "fr.bank:crawl.delay=2", "--epochs-for", "fr.gov:7"]
    options += ["--languages", "en fr es", "--folds", "0", "--sts", f"fr={tmp_path}/s.csv,score=3"]
    done = similarity(*options)
    assert done.returncode == 0, done.stderr
    assert "unbound" not in done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    made = [line.split("/corpus/")[1] for line in calls if "corpus init" in line]
    assert made == [
        "en-fr.gov --languages en fr --base https://gov.example/?a=b",
        "en-fr.bank --languages en fr --base https://b.example/ https://d.example/",
        "en-es.bank --languages en es --base https://c.example/",
    ]
    run = [line for line in calls if "corpus run" in line and "--last align" in line]
    assert [re.findall(r"crawl\.delay=\d", line) for line in run] == [
        ["crawl.delay=1"],
        ["crawl.delay=1", "crawl.delay=2"],
        [],
    ]
    words = {line.rsplit("/", 1)[1]: line.count("/extract.") for line in calls if "match words" in line}
    assert words == {"en.txt": 3, "fr.txt": 2, "es.txt": 1}
    prepared = [line.split() for line in calls if "match prepare" in line]
    names = ["fr.gov", "fr.bank", "es.bank"]
    assert [words[4].rsplit("/", 1)[1] for words in prepared] == ["joint", *names]
    assert all("languages=en+es" in word for word in prepared[3] if "/corpus/" in word)
    trained = [line for line in calls if line.startswith("fairseq-train")]
    assert [line.split("/prepared/")[1].split()[0] for line in trained] == [*names, "joint"]
    assert [line.split("--max-epoch ")[1].split()[0] for line in trained] == ["7", "10", "10", "10"]
    judged = [
        re.findall(r"/prepared/(\S+) --split test --name (\S+)", line) for line in calls if "match predict" in line
    ]
    assert [pair for found in judged for pair in found] == [(test, by) for by in [*names, "joint"] for test in names]
    tables = [line.rsplit("/tables/", 1)[1] for line in calls if "match folds" in line]
    assert tables == [
        *(f"shallow.{name}.md" for name in [*names, "joint"]),
        *(f"infersent.seed1.test-{name}.md" for name in names),
    ]
    assert [line.split("--name ")[1].split()[0] for line in calls if "similarity" in line] == [
        "fr.gov",
        "fr.bank",
        "joint",
    ]
    similarity(*options)
    assert similarity.calls == []


def test_paraphrases_from_scratch_and_from_the_corpora(similarity, tmp_path):
    (tmp_path / "p.tsv").write_text("a\tb\t1\n")
    paraphrases = ["--paraphrases", f"{tmp_path}/p.tsv,label=3", "--paraphrase-epochs", "7"]
    done = similarity(*BASE, "--folds", "0", *paraphrases)
    assert done.returncode == 0, done.stderr
    trained = [line for line in similarity.calls_file.read_text().splitlines() if "/prepared/paraphrases" in line]
    trained = [line for line in trained if line.startswith("fairseq-train")]
    assert ["--finetune-from-model" in line for line in trained] == [False] * 5 + [True] * 5
    assert [line.split("--fold ")[1].split()[0] for line in trained] == list("01234") * 2
    assert all("--max-epoch 7" in line for line in trained)
    calls = similarity.calls_file.read_text().splitlines()
    judged = [line for line in calls if "/prepared/paraphrases --split train" in line]
    assert len(judged) == 1
    assert "runs/fr.infersent.seed1.fold0/checkpoints/checkpoint_best.pt" in judged[0]
    tables = [line for line in calls if "/tables/infersent.seed1.test-" in line]
    assert [line.rsplit("test-", 1)[1] for line in tables] == ["fr.md", "paraphrases.md"]
    assert tables[1].count("fold0/paraphrases.json") == 1


@pytest.fixture
def ready(tmp_path):
    """A folder of pairs within English, and one of pairs with French that has a validation split."""
    for name in ("en/train", "en/test", "fr/train", "fr/validation", "fr/test"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.tsv").write_text("sentence1\tsentence2\tlabel\tfold\n")
    (tmp_path / "more.en").write_text("a line\n")
    return tmp_path


def test_a_corpus_of_the_first_language_beside_one_of_a_website(similarity, ready):
    options = [*BASE, "--folds", "0", "--corpus", f"en={ready}/en"]
    done = similarity(*options)
    assert done.returncode == 0, done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    assert [line for line in calls if "corpus init" in line and "--languages en fr" not in line] == []
    source = re.compile(r"(\w+)\.tsv,left=sentence1,right=sentence2,label=label,languages=(\S+)")
    joint, fr, en = (found for line in calls if (found := source.findall(line)))
    assert en == [("train", "en+en,fold=fold"), ("test", "en+en,split=test")]
    assert joint == fr + en
    trained = [line for line in calls if line.startswith("fairseq-train")]
    assert [line.split("/prepared/")[1].split()[0] for line in trained] == ["fr", "en", "joint"]
    assert similarity(*options).returncode == 0
    assert similarity.calls == []
    (ready / "en" / "train.tsv").write_text("sentence1\tsentence2\tlabel\tfold\na\tb\t1\t0\n")
    similarity(*options)
    assert similarity.calls[0] == "fairseq-xl match prepare"


def test_corpora_that_change_their_languages_are_prepared_again(similarity, ready):
    text = [word for code in ("en", "fr") for word in ("--text", f"{code}={ready}/more.en")]
    first = ["--corpus", f"en={ready}/en", "--corpus", f"fr={ready}/fr"]
    assert similarity(*text, "--prepare-only", *first).returncode == 0
    similarity(*text, "--prepare-only", "--corpus", f"fr={ready}/en", "--corpus", f"en={ready}/fr")
    assert "fairseq-xl match prepare" in similarity.calls


def test_corpora_that_are_there_need_no_website(similarity, ready):
    vectors = ["--text", f"en={ready}/more.en"]
    done = similarity("--languages", "en", "--folds", "0", "--corpus", f"en={ready}/en", *vectors)
    assert done.returncode == 0, done.stderr
    assert similarity.calls == [
        *VECTORS,
        "fairseq-xl vectors join",
        *["fairseq-xl match prepare"] * 2,
        *SHALLOW,
        *FOLD,
        "fairseq-xl match folds",
    ]
    (ready / "p.tsv").write_text("a\tb\t1\n")
    both = ["--corpus", f"en={ready}/en", "--corpus", f"fr={ready}/fr", *vectors, "--text", f"fr={ready}/more.en"]
    done = similarity(*both, "--prepare-only", "--paraphrases", f"{ready}/p.tsv", "--supplement-with", "fr")
    assert done.returncode == 0, done.stderr
    assert not any(call in similarity.calls for call in LINES)
    last = similarity.calls_file.read_text().splitlines()[-1]
    assert re.findall(r"/fr/(\w+)\.tsv", last.partition("--supplement")[2]) == ["train", "validation"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--languages", "en", "--corpus", "de={ready}/en"], "--corpus is 'de={ready}/en': begin with one of en"),
        (["--corpus", "fr={ready}/absent"], "there is no table of pairs, {ready}/absent/train.tsv"),
        (["--corpus", "fr={ready}/fr", "--corpus", "fr={ready}/en"], "--corpus names fr twice"),
        (["--corpus", "fr={ready}/fr", "--partition", "fr.a=x"], "no language is left for --base or --partition"),
        (["--corpus", "fr={ready}/a,b"], "--corpus is '{ready}/a,b': name a folder without : , *"),
        (["--corpus", "en={ready}/en"], "--base is missing"),
        ([*BASE, "--corpus", "fr={ready}/fr"], "no language is left for --base or --partition"),
        (["--corpus", "fr={ready}/fr", "--set", "crawl.delay=1"], "'crawl.delay=1' is a setting of making corpora"),
        (["--corpus", "fr={ready}/fr"], "there is no text for word vectors of en: give --text en=FILE"),
        ([*BASE, "--corpus", "es={ready}/fr", "--languages", "en fr es"], "there is no text for word vectors of es"),
    ],
)
def test_corpora_that_cannot_be(similarity, ready, options, said):
    done = similarity(*(word.replace("{ready}", str(ready)) for word in options))
    assert done.returncode == 2
    assert said.replace("{ready}", str(ready)) in done.stderr
    assert similarity.calls == []


def test_sets_of_other_sizes_train_for_other_times(similarity):
    done = similarity(*BASE, "--languages", "en fr es", "--folds", "0", "--epochs", 3, "--epochs-for", "es:20")
    assert done.returncode == 0, done.stderr
    trained = [line for line in similarity.calls_file.read_text().splitlines() if line.startswith("fairseq-train")]
    assert [line.split("--max-epoch ")[1].split()[0] for line in trained] == ["3", "20", "3"]


def test_graded_similarities_of_one_language_and_across(similarity, tmp_path):
    (tmp_path / "s.csv").write_text("a,b,3.5\n")
    one = [*BASE, "--folds", "0 1", "--sts", f"en={tmp_path}/s.csv,score=3"]
    assert similarity(*one).returncode == 0
    said = similarity.arguments("fairseq-xl match similarity")
    assert f"{tmp_path}/s.csv,score=3,languages=en+en" in said
    assert "--across" not in said
    assert len([word for word in said if word.endswith("checkpoint_best.pt")]) == 2
    assert similarity(*one, "--sts", f"fr={tmp_path}/s.csv,score=3").returncode == 0
    assert similarity.calls == ["fairseq-xl match similarity"]  # nothing is trained again
    assert "--across" in similarity.arguments("fairseq-xl match similarity")
    shutil.rmtree(similarity.out / "tables")
    similarity(*one, "--sts", f"fr={tmp_path}/s.csv,score=3")
    assert similarity.calls.count("fairseq-xl match similarity") == 1


def test_graded_similarities_are_asked_of_models_that_know_the_language(similarity, tmp_path):
    (tmp_path / "s.csv").write_text("a,b,3.5\n")
    graded = [word for code in ("fr", "es") for word in ("--sts", f"{code}={tmp_path}/s.csv,score=3")]
    done = similarity(*BASE, "--languages", "en fr es", "--folds", "0", *graded)
    assert done.returncode == 0, done.stderr
    calls = [line for line in similarity.calls_file.read_text().splitlines() if "match similarity" in line]
    asked = {line.split("--name ")[1].split()[0]: re.findall(r"languages=(\S+)", line) for line in calls}
    assert asked == {"fr": ["fr+fr"], "es": ["es+es"], "joint": ["fr+fr", "es+es"]}


def test_a_training_that_was_killed_goes_on(similarity):
    options = [*BASE, "--folds", "0"]
    assert similarity(*options, KILL_AT="fairseq-train").returncode != 0
    assert similarity(*options).returncode == 0
    assert similarity.calls == [*FOLD, "fairseq-xl match folds"]


def test_all_folds_that_the_corpora_have(similarity):
    done = similarity(*BASE, "--set", "negatives.folds=3", "--dry-run")
    assert done.returncode == 0, done.stderr
    trained = [line.split() for line in done.stdout.splitlines() if line.startswith("fairseq-train")]
    assert [words[words.index("--fold") + 1] for words in trained] == ["0", "1", "2"]


def test_other_settings_begin_anew(similarity, begins_anew):
    checkpoints = "runs/fr.infersent.seed1.fold0/checkpoints"
    begins_anew(similarity, checkpoints, [*BASE, "--folds", "0"], ["--set", "align.distance=0.7"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--base is missing"),
        ([*BASE, "--languages", "en"], "--languages is 'en': give two codes or more"),
        ([*BASE, "--set-for", "de:crawl.delay=1"], "--set-for is 'de:crawl.delay=1': begin with one of en fr"),
        (
            [*BASE, "--set", "negatives.folds=a[$(touch x)]"],
            "--set negatives.folds is 'a[$(touch x)]': give a whole number",
        ),
        ([*BASE, "--folds", "0 10"], "--folds has 10, and the corpora have folds 0 to 9"),
        ([*BASE, "--set-for", "fr:negatives.folds=5"], "all corpora have the same number of folds; give --set"),
        ([*BASE, "--text", "fr={absent}"], "there is no text {absent}"),
        ([*BASE, "--paraphrases", "{absent},left=1"], "there is no file of paraphrases, {absent}"),
        ([*BASE, "--sts", "s.csv,score=3"], "--sts is 's.csv,score=3': begin with one of en fr"),
        ([*BASE, "--sts", "en={absent},score=3"], "there is no file of graded similarities, {absent}"),
        ([*BASE, "--epochs-for", "de:3"], "--epochs-for is 'de:3': begin with one of fr joint and ':'"),
        ([*BASE, "--epochs-for", "joint:3", "--sets", "fr"], "--epochs-for names joint, which --sets leaves out"),
        ([*BASE, "--dictionary", f"en={__file__}"], "it translates another language's words into en, the first"),
        ([*BASE, "--epochs-for", "fr:x"], "--epochs-for is 'x': give a whole number"),
        ([*BASE, "--folds", "a"], "--folds is 'a': give a whole number"),
        ([*BASE, "--vectors", "de=x"], "--vectors is 'de=x': begin with one of en fr"),
        ([*BASE, "--one-space"], "--one-space needs --vectors of every language: en has none"),
        ([*BASE, "--refine", "-1"], "--refine is '-1': give a whole number"),
        ([*BASE, "--rate", "warm"], "--rate is 'warm'"),
        ([*BASE, "--choose-on", "test"], "--choose-on is 'test'"),
        ([*BASE, "--paraphrase-test", "{absent}"], "--paraphrase-test needs --paraphrases"),
        ([*BASE, "--transfer-from", "es"], "--transfer-from has 'es': choose from fr"),
        ([*BASE, "--transfer-from", "fr"], "--transfer-from needs --paraphrases"),
        ([*BASE, "--paraphrase-epochs", "3"], "--paraphrase-epochs needs --paraphrases"),
        (
            [*BASE, "--one-space", "--refine", "0", "--vectors", f"en={__file__}", "--vectors", f"fr={__file__}"],
            "which --one-space leaves as they are",
        ),
        (
            [*BASE, "--text", f"fr={__file__}", "--vectors", f"fr={__file__}"],
            "--text fr=FILE has no effect beside --vectors fr=FILE",
        ),
        ([*BASE, "--supplement-with", "fr"], "--supplement-with needs --paraphrases"),
        (["--partition", "fr=x"], "--partition is 'fr=x': write LANG.DOMAIN=URL with one of fr"),
        (["--partition", "en.bank=x"], "--partition is 'en.bank=x': write LANG.DOMAIN=URL with one of fr"),
        (["--partition", "fr.a/b=x"], "--partition is 'fr.a/b=x'"),
        ([*BASE, "--partition", "fr.bank=x"], "--base and --partition exclude each other"),
        (["--partition", "fr.bank=x", "--languages", "en fr es"], "--partition names no site of es"),
        (["--partition", "fr.bank=x", "--sets", "fr"], "--sets has 'fr': choose from fr.bank joint"),
        ([*BASE, "--colour", "red"], "has no option '--colour'"),
    ],
)
def test_mistakes(similarity, options, said, tmp_path):
    *options, said = (str(word).replace("{absent}", f"{tmp_path}/absent") for word in (*options, said))
    done = similarity(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert similarity.calls == []


def test_sentence_encoders_have_runs_of_their_own_and_sets_are_chosen(similarity):
    options = [*BASE, "--languages", "en fr es", "--folds", "0"]
    assert similarity(*options).returncode == 0
    done = similarity(*options, "--sentence-encoder", "conv", "--sets", "fr")
    assert done.returncode == 0, done.stderr
    assert similarity.calls == [
        "fairseq-train --user-dir",
        *["fairseq-xl match predict"] * 3,
        *["fairseq-xl match folds"] * 2,
    ]
    trained = " ".join(similarity.arguments("fairseq-train"))
    assert trained.endswith("--fold 0 --valid-fold 1 --seed 1 --reader conv")
    assert "runs/fr.infersent.conv.seed1.fold0/checkpoints" in trained
    assert "/tables/infersent.conv.seed1.test-fr.md" in " ".join(similarity.arguments("fairseq-xl match folds"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--sentence-encoder", "conv", "--system", "siamese_lstm"],
            "--sentence-encoder is for infersent, not siamese_lstm",
        ),
        (["--sets", "fr de"], "--sets has 'de': choose from fr joint"),
        (
            ["--paraphrases", "p.tsv", "--supplement-with", "fr de"],
            "--supplement-with has 'de': choose from fr joint",
        ),
    ],
)
def test_a_sentence_encoder_or_a_set_that_cannot_be(similarity, options, message):
    done = similarity(*BASE, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert similarity.calls == []


def test_the_users_encoder_of_negatives_counts(similarity):
    similarity(*BASE, "--folds", "0", "--set", "negatives.encoder=transformers:mine")
    words = similarity.arguments("fairseq-xl corpus run")
    encoders = [word for word in words if word.startswith("negatives.encoder=")]
    assert encoders[-1] == "negatives.encoder=transformers:mine"


def test_a_large_dictionary_is_used_as_it_is(similarity, tmp_path):
    (tmp_path / "fr-en.tsv").write_text("chat\tcat\n")
    similarity(*BASE, "--prepare-only", "--dictionary", f"fr={tmp_path}/fr-en.tsv", "--refine", "0")
    words = " ".join(similarity.arguments("fairseq-xl vectors align"))
    assert f"--dictionary {tmp_path}/fr-en.tsv --rounds 0" in words


def test_dictionaries_are_refined_unless_told_otherwise(similarity):
    similarity(*BASE, "--prepare-only")
    assert "--identical --rounds 5" in " ".join(similarity.arguments("fairseq-xl vectors align"))


def test_runs_say_where_the_learning_rate_is_not_the_recipes(similarity):
    similarity(*BASE, "--folds", "0")
    similarity(*BASE, "--folds", "0", "--rate", "halving")
    assert {run.name for run in (similarity.out / "runs").iterdir() if "fold" in run.name} == {
        "fr.infersent.seed1.fold0",
        "fr.infersent.halving.seed1.fold0",
    }


def test_ready_vectors_are_turned_or_left_as_they_are(similarity, tmp_path):
    for code in ("en", "fr"):
        (tmp_path / f"{code}.vec").write_text("1 1\na 1\n")
    one = ["--vectors", f"fr={tmp_path}/fr.vec"]
    done = similarity(*BASE, "--prepare-only", *one)
    assert done.returncode == 0, done.stderr
    assert similarity.calls == [
        *LINES,
        *VECTORS,
        "fairseq-xl vectors convert",
        "fairseq-xl corpus run",
        *JOINED,
        *["fairseq-xl match prepare"] * 2,
    ]
    similarity(*BASE, "--prepare-only", *one, "--vectors", f"en={tmp_path}/en.vec", "--one-space")
    assert "fairseq-xl vectors align" not in similarity.calls
    joined = " ".join(similarity.arguments("fairseq-xl vectors join"))
    assert f"en={similarity.out}/vectors/en.vec fr={similarity.out}/vectors/fr.vec" in joined


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], "--clip-norm 5 --arch"),
        (["--rate", "halving"], "--lr-scheduler halving --arch"),
        (["--rate", "once"], "--lr-scheduler halving --halve-for 1 --arch"),
        (["--choose-on", "same"], "--fold 9 --seed"),
        (["--set", "negatives.folds=10"], "--fold 9 --valid-fold 0 --seed"),
    ],
)
def test_how_a_fold_is_trained(similarity, options, given):
    done = similarity(*BASE, "--folds", "9", *options)
    assert done.returncode == 0, done.stderr
    assert given in " ".join(similarity.arguments("fairseq-train"))


def test_paraphrases_with_a_test_part_from_the_best_models(similarity, tmp_path):
    for name in ("p", "t"):
        (tmp_path / f"{name}.tsv").write_text("a\tb\t1\n")
    parts = ["--paraphrases", f"{tmp_path}/p.tsv", "--paraphrase-test", f"{tmp_path}/t.tsv"]
    options = [*BASE, "--languages", "en fr es", "--folds", "0 1", *parts, "--transfer-from", "fr joint"]
    done = similarity(*options)
    assert done.returncode == 0, done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    (prepared,) = (line for line in calls if "match prepare" in line and line.split()[4].endswith("/paraphrases"))
    assert f"{tmp_path}/t.tsv,languages=en+en,split=test" in prepared
    assert prepared.endswith("--leaks nothing")
    (joint,) = (line for line in calls if "match prepare" in line and line.split()[4].endswith("/joint"))
    assert f"{tmp_path}/t.tsv" in joint
    trained = [line for line in calls if line.startswith("fairseq-train") and "/prepared/paraphrases" in line]
    assert len(trained) == 15
    assert all("--disable-validation" in line and "--fold" not in line for line in trained)
    started = [line.partition("--finetune-from-model ")[2] for line in trained]
    best = [
        f"{similarity.out}/runs/{name}.infersent.seed1.fold1/checkpoints/checkpoint_best.pt" for name in ("fr", "joint")
    ]
    assert started == [""] * 5 + [best[0]] * 5 + [best[1]] * 5
    (table,) = (line for line in calls if line.endswith("infersent.seed1.paraphrases.md"))
    assert table.count("/test.json") == 15
    assert "--against scratch" in table
    similarity(*options)
    assert similarity.calls == []
    for gone in ("runs", "tables", "shallow", "prepared/paraphrases"):
        before = {path for path in similarity.out.rglob("*") if path.is_file()}
        shutil.rmtree(similarity.out / gone)
        done = similarity(*options)
        assert done.returncode == 0, done.stderr
        assert {path for path in similarity.out.rglob("*") if path.is_file()} == before


def test_paraphrases_supplemented_with_corpora(similarity, tmp_path):
    (tmp_path / "p.tsv").write_text("a\tb\t1\n")
    options = [*BASE, "--languages", "en fr es", "--folds", "0", "--sets", "fr", "--paraphrases", f"{tmp_path}/p.tsv"]
    assert similarity(*options).returncode == 0
    done = similarity(*options, "--supplement-with", "es joint")
    assert done.returncode == 0, done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    assert similarity.calls == [
        *["fairseq-xl match prepare"] * 2,
        *["fairseq-train --user-dir", "fairseq-xl match predict"] * 10,
        "fairseq-xl match folds",
    ]  # nothing that was there before is made again
    folder = f"{similarity.out}/prepared/paraphrases.with"
    assert [line.split()[4] for line in calls[:2]] == [f"{folder}-es", f"{folder}-joint"]
    sources, supplements = zip(*(line.split(" --supplement ") for line in calls[:2]), strict=True)
    assert all(line.endswith("--folds 5 --together components") for line in sources)
    assert all("/corpus/" not in line for line in sources)
    languages = [re.findall(r"/corpus/en-(..)/export/(\w+)\.tsv", line) for line in supplements]
    parts = [("es", "train"), ("es", "validation")]
    assert languages == [parts, [("fr", "train"), ("fr", "validation"), *parts]]
    assert "fold=" not in "".join(supplements)
    trained = [line for line in calls if line.startswith("fairseq-train")]
    assert [line.split("--fold ")[1].split()[0] for line in trained] == list("01234") * 2
    assert all("--finetune-from-model" not in line for line in trained)
    assert all(f" {folder}-joint " in line for line in trained[5:])
    assert all("--split fold --name supplemented with joint" in line for line in calls[-10:-1:2])
    table = calls[-1]
    assert [table.count(f"/runs/paraphrases.{name}.infersent.") for name in ("scratch", "with-es", "with-joint")] == [
        5
    ] * 3
    assert table.count("/runs/paraphrases.from-fr.infersent.seed1.fold") == 5


def test_paraphrases_supplemented_and_a_test_part(similarity, tmp_path):
    for name in ("p", "t"):
        (tmp_path / f"{name}.tsv").write_text("a\tb\t1\n")
    parts = ["--paraphrases", f"{tmp_path}/p.tsv", "--paraphrase-test", f"{tmp_path}/t.tsv"]
    done = similarity(*BASE, "--folds", "0", *parts, "--supplement-with", "fr")
    assert done.returncode == 0, done.stderr
    calls = similarity.calls_file.read_text().splitlines()
    (prepared,) = (line for line in calls if "match prepare" in line and "/paraphrases.with-fr " in line)
    assert f"{tmp_path}/t.tsv,languages=en+en,split=test" in prepared
    assert "--leaks nothing --supplement " in prepared
    trained = [line for line in calls if line.startswith("fairseq-train") and "/prepared/paraphrases.with-fr" in line]
    assert len(trained) == 5
    assert all("--disable-validation" in line and "--fold" not in line for line in trained)
    assert calls[-1].count("/runs/paraphrases.with-fr.infersent.seed") == 5
    assert calls[-1].count("/test.json") == 15
