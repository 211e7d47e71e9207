"""recipes/sentiment.sh and emoji.sh with stand-ins for what they call."""

from __future__ import annotations

import shutil

import pytest

DONE = [
    *("fairseq-xl classify prepare", "fairseq-xl classify statistics"),
    *("fairseq-train --user-dir", "fairseq-xl classify predict"),
]


@pytest.fixture
def sentiment(recipe):
    return recipe("sentiment.sh")


@pytest.fixture
def data(tmp_path):
    """Empty files where the sentiment sets have theirs."""
    folder = tmp_path / "data"
    names = ["telugu_actsa/train.txt", "tweeteval/val_text.txt", "hindi_reviews/train.pos.txt"]
    names += [f"umsab/{language}/train_text.txt" for language in ("english", "spanish")]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


def test_from_text_to_a_record_and_not_again(sentiment, data):
    done = sentiment("--data", data, "--low-resource", "te", "--system", "siamese", "--seed", 4)
    assert done.returncode == 0, done.stderr
    assert sentiment.calls == DONE
    assert (sentiment.out / "runs/te-en.siamese.seed4/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-train"))
    assert "--pairs low-high+low-low --seed 4 --max-update 2000" in words
    sentiment("--data", data, "--low-resource", "te", "--seed", 4)
    assert sentiment.calls == []
    sentiment("--data", data, "--low-resource", "te", "--seed", 5)
    assert sentiment.calls == DONE[2:]
    (data / "telugu_actsa/train.txt").write_text("y\n")
    sentiment("--data", data, "--low-resource", "te", "--seed", 4)
    assert sentiment.calls == DONE


@pytest.mark.parametrize(("where", "again"), [("fairseq-train", DONE[2:]), ("classify predict", DONE[3:])])
def test_a_killed_run_goes_on(sentiment, data, where, again):
    assert sentiment("--data", data, "--low-resource", "te", KILL_AT=where).returncode != 0
    assert sentiment("--data", data, "--low-resource", "te").returncode == 0
    assert sentiment.calls == again


def test_other_settings_begin_anew(sentiment, data, begins_anew):
    begins_anew(
        sentiment, "runs/te-en.siamese.seed1/checkpoints", ["--data", data, "--low-resource", "te"], ["--updates", "9"]
    )


def test_systems_share_a_split_and_differ_in_pairs(sentiment, data):
    sentiment("--data", data, "--low-resource", "es", "--system", "siamese-mono")
    mono = sentiment.arguments("fairseq-train")
    assert "--pairs low-low" in " ".join(mono)
    sentiment("--data", data, "--low-resource", "es", "--system", "siamese")
    assert sentiment.arguments("fairseq-train")[1] == mono[1]
    sentiment("--data", data, "--low-resource", "es", "--system", "mnb-h")
    assert sentiment.calls == ["fairseq-xl classify baseline"]
    assert sentiment.arguments("fairseq-xl classify baseline")[4] == mono[1]


def test_the_papers_configuration_has_its_own_ngrams(sentiment, data):
    sentiment("--data", data, "--low-resource", "es", "--system", "paper")
    assert " ".join(sentiment.arguments("fairseq-xl classify prepare")).endswith("--ngrams 3")
    words = " ".join(sentiment.arguments("fairseq-train"))
    assert "--pooling last" in words
    assert "--pairs low-high " in words


def test_morphemes_have_data_and_a_name_of_their_own(sentiment, data):
    sentiment("--data", data, "--low-resource", "te", "--system", "paper", "--morphemes", "yes")
    assert "--ngrams 3 --morphemes low" in " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert sentiment.arguments("fairseq-train")[1].endswith("/data/te-en.paper.morphemes")
    predict = " ".join(sentiment.arguments("fairseq-xl classify predict"))
    assert "--name SSC(te-en), the paper's, morphemes --output" in predict
    for options in (["--system", "paper"], ["--system", "svm", "--morphemes", "yes"]):  # a baseline reads the text
        sentiment("--data", data, "--low-resource", "te", *options)
        assert "--morphemes" not in sentiment.arguments("fairseq-xl classify prepare")
    assert (sentiment.out / "runs/te-en.svm.seed1/record.json").exists()


