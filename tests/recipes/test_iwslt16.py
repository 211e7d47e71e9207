from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.campaign import read_xml


@pytest.fixture
def iwslt16(recipe):
    return recipe("iwslt16.sh")


@pytest.fixture
def campaign(tmp_path):
    """The names of the campaign's files, as the stand-ins need no more."""
    folder = tmp_path / "campaign" / "fr-en"
    folder.mkdir(parents=True)
    for language in ("fr", "en"):
        (folder / f"train.tags.fr-en.{language}").write_text("text\n")
        for name in ("tst2013", "tst2014"):
            (folder / f"IWSLT16.TED.{name}.fr-en.{language}.xml").write_text("text\n")
    return folder.parent


def train_options(done):
    line = next(line for line in done.stdout.splitlines() if line.startswith("fairseq-train"))
    words = line.split()
    return {word: words[number + 1] for number, word in enumerate(words[:-1])}


def test_the_papers_settings(iwslt16, campaign):
    done = iwslt16("--data", campaign, "--dry-run", "--loss", "vmf")
    assert done.returncode == 0, done.stderr
    options = train_options(done)
    assert options["--arch"] == "continuous_lstm_iwslt16"
    assert options["--dropout"] == "0.0"
    assert options["--lr"] == "5e-4"
    assert options["--max-epoch"] == "20"
    assert "--encoder-hidden-dim" not in options
    assert "--nwordssrc 50000 --nwordstgt 50000" in done.stdout
    assert iwslt16.calls == []


def test_words_of_a_language_without_blanks_are_not_counted(iwslt16):
    for language, counted in (("fr", True), ("zh", False)):
        done = iwslt16("--dry-run", "--src", language)
        cleaned = next(line for line in done.stdout.splitlines() if "data clean" in line and "train" in line)
        assert ("--max-ratio 9" in cleaned) == counted
        assert ("train-subwords" in done.stdout) != counted


def test_more_epochs_go_on_and_are_translated_anew(iwslt16, campaign):
    iwslt16("--data", campaign, "--epochs", 3)
    (run,) = (iwslt16.out / "runs").iterdir()
    (run / "dev.score.beam5.json").touch()
    done = iwslt16("--data", campaign, "--epochs", 5)
    assert done.returncode == 0, done.stderr
    assert (run / "score.beam5.json").exists()
    assert not (run / "dev.score.beam5.json").exists(), "it was of the model before"
    called = set(iwslt16.calls)
    assert {"fairseq-train --user-dir", "fairseq-generate --user-dir", "fairseq-xl experiment record"} <= called
    assert "fairseq-preprocess --source-lang fr" not in called


def test_fewer_epochs_than_a_run_has_are_refused(iwslt16, campaign):
    iwslt16("--data", campaign, "--epochs", 5)
    (run,) = (iwslt16.out / "runs").iterdir()
    saved = "INFO | fairseq.checkpoint_utils | Saved checkpoint /x/checkpoint_last.pt (epoch {} @ 9 updates, score 1)\n"
    (run / "train.log").write_text("".join(saved.format(epoch) for epoch in range(1, 6)))
    done = iwslt16("--data", campaign, "--epochs", 3)
    assert done.returncode == 2
    assert f"error: --epochs is 3, and {run} has 5 already: give --epochs 5 or more, or another --name\n" in done.stderr
    assert not any(call.startswith("fairseq") and "-xl" not in call for call in iwslt16.calls)
    for epochs in (5, 7):
        done = iwslt16("--data", campaign, "--epochs", epochs)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(run / "checkpoints")
    assert iwslt16("--data", campaign, "--epochs", 3).returncode == 0, "that training is gone"


def test_another_address_is_fetched_anew(iwslt16):
    folders = []
    for url in ((), ("--url", "https://mirror.org/x.tgz"), ("--url", "https://mirror.org/x.tgz")):
        iwslt16(*url, FAIL_AT="data fetch")
        words = iwslt16.arguments("fairseq-xl data fetch")
        folder = words[words.index("--unpack") + 1]
        assert words[words.index("--output") + 1] == f"{folder}.tgz"
        folders.append(folder)
    assert folders[0] == f"{iwslt16.out}/raw/fr-en"
    assert folders[1] == folders[2] != folders[0]


def test_without_data_the_archive_is_fetched(iwslt16):
    done = iwslt16("--dry-run", "--src", "de")
    assert "data fetch https://" in done.stdout
    assert "/de/en/de-en.tgz" in done.stdout
    done = iwslt16("--dry-run", "--src", "de", "--url", "https://mirror/x.tgz")
    assert "data fetch https://mirror/x.tgz" in done.stdout


