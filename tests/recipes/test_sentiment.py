"""recipes/sentiment.sh and emoji.sh with stand-ins for what they call."""

from __future__ import annotations

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
    done = sentiment("--data", data, "--poor", "te", "--system", "twin", "--seed", 4)
    assert done.returncode == 0, done.stderr
    assert sentiment.calls == DONE
    assert (sentiment.out / "runs/te-en.twin.seed4/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-train"))
    assert "--pairs poor-rich+poor-poor --seed 4 --max-update 2000" in words
    sentiment("--data", data, "--poor", "te", "--seed", 4)
    assert sentiment.calls == []
    sentiment("--data", data, "--poor", "te", "--seed", 5)
    assert sentiment.calls == DONE[2:]
    (data / "telugu_actsa/train.txt").write_text("y\n")
    sentiment("--data", data, "--poor", "te", "--seed", 4)
    assert sentiment.calls == DONE


@pytest.mark.parametrize(("where", "again"), [("fairseq-train", DONE[2:]), ("siamese predict", DONE[3:])])
def test_a_killed_run_goes_on(sentiment, data, where, again):
    assert sentiment("--data", data, "--poor", "te", KILL_AT=where).returncode != 0
    assert sentiment("--data", data, "--poor", "te").returncode == 0
    assert sentiment.calls == again


def test_other_settings_begin_anew(sentiment, data, begins_anew):
    begins_anew(sentiment, "runs/te-en.twin.seed1/checkpoints", ["--data", data, "--poor", "te"], ["--updates", "9"])


def test_systems_share_a_split_and_differ_in_pairs(sentiment, data):
    sentiment("--data", data, "--poor", "es", "--system", "twin-mono")
    mono = sentiment.arguments("fairseq-train")
    assert "--pairs poor-poor" in " ".join(mono)
    sentiment("--data", data, "--poor", "es", "--system", "twin")
    assert sentiment.arguments("fairseq-train")[1] == mono[1]
    sentiment("--data", data, "--poor", "es", "--system", "mnb-h")
    assert sentiment.calls == ["fairseq-xl classify baseline"]
    assert sentiment.arguments("fairseq-xl classify baseline")[4] == mono[1]


def test_the_papers_configuration_has_its_own_ngrams(sentiment, data):
    sentiment("--data", data, "--poor", "es", "--system", "paper")
    assert " ".join(sentiment.arguments("fairseq-xl classify prepare")).endswith("--ngrams 3")
    words = " ".join(sentiment.arguments("fairseq-train"))
    assert "--pooling last" in words
    assert "--pairs" not in words


def test_the_control_shuffles(sentiment, data):
    sentiment("--data", data, "--poor", "es", "--system", "twin-control", "--poor-size", 9)
    assert "--poor-size 9 --shuffle-rich" in " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert (sentiment.out / "runs/es-en.twin-control.9.seed1/record.json").exists()


def test_hindi_reviews_have_two_classes(sentiment, data):
    sentiment("--data", data, "--poor", "hi")
    words = " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert "--classes negative positive --others drop" in words
    assert "rt-polarity.pos,label=positive" in words


def test_own_files_for_any_pair_and_monolingual(sentiment):
    sentiment("--poor", "xx", "--rich", "none", "--poor-source", "x.tsv", "--system", "twin")
    words = " ".join(sentiment.arguments("fairseq-xl classify prepare"))
    assert "--poor x.tsv --languages xx --ngrams" in words
    assert "--pairs" not in sentiment.arguments("fairseq-train")


def test_the_whole_of_the_rich_text_is_for_training(sentiment, data):
    sentiment("--data", data, "--poor", "es")
    words = sentiment.arguments("fairseq-xl classify prepare")
    rich = words[words.index("--rich") :]
    assert not any("part=test" in word for word in rich)
    assert any("part=test" in word for word in words[: words.index("--rich")])


def test_without_data_it_downloads(sentiment):
    assert sentiment("--poor", "te").returncode == 0
    assert sentiment.calls.count("fairseq-xl data fetch") == 7
    assert sentiment("--poor", "hi-latn").returncode == 0
    assert sentiment.calls.count("fairseq-xl data fetch") == 4  # English is there


@pytest.mark.parametrize(("own", "fetched"), [("--poor-source", 6), ("--rich-source", 1)])
def test_what_one_does_not_give_is_downloaded(sentiment, tmp_path, own, fetched):
    (tmp_path / "own.tsv").write_text("x\n")
    done = sentiment("--poor", "te", own, tmp_path / "own.tsv")
    assert done.returncode == 0, done.stderr
    assert sentiment.calls.count("fairseq-xl data fetch") == fetched