def test_a_pretrained_encoder_goes_on_more_slowly(sentiment, data):
    options = ("--data", data, "--low-resource", "es", "--pretrain", 50)
    assert sentiment(*options).returncode == 0
    first, second = (line for line in sentiment.calls_file.read_text().splitlines() if "fairseq-train" in line)
    run = sentiment.out / "runs" / "es-en.siamese.pretrained.seed1"
    for words in ("--pairs high-high ", "--max-update 50 ", f"--save-dir {run}/pretrained"):
        assert words in first
    assert f"--pairs low-high+low-low --finetune-from-model {run}/pretrained/checkpoint_best.pt --lr 0.0005 " in second
    assert "--name SSC(es-en), pretrained --output" in " ".join(sentiment.arguments("fairseq-xl classify predict"))
    sentiment(*options)
    assert sentiment.calls == []
    for system in ("siamese-mono", "svm"):
        assert sentiment(*options, "--system", system).returncode == 0
        assert ".pretrained." not in sentiment.calls_file.read_text()


def test_without_a_high_resource_language_its_size_says_nothing(sentiment, data):
    done = sentiment("--data", data, "--low-resource", "es", "--high-resource", "none", "--high-resource-size", 9)
    assert done.returncode == 0, done.stderr
    assert "--high-resource-size" not in sentiment.arguments("fairseq-xl classify prepare")
    assert [path.name for path in (sentiment.out / "runs").iterdir()] == ["es-none.siamese.seed1"]


def test_bilingual_vectors_are_for_encoders(sentiment, data, tmp_path):
    for side in ("low", "high"):
        (tmp_path / f"{side}.vec").write_text("x 1\n")
    options = ["--data", data, "--low-resource", "es", "--low-vectors", tmp_path / "low.vec"]
    options += ["--high-vectors", tmp_path / "high.vec"]
    for how, name, label in (
        ([], "vectors", "SSC(es-en), bilingual vectors"),
        (["--high-words", "shuffled"], "vectors.shuffled", "SSC(es-en), bilingual vectors shuffled"),
    ):
        done = sentiment(*options, *how)
        assert done.returncode == 0, done.stderr
        words = " ".join(sentiment.arguments("fairseq-xl classify prepare"))
        assert f"--vectors {tmp_path}/low.vec {tmp_path}/high.vec" in words
        assert ("--shuffle-vectors" in words) == bool(how)
        assert "--shuffle-lexicon" not in words
        assert sentiment.arguments("fairseq-train")[1].endswith(f"/data/es-en.best.{name}")
        assert " ".join(sentiment.arguments("fairseq-train")).index("--embed-dim 64") < " ".join(
            sentiment.arguments("fairseq-train")
        ).index("--embed-dim 0")
        assert f"--name {label} --output" in " ".join(sentiment.arguments("fairseq-xl classify predict"))
        assert (sentiment.out / f"runs/es-en.siamese.{name}.seed1/record.json").exists()
    (tmp_path / "low.vec").write_text("x 2\n")
    sentiment(*options)
    assert "fairseq-xl classify prepare" in sentiment.calls, "other vectors"
    for others in (["--high-words", "original"], ["--system", "svm", "--low-resource-size", 9]):
        sentiment(*options, *others)
        assert "--vectors" not in sentiment.arguments("fairseq-xl classify prepare")


def test_the_control_shuffles(sentiment, data):
    sentiment("--data", data, "--low-resource", "es", "--system", "siamese-control", "--low-resource-size", 9)
    assert "--low-resource-size 9 --shuffle-high-resource" in " ".join(
        sentiment.arguments("fairseq-xl classify prepare")
    )
    assert (sentiment.out / "runs/es-en.siamese-control.9.seed1/record.json").exists()