def test_sets_that_the_folder_lacks_come_from_sacrebleu(iwslt16, campaign):
    done = iwslt16("--data", campaign)
    assert done.returncode == 0, done.stderr
    calls = iwslt16.calls_file.read_text()
    for name in ("tst2015", "tst2016"):
        for side in ("src", "ref"):
            assert f"sacrebleu --test-set iwslt17/{name} --language-pair fr-en --echo {side}" in calls
    assert "iwslt17/tst2013" not in calls
    again = iwslt16("--data", campaign)
    assert again.returncode == 0
    assert iwslt16.calls == []


def test_a_set_that_cannot_be_had_is_named(iwslt16, campaign):
    done = iwslt16("--data", campaign, FAIL_AT="tst2015")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: tst2015 (fr-en) is not in ")
    assert "--data DIR" in done.stderr


def test_references_may_come_from_the_opposite_direction(iwslt16, campaign):
    for name in ("tst2015", "tst2016"):
        (campaign / f"IWSLT16.TED.{name}.fr-en.fr.xml").write_text("text\n")
        (campaign / f"IWSLT16.TED.{name}.en-fr.en.xml").write_text("text\n")
    done = iwslt16("--data", campaign)
    assert done.returncode == 0, done.stderr
    calls = iwslt16.calls_file.read_text()
    assert "--echo" not in calls
    assert re.search(r"--source \S+tst2016\.fr-en\.fr\.xml --target \S+tst2016\.en-fr\.en\.xml", calls)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dev-sets"], "--dev-sets needs a value"),
        (["--src", "French"], "must be language codes"),
        (["--src", "de"], "holds no train.tags.de-en.de and .en"),
    ],
)
def test_mistakes_are_told_in_one_sentence(iwslt16, campaign, arguments, message):
    done = iwslt16("--data", campaign, *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert message in done.stderr


@pytest.mark.slow
def test_preparation_of_real_campaign_files(data_dir, tmp_path, forks):
    """Real talks through the real commands: about twenty seconds on 2 cores."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    original = data_dir / "mt" / "ted_fr_en" / "IWSLT13.TED.dev2010.fr-en"
    pairs = {}
    for language in ("fr", "en"):
        xml = original.with_name(f"{original.name}.{language}.xml")
        pairs[language] = [segment.text for segment in read_xml(xml)]
        text = xml.read_text(encoding="utf-8")
        (folder / f"IWSLT16.TED.tst2013.fr-en.{language}.xml").write_text(text, encoding="utf-8")
        # The training text has the same tags around bare sentences, and no XML around it all.
        tagged = re.sub(r"</?(seg|mteval|srcset|refset|\?xml)\b[^>]*>|<\?xml.*\?>", "", text)
        path = folder / f"train.tags.fr-en.{language}"
        path.write_text(re.sub(r"\n\n+", "\n", tagged).lstrip("\n"), encoding="utf-8")
    reference = folder / "IWSLT16.TED.tst2013.fr-en.en.xml"
    reference.rename(folder / "IWSLT16.TED.tst2013.en-fr.en.xml")
    vectors = tmp_path / "my.vec"
    vectors.write_text("3 4\nthe 1 0 0 0\nof 0 1 0 0\nand 0 0 1 0\n")
    root = Path(__file__).resolve().parents[2]
    words = ["bash", root / "recipes" / "iwslt16.sh", "--data", folder, "--out", tmp_path / "out"]
    words += ["--dev-sets", "tst2013", "--test-sets", "tst2013 tst2013", "--vectors", vectors]
    done = forks.run(*words, "--prepare-only", "--threads", 1, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    prepared = tmp_path / "out" / "prepared" / "fr-en"
    for language, texts in pairs.items():
        # The pairs whose lengths differ by more than the recipe allows are the only ones to go.
        kept = [
            texts[number]
            for number, (x, y) in enumerate(zip(*pairs.values(), strict=True))
            if max(n := (len(x.split()), len(y.split()))) <= 9 * min(n) and max(n) <= 175
        ]
        assert list(read_lines(prepared / "plain" / f"train.{language}")) == kept
        assert list(read_lines(prepared / "plain" / f"valid.{language}")) == texts
        assert list(read_lines(prepared / "plain" / f"test.{language}")) == texts * 2
        assert (prepared / "bin" / f"train.fr-en.{language}.bin").stat().st_size > 0
    assert len(list(read_lines(prepared / "bin" / "dict.en.txt"))) > 1000
    table = next((prepared / "vectors").glob("target.en.*.vec")).read_text().split("\n")
    assert any(line.startswith("the 1") for line in table)