def test_pairs_without_labels(sentiment, data, tmp_path):
    for side in ("rich", "poor"):
        (tmp_path / side).write_text("x\n")
    done = sentiment("--data", data, "--poor", "te", "--unlabelled", tmp_path / "rich", tmp_path / "poor")
    assert done.returncode == 0, done.stderr
    assert sentiment.calls == [*DONE, "fairseq-xl classify label", *DONE]
    calls = [line for line in sentiment.calls_file.read_text().splitlines() if "siamese prepare" in line]
    teacher, twin = calls
    poor = f"{data}/telugu_actsa/train.txt,format=spaces,classes="
    assert f"--languages en --class-source {poor}" in teacher
    assert f"--class-source {poor}" in twin
    assert "unlabelled/poor.tsv " in twin
    assert "signs.tsv,part=test --languages te en --rich" in twin
    assert (sentiment.out / "runs/te-en.twin.unlabelled.seed1/record.json").exists()
    # What the teacher's own rule says counts, not that of the twin's preset.
    assert "--rule" not in sentiment.arguments("fairseq-xl classify label")


def test_pairs_without_labels_and_sources_of_ones_own(sentiment, data, tmp_path):
    for name in ("rich", "poor", "own"):
        (tmp_path / name).write_text("x\n")
    own = f"{tmp_path}/own,part=train,encoding=cp1252"
    options = ("--data", data, "--poor", "xx", "--poor-source", own)
    done = sentiment(*options, "--unlabelled", tmp_path / "rich", tmp_path / "poor")
    assert done.returncode == 0, done.stderr
    calls = [line for line in sentiment.calls_file.read_text().splitlines() if "siamese prepare" in line]
    assert f"{tmp_path}/own,encoding=cp1252,part=test --languages" in calls[1]


def test_sizes_have_runs_and_labels_of_their_own(sentiment, data):
    options = ("--data", data, "--poor", "te")
    sentiment(*options, "--rich-size", 100)
    assert (sentiment.out / "runs/te-en.twin.rich100.seed1/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-xl classify predict"))
    assert "--name SSC(te-en), 100 sentences of en --output" in words
    sentiment(*options, "--rich-size", 100, "--poor-size", 50)
    assert (sentiment.out / "runs/te-en.twin.50.rich100.seed1/record.json").exists()
    words = " ".join(sentiment.arguments("fairseq-xl classify predict"))
    assert "--name SSC(te-en), 100 sentences of en, 50 sentences --output" in words
    assert words.endswith("--curve SSC(te-en), 100 sentences of en 50")
    sentiment(*options)
    assert "--name SSC(te-en) --output" in " ".join(sentiment.arguments("fairseq-xl classify predict"))


def test_a_dry_run_does_nothing(sentiment, data):
    done = sentiment("--data", data, "--poor", "te", "--dry-run")
    assert done.returncode == 0
    assert "fairseq-train" in done.stdout
    assert sentiment.calls == []
    assert not sentiment.out.exists()


def test_emoji(recipe, tmp_path):
    emoji = recipe("emoji.sh")
    (tmp_path / "data").mkdir()
    assert emoji("--data", tmp_path / "data", "--poor", "es", "--classes", 10).returncode == 0
    words = " ".join(emoji.arguments("fairseq-xl classify prepare"))
    assert words.endswith("--others drop --shared --most-frequent 10")
    emoji("--data", tmp_path / "data", "--poor", "es", "--classes", "all")
    assert emoji.calls == DONE
    assert "--most-frequent" not in emoji.arguments("fairseq-xl classify prepare")
    done = emoji("--data", tmp_path / "data", "--poor", "es", "--classes", 0)
    assert done.returncode == 2
    assert "--classes is '0': give a number from 2, or all" in done.stderr


def test_a_teacher_of_emoji_has_the_poor_languages_classes(recipe, tmp_path):
    emoji = recipe("emoji.sh")
    (tmp_path / "data").mkdir()
    for side in ("rich", "poor"):
        (tmp_path / side).write_text("x\n")
    options = ("--data", tmp_path / "data", "--poor", "es", "--classes", 10)
    done = emoji(*options, "--unlabelled", tmp_path / "rich", tmp_path / "poor")
    assert done.returncode == 0, done.stderr
    calls = [line for line in emoji.calls_file.read_text().splitlines() if "siamese prepare" in line]
    for call in calls:
        assert f"--class-source {tmp_path}/data/semeval2018_es/train.text," in call
        assert call.endswith("--others drop --shared --most-frequent 10")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--poor is missing"),
        (("--poor", "te", "--system", "magic"), "--system is 'magic': choose one of twin"),
        (("--poor", "te", "--system", "mono"), "--system is 'mono': choose one of twin"),
        (("--poor", "te", "--seed", "x"), "--seed is 'x'"),
        (("--poor", "te", "--part", "dev"), "--part is 'dev'"),
        (("--poor", "te", "--data", "nowhere"), "nowhere is no folder"),
        (("--poor", "xx"), "there is no sentiment text for 'xx'"),
        (("--poor", "te", "--colour", "red"), "has no option '--colour'"),
    ],
)
def test_mistakes(sentiment, options, said):
    done = sentiment(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert sentiment.calls == []