def test_hindi_reviews_have_two_classes(sentiment, data):
    sentiment("--data", data, "--low-resource", "hi")
    words = " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert "--classes negative positive --others drop" in words
    assert "rt-polarity.pos,label=positive" in words


def test_own_files_for_any_pair_and_monolingual(sentiment):
    sentiment(
        "--low-resource", "xx", "--high-resource", "none", "--low-resource-source", "x.tsv", "--system", "siamese"
    )
    words = " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert "--low-resource x.tsv --languages xx --ngrams" in words
    assert "--pairs" not in sentiment.arguments("fairseq-train")


def test_the_whole_of_the_high_resource_text_is_for_training(sentiment, data):
    sentiment("--data", data, "--low-resource", "es")
    words = sentiment.arguments("fairseq-xl classify prepare")
    high = words[words.index("--high-resource") :]
    assert not any("split=test" in word for word in high)
    assert any("split=test" in word for word in words[: words.index("--high-resource")])


def test_without_data_it_downloads(sentiment):
    assert sentiment("--low-resource", "te").returncode == 0
    assert sentiment.calls.count("fairseq-xl data fetch") == 7
    assert sentiment("--low-resource", "hi-latn").returncode == 0
    assert sentiment.calls.count("fairseq-xl data fetch") == 4  # English is there


@pytest.mark.parametrize(("own", "fetched"), [("--low-resource-source", 6), ("--high-resource-source", 1)])
def test_what_one_does_not_give_is_downloaded(sentiment, tmp_path, own, fetched):
    (tmp_path / "own.tsv").write_text("x\n")
    done = sentiment("--low-resource", "te", own, tmp_path / "own.tsv")
    assert done.returncode == 0, done.stderr
    assert sentiment.calls.count("fairseq-xl data fetch") == fetched


def test_pairs_without_labels(sentiment, data, tmp_path):
    for side in ("high", "low"):
        (tmp_path / side).write_text("x\n")
    done = sentiment("--data", data, "--low-resource", "te", "--unlabelled", tmp_path / "high", tmp_path / "low")
    assert done.returncode == 0, done.stderr
    assert sentiment.calls == [*DONE, "fairseq-xl classify label", *DONE]
    calls = [line for line in sentiment.calls_file.read_text().splitlines() if "classify prepare" in line]
    teacher, pupil = calls
    low = f"{data}/telugu_actsa/train.txt,format=spaces,classes="
    assert f"--languages en --class-source {low}" in teacher
    assert f"--class-source {low}" in pupil
    assert "--others drop" in teacher, "English may have classes that the other language has not"
    assert "unlabelled/low.tsv " in pupil
    assert "signs.tsv,split=test --languages te en --high-resource" in pupil
    assert (sentiment.out / "runs/te-en.siamese.unlabelled.seed1/record.json").exists()
    # What the teacher's own rule says counts, not that of the pupil's preset.
    assert "--rule" not in sentiment.arguments("fairseq-xl classify label")


def test_what_was_removed_is_made_again(sentiment, data, tmp_path):
    for side in ("high", "low"):
        (tmp_path / side).write_text("x\n")
    options = ("--data", data, "--low-resource", "te", "--unlabelled", tmp_path / "high", tmp_path / "low")
    assert sentiment(*options).returncode == 0
    for gone, again in (
        ("runs", DONE[2:]),
        ("teacher/runs", DONE[2:]),
        ("unlabelled", ["fairseq-xl classify label"]),
    ):
        shutil.rmtree(sentiment.out / gone)
        done = sentiment(*options)
        assert done.returncode == 0, done.stderr
        assert sentiment.calls == again
    assert sentiment(*options).returncode == 0
    assert sentiment.calls == []


def test_the_teacher_of_pairs_without_labels_reads_its_own_language(sentiment, data, tmp_path):
    for name in ("high", "low", "words.tsv"):
        (tmp_path / name).write_text("x\ty\n")
    options = ("--data", data, "--low-resource", "te", "--lexicon", f"en={tmp_path}/words.tsv")
    done = sentiment(*options, "--unlabelled", tmp_path / "high", tmp_path / "low")
    assert done.returncode == 0, done.stderr
    calls = [line for line in sentiment.calls_file.read_text().splitlines() if "classify prepare" in line]
    assert [",lexicon=" in call for call in calls] == [False, True]


def test_pairs_without_labels_and_sources_of_ones_own(sentiment, data, tmp_path):
    for name in ("high", "low", "own"):
        (tmp_path / name).write_text("x\n")
    own = f"{tmp_path}/own,split=train,encoding=cp1252"
    options = ("--data", data, "--low-resource", "xx", "--low-resource-source", own)
    done = sentiment(*options, "--unlabelled", tmp_path / "high", tmp_path / "low")
    assert done.returncode == 0, done.stderr
    calls = [line for line in sentiment.calls_file.read_text().splitlines() if "classify prepare" in line]
    assert f"{tmp_path}/own,encoding=cp1252,split=test --languages" in calls[1]


def test_sizes_have_runs_and_labels_of_their_own(sentiment, data):
    options = ("--data", data, "--low-resource", "te")
    sentiment(*options, "--high-resource-size", 100)
    assert (sentiment.out / "runs/te-en.siamese.high100.seed1/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-xl classify predict"))
    assert "--name SSC(te-en), 100 sentences of en --output" in words
    sentiment(*options, "--high-resource-size", 100, "--low-resource-size", 50)
    assert (sentiment.out / "runs/te-en.siamese.50.high100.seed1/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-xl classify predict"))
    assert "--name SSC(te-en), 100 sentences of en, 50 sentences --output" in words
    assert words.endswith("--curve SSC(te-en), 100 sentences of en 50")
    sentiment(*options)
    assert "--name SSC(te-en) --output" in " ".join(sentiment.arguments("fairseq-xl classify predict"))


def test_a_dry_run_does_nothing(sentiment, data):
    done = sentiment("--data", data, "--low-resource", "te", "--dry-run")
    assert done.returncode == 0
    assert "fairseq-train" in done.stdout
    assert sentiment.calls == []
    assert not sentiment.out.exists()


def test_emoji(recipe, tmp_path):
    emoji = recipe("emoji.sh")
    (tmp_path / "data").mkdir()
    assert emoji("--data", tmp_path / "data", "--low-resource", "es", "--classes", 10).returncode == 0
    words = " ".join(emoji.arguments("fairseq-xl classify prepare"))
    assert words.endswith("--others drop --shared --most-frequent 10")
    emoji("--data", tmp_path / "data", "--low-resource", "es", "--classes", "all")
    assert emoji.calls == DONE
    assert "--most-frequent" not in emoji.arguments("fairseq-xl classify prepare")
    emoji("--data", tmp_path / "data", "--low-resource", "es", "--system", "paper")
    assert "--pairs high-low " in " ".join(emoji.arguments("fairseq-train")), "section 4.3 of the paper"
    done = emoji("--data", tmp_path / "data", "--low-resource", "es", "--classes", 0)
    assert done.returncode == 2
    assert "--classes is '0': give a number from 2, or all" in done.stderr


def test_a_teacher_of_emoji_has_the_low_resource_languages_classes(recipe, tmp_path):
    emoji = recipe("emoji.sh")
    (tmp_path / "data").mkdir()
    for side in ("high", "low"):
        (tmp_path / side).write_text("x\n")
    options = ("--data", tmp_path / "data", "--low-resource", "es", "--classes", 10)
    done = emoji(*options, "--unlabelled", tmp_path / "high", tmp_path / "low")
    assert done.returncode == 0, done.stderr
    calls = [line for line in emoji.calls_file.read_text().splitlines() if "classify prepare" in line]
    for call in calls:
        assert f"--class-source {tmp_path}/data/semeval2018_es/train.text," in call
        assert call.endswith("--others drop --shared --most-frequent 10")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--low-resource is missing"),
        (("--low-resource", "te", "--system", "magic"), "--system is 'magic': choose one of siamese"),
        (("--low-resource", "te", "--system", "mono"), "--system is 'mono': choose one of siamese"),
        (("--low-resource", "te", "--seed", "x"), "--seed is 'x'"),
        (("--low-resource", "te", "--split", "dev"), "--split is 'dev'"),
        (("--low-resource", "te", "--data", "nowhere"), "nowhere is no folder"),
        (("--low-resource", "xx"), "there is no sentiment text for 'xx'"),
        (("--low-resource", "te", "--colour", "red"), "has no option '--colour'"),
        (
            ["--out", "x", "--low-resource", "en", "--pretrain", "9"],
            "--pretrain trains on a high-resource language first",
        ),
    ],
)
def test_mistakes(sentiment, options, said):
    done = sentiment(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert sentiment.calls == []


def test_several_languages_lend_their_labels(sentiment, data):
    done = sentiment("--data", data, "--low-resource", "te", "--high-resource", "en", "--high-resource", "es")
    assert done.returncode == 0, done.stderr
    words = sentiment.arguments("fairseq-xl classify prepare")
    assert words[words.index("--languages") + 1 :][:2] == ["te", "en+es"]
    high = words[words.index("--high-resource") :]
    assert [sum(name in word for word in high) for name in ("umsab/english", "umsab/spanish", "tweeteval")] == [2, 2, 1]
    assert (sentiment.out / "runs/te-en+es.siamese.seed1/record.json").exists()


def test_high_resource_words_are_translated_shuffled_or_left(sentiment, data, tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\n")
    options = ["--data", data, "--low-resource", "te", "--lexicon", f"en={tmp_path}/x.tsv"]
    for how, lexicon, shuffled in (("translated", True, False), ("shuffled", True, True), ("original", False, False)):
        done = sentiment(*options, "--high-words", how, "--prepare-only")
        assert done.returncode == 0, done.stderr
        words = sentiment.arguments("fairseq-xl classify prepare")
        high = words[words.index("--high-resource") : words.index("--high-resource") + 4]
        assert [word.endswith(f",lexicon={tmp_path}/x.tsv") for word in high[1:]] == [lexicon] * 3
        assert ("--shuffle-lexicon" in words) == shuffled
    (tmp_path / "x.tsv").write_text("a\tc\n")
    sentiment(*options, "--prepare-only")
    assert "fairseq-xl classify prepare" in sentiment.calls, "another lexicon"


def test_a_baseline_gets_the_options_that_it_reads(sentiment, data, tmp_path):
    (tmp_path / "more").write_text("x\n")
    more, trees = f"{tmp_path}/more", f"{tmp_path}/trees"
    (tmp_path / "trees").write_text("(x)\n")
    options = ["--data", data, "--low-resource", "te", "--more-text", more, "--model", "small", "--parses", trees]
    text = ["--more-text", more]
    reads = {"asv": text, "dsc-t": text, "st": ["--model", "small"], "mv-rnn": ["--parses", trees], "svm": []}
    for system, given in reads.items():
        assert sentiment(*options, "--system", system).returncode == 0
        words = sentiment.arguments("fairseq-xl classify baseline")
        assert [word for word in words if word in options[4:]] == given


def test_runs_whose_records_differ_have_names_of_their_own(sentiment, data):
    options = ["--data", data, "--low-resource", "te", "--high-resource", "none"]
    for more in ([], ["--class-bias", "yes"], ["--split", "valid"], ["--system", "st", "--model", "a/B c"]):
        assert sentiment(*options, *more).returncode == 0
    assert sorted(path.name for path in (sentiment.out / "runs").iterdir()) == [
        "te-none.siamese.bias.seed1",
        "te-none.siamese.seed1",
        "te-none.siamese.valid.seed1",
        "te-none.st.a_B_c.seed1",
    ]
    done = sentiment(*options, "--system", "svm", "--class-bias", "yes", "--pretrain", 5)
    assert "--pretrain has no effect on svm\n--class-bias has no effect on svm\n" in done.stderr


def test_baselines_that_are_lent_labels_and_draws_by_seed(sentiment, data):
    options = ["--data", data, "--low-resource", "te", "--system", "svm", "--low-resource-size", 100]
    sentiment(*options, "--with-high-resource", "yes", "--draws", "seed", "--seed", 3)
    assert "--with-high-resource" in sentiment.arguments("fairseq-xl classify baseline")
    words = sentiment.arguments("fairseq-xl classify prepare")
    assert words[words.index("--seed") + 1] == "3"
    sentiment(*options, "--draws", "seed", "--seed", 3)
    assert sentiment.calls == ["fairseq-xl classify baseline"]
    assert "--with-high-resource" not in sentiment.arguments("fairseq-xl classify baseline")
    sentiment(*options, "--seed", 3)
    assert sorted(path.name for path in (sentiment.out / "runs").iterdir()) == [
        "te-en.svm.100.draw.seed3",
        "te-en.svm.100.draw.with-high.seed3",
        "te-en.svm.100.seed3",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--lexicon", "de=x"], "there is no lexicon, x"),
        (["--lexicon", "en"], "--lexicon is 'en': give LANGUAGE=FILE"),
        (["--lexicon", "de={here}"], "--lexicon is 'de={here}': begin with one of en"),
        (["--high-words", "shuffled"], "--high-words shuffled needs --lexicon or --high-vectors"),
        (["--low-vectors", "{here}"], "--low-vectors needs a high-resource language and its --high-vectors"),
        (["--high-vectors", "{here}"], "--low-vectors is missing"),
        (
            ["--low-vectors", "{here}", "--high-vectors", "{here}", "--lexicon", "en={here}"],
            "--lexicon and --high-vectors exclude each other",
        ),
        (
            ["--low-vectors", "{here}", "--high-vectors", "{here}", "--system", "svm", "--high-words", "shuffled"],
            "--high-words shuffled needs --lexicon: svm reads no vectors",
        ),
        (["--low-vectors", "{here}", "--high-vectors", "y"], "there is no file of word vectors,"),
        (["--high-words", "some"], "--high-words is 'some'"),
        (["--with-high-resource", "yes"], "--with-high-resource is for baselines"),
        (["--class-bias", "yes", "--split", "valid"], "--class-bias is fitted on the split valid"),
        (["--system", "st"], "--system st needs --model"),
        (["--system", "mv-rnn"], "--system mv-rnn needs --parses"),
        (["--pretrain", "some"], "--pretrain is 'some': give a whole number"),
        (["--pretrain", "9", "--system", "paper"], "--pretrain is for siamese and siamese-control"),
        (
            ["--pretrain", "9", "--high-resource", "none"],
            "--pretrain trains on a high-resource language first: name one",
        ),
        (["--morphemes", "some"], "--morphemes is 'some': choose no or yes"),
        (["--draws", "two"], "--draws is 'two'"),
        (["--high-resource", "en", "--high-resource", "te"], "--high-resource names te"),
        (["--high-resource", "en", "--high-resource", "none"], "--high-resource none is for itself"),
        (["--high-resource", "en", "--high-resource", "en"], "--high-resource is 'en+en': name each language once"),
        (["--high-resource", "en-semeval"], "en-semeval is not downloaded"),
        (["--system", "siamese-control", "--unlabelled", "{here}", "{here}"], "is no control beside --unlabelled"),
        (["--system", "siamese-control", "--high-resource", "none"], "shuffles a high-resource language's labels"),
    ],
)
def test_mistakes_in_what_is_lent(sentiment, tmp_path, options, said):
    (tmp_path / "here").write_text("a\tb\n")
    options, said = [word.format(here=tmp_path / "here") for word in options], said.format(here=tmp_path / "here")
    done = sentiment("--low-resource", "te", *options)
    assert done.returncode in (1, 2)
    assert said in done.stderr
