"""recipes/syntactic.sh with stand-ins for what it calls."""

from __future__ import annotations

from itertools import chain

import pytest

TREEBANKS = {
    "en": ["UD_English-EWT"],
    "de": ["UD_German-GSD", "UD_German-LIT"],
    "fr": ["UD_French-GSD"],
    "pt": ["UD_Portuguese-Bosque"],
}
PARALLEL = {"en": "UD_English-PUD", "de": "UD_German-PUD", "fr": "UD_French-PUD", "pt": "UD_Portuguese-PUD"}
FEW = ("--languages", "en de", "--unseen", "fr", "--few", "20")


@pytest.fixture
def syntactic(recipe):
    return recipe("syntactic.sh")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    for name in ("deu", "fra"):
        path = folder / "mt" / "tatoeba" / f"{name}-eng.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("I go.\tx y z.\n")
    for treebank in [*chain(*TREEBANKS.values()), *PARALLEL.values()]:
        path = folder / "ud" / treebank / "x.conllu"
        path.parent.mkdir(parents=True)
        path.write_text("x")
    return folder


def calls(recipe, command):
    return [line.split() for line in recipe.calls_file.read_text().splitlines() if line.startswith(command)]


def test_from_text_and_treebanks_to_tables(syntactic, data):
    done = syntactic("--data", data, *FEW, "--", "--fp16")
    assert done.returncode == 0, done.stderr
    out = syntactic.out
    assert (out / "tables.md").exists()
    assert done.stdout.endswith("text\n")
    trained = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed train-tagger")]
    assert len(trained) == 3
    german = trained[1]
    assert f"{data}/ud/UD_German-GSD/x.conllu {data}/ud/UD_German-LIT/x.conllu --language de" in german
    assert f"--test {data}/ud/UD_German-PUD/x.conllu" in german
    read, tag, prepare, few = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed prepare"))
    assert f"--pairs en-de={data}/mt/tatoeba/deu-eng.tsv --pairs en-fr={data}/mt/tatoeba/fra-eng.tsv" in read
    assert "--tagger" not in read
    assert f"--tagger en={out}/taggers/en --tagger de={out}/taggers/de --tagger fr={out}/taggers/fr" in tag
    assert "--sources en de --targets en de --vocabulary 40000" in prepare
    assert f"--sources fr --targets en de --like {out}/preprocessed" in few
    # neither the held-out groups nor the treebanks of the tests are trained on
    for call in (prepare, few):
        for language in ("en", "de", "fr", "pt"):
            assert f" {out}/eval/{language}.tsv " in call
            assert (f" {out}/gold/{language}.tsv " in call) == (language in ("en", "pt"))  # where there are groups
            assert f" {data}/ud/{PARALLEL[language]}/x.conllu " in call
    built, *_ = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed build-eval"))
    assert "--all" not in built  # Korean is none of the languages
    trainings = [" ".join(line) for line in calls(syntactic, "fairseq-train")]
    assert len(trainings) == 4
    assert [call.rsplit("--fp16", 1)[1] for call in trainings] == ["", " --tag-contrast 0", "", ""]
    assert all("--seed 1" in call for call in trainings)
    assert "--target pieces" in trainings[1]
    assert f"{out}/few " in trainings[2]
    assert f"--finetune-from-model {out}/runs/tags/checkpoint_best.pt --pairs fr-en " in trainings[2]
    assert "--sentences-per-pair 20" in trainings[2]
    assert "--pairs fr-en,fr-de" in trainings[3]
    # 3,000 updates on few pairs are hundreds of epochs: they are validated four times, and start no workers
    for call in trainings[2:]:
        assert "--validate-interval 1000000 --save-interval 1000000 --save-interval-updates 750 " in call
        assert " --num-workers 0" in call
    scored, gold, new = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate"))
    # no tagger saw the vectors of the baseline, and they saw no held-out group
    assert f"words=vectors:{out}/words/{{lang}}.vec" in scored
    assert not any(f"{out}/words" in call for call in trained)
    cut = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed pieces")]
    assert [f"{out}/eval/en.tsv" in call for call in cut] == [False] * 4 + [True] * 4
    assert all(f"{out}/gold/pt.tsv" in call for call in cut[4:])
    assert f"--taggers en={out}/taggers/en de={out}/taggers/de fr={out}/taggers/fr" in scored
    assert f"--sets {out}/gold --measures nearest --transform center whiten" in gold
    assert f"--treebanks en={data}/ud/UD_English-PUD/x.conllu de={data}/ud/UD_German-PUD/x.conllu fr=" in scored
    assert f"--sets {out}/eval/fr.tsv" in new


def test_more_text_own_tags_and_groups_to_choose_by(syntactic, data, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    for language in ("de", "fr", "pt"):
        (more / f"en-{language}.tsv").write_text("I go.\tx y z.\n")
    done = syntactic("--data", data, *FEW, "--more", more, "--own-tags", "--dev", "0.3")
    assert done.returncode == 0, done.stderr
    out = syntactic.out
    _, tag, prepare, few = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed prepare"))
    # the groups are Tatoeba's with more text and without, and an unseen language stays unseen
    assert str(more) not in tag + few
    assert f"--pairs en-de={more}/en-de.tsv --pairs en-pt={more}/en-pt.tsv" in prepare
    assert f"{more}/en-fr.tsv" not in prepare
    assert "--sources en de pt --targets en de " in prepare
    assert f"--monolingual de={data}/ud/UD_German-LIT/x.conllu --own-tags en de" in prepare
    for call in (prepare, few):
        assert f" {out}/eval/dev/de.tsv " in call
    assert "--dev 0.3" in " ".join(calls(syntactic, "fairseq-xl embed build-eval")[0])
    evaluated = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate")]
    assert sum(f"--sets {out}/eval/dev " in call for call in evaluated) == 1
    (more / "en-de.tsv").write_text("I stay.\tx y z.\n")
    assert syntactic("--data", data, *FEW, "--more", more, "--own-tags", "--dev", "0.3").returncode == 0
    assert len(calls(syntactic, "fairseq-xl embed prepare")) == 2
    assert not calls(syntactic, "fairseq-xl embed train-tagger")


def test_text_that_a_run_leaves_out_is_in_none_of_its_data(syntactic, data, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    (more / "en-de.tsv").write_text("I go.\tx y z.\n")
    options, out = ("--data", data, *FEW), syntactic.out
    made = ["preprocessed/train", "few/train", "words/de.pieces"]

    def with_more(*given):
        done = syntactic(*given)
        assert done.returncode == 0, done.stderr
        return [str(more) in (out / name).read_text() for name in made]

    assert with_more(*options) == [False] * 3
    assert with_more(*options, "--more", more) == [True] * 3
    # groups and taggers' vectors that are made now are of the first text alone
    assert with_more(*options, "--more", more, "--dev", "0.3", "--vector-epochs", "3") == [True] * 3
    assert str(more) not in (out / "eval" / "de.tsv").read_text() + (out / "vectors" / "de.pieces").read_text()
    assert syntactic(*options, KILL_AT="--vocabulary").returncode != 0
    (out / "corpus.sqlite-journal").write_text("half")
    assert with_more(*options) == [False] * 3
    assert not (out / "corpus.sqlite-journal").exists()
    assert with_more(*options, "--own-tags") == [False] * 3
    assert "--monolingual" in syntactic.calls_file.read_text()
    assert f"de={data}" in (out / "words" / "de.pieces").read_text()


def test_languages_that_a_run_leaves_out_are_not_evaluated(syntactic, data):
    for treebank in ("UD_Indonesian-GSD", "UD_Indonesian-PUD"):
        (data / "ud" / treebank).mkdir()
        (data / "ud" / treebank / "x.conllu").write_text("x")
    (data / "mt" / "tatoeba" / "ind-eng.tsv").write_text("I go.\tx y z.\n")
    for unseen in ("fr", "id"), ("fr",), ("fr", "id"):
        done = syntactic("--data", data, *FEW, "--unseen", " ".join(unseen), "--prepare-only")
        assert done.returncode == 0, done.stderr
        assert {path.stem for path in (syntactic.out / "eval").iterdir()} == {"en", "de", "pt", *unseen}
        assert {path.stem for path in (syntactic.out / "gold").iterdir()} == {"en", "pt", *unseen} - {"fr"}


def test_a_share_of_own_tags_is_for_training_and_not_for_fine_tuning(syntactic, data):
    options = ("--data", data, *FEW, "--own-tags", "--own-share", "0.8", "--", "--batches-of-one-pair")
    done = syntactic(*options)
    assert done.returncode == 0, done.stderr
    trained = [" ".join(line) for line in calls(syntactic, "fairseq-train")]
    assert ["--own-share 0.8" in line for line in trained] == ["--finetune-from-model" not in line for line in trained]
    assert all("--batches-of-one-pair" in line for line in trained)
    assert len(trained) > 2


def test_the_best_settings_have_a_name_and_options_go_before_them(syntactic, data):
    done = syntactic("--data", data, *FEW, "--preset", "best", "--updates", "9", "--", "--batch-size", "8")
    assert done.returncode == 0, done.stderr
    assert "--own-tags en de" in " ".join(calls(syntactic, "fairseq-xl embed prepare")[2])
    trained, translating, *_, tuned = (" ".join(line) for line in calls(syntactic, "fairseq-train"))
    assert "--target pieces" in translating
    assert translating.endswith("--tag-contrast 0")
    assert "--max-update 9 " in trained
    assert "--sampling-temperature 100 --own-share 0.8 " in trained
    assert trained.index("--batch-size 64 --tag-contrast 1") < trained.index("--batch-size 8")  # the last counts
    assert "--total-num-update 9" in trained
    assert "--max-update 1000 " in tuned
    assert "--tag-contrast 1 --batches-of-one-pair" in tuned
    assert "--own-share" not in tuned
    # pieces begin from vectors of the training text, and a fine-tuning from the encoder
    out = syntactic.out
    text = calls(syntactic, "fairseq-xl embed source-pieces")
    assert [line[3:] for line in text] == [[f"{out}/preprocessed", "--output", f"{out}/pieces.txt"]]
    assert f"{out}/pieces.txt --output {out}/pieces --dim 100 --epoch 5" in syntactic.calls_file.read_text()
    for call in (trained, translating):
        assert f"--encoder-embed-path {out}/pieces.bin" in call
    assert "--encoder-embed-path" not in tuned


def test_vectors_for_pieces_make_another_encoder(syntactic, data):
    options = ("--data", data, *FEW, "--no-translating")
    assert syntactic(*options).returncode == 0
    assert "encoder-embed-path" not in syntactic.calls_file.read_text()
    assert syntactic(*options, "--piece-vectors").returncode == 0
    trained = [" ".join(line) for line in calls(syntactic, "fairseq-train")]
    assert ["--encoder-embed-path" in line for line in trained] == [True, False, False]
    assert not calls(syntactic, "fairseq-xl embed prepare")
    assert syntactic(*options, "--preset", "best", "--no-piece-vectors").returncode == 0
    assert "encoder-embed-path" not in syntactic.calls_file.read_text()


def test_an_encoder_of_one_language_for_each_seed(syntactic, data):
    options = ("--data", data, *FEW, "--preset", "best", "--no-translating", "--more-seeds", "2")
    assert syntactic(*options).returncode == 0
    done = syntactic(*options, "--adapt", "de", "--adapt-updates", "9")
    assert done.returncode == 0, done.stderr
    out = syntactic.out
    first, second = (" ".join(line) for line in calls(syntactic, "fairseq-train"))  # all else is done
    for call, of in ((first, ""), (second, ".seed2")):
        assert f"--save-dir {out}/runs/adapted.de{of} " in call
        assert f"--finetune-from-model {out}/runs/tags{of}/checkpoint_best.pt --pairs de-de --max-update 9 " in call
        assert call.endswith(" --total-num-update 9")
        assert "--own-share" not in call
        assert "--encoder-embed-path" not in call
    evaluated = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate")]
    assert len(evaluated) == 4
    assert f"de-de={out}/runs/adapted.de.seed2/checkpoint_last.pt " in evaluated[3]
    assert f"--output {out}/evaluation/adapted.de.gold.seed2 --sets {out}/gold " in evaluated[3]
    tables, gold = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed tables"))
    assert f"{out}/evaluation/adapted.de.seed2.json" in tables
    assert f"{out}/evaluation/adapted.de.gold.seed2.json" in gold


def test_more_seeds_share_the_data_and_the_tables(syntactic, data):
    options = ("--data", data, *FEW, "--more-seeds", "2 7", "--no-translating")
    done = syntactic(*options)
    assert done.returncode == 0, done.stderr
    out = syntactic.out
    assert len(calls(syntactic, "fairseq-xl embed prepare")) == 4  # read, tag, prepare and few: once
    trainings = [" ".join(line) for line in calls(syntactic, "fairseq-train")]
    assert len(trainings) == 9  # an encoder and two fine-tunings of each seed, and none that translates
    assert not any("--target pieces" in call for call in trainings)
    second = [call for call in trainings if "--seed 2 " in call]
    assert f"--save-dir {out}/runs/tags.seed2 " in second[0]
    assert all(f"--finetune-from-model {out}/runs/tags.seed2/checkpoint_best.pt" in call for call in second[1:])
    evaluated = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate")]
    assert len(evaluated) == 9
    assert "random=" in evaluated[0]
    assert "translating=" not in evaluated[0]
    # the baselines have no seed
    alone = f"evaluate ours={out}/runs/tags.seed2/checkpoint_best.pt --output {out}/evaluation/all.seed2 "
    assert alone in evaluated[3]
    records = [f"{out}/evaluation/{name}{of}.json" for of in ("", ".seed2", ".seed7") for name in ("all", "few.fr")]
    tables, gold = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed tables"))
    assert f"tables {' '.join(records)} --output {out}/tables.md" in tables
    assert f"{out}/evaluation/gold.seed2.json {out}/evaluation/gold.seed7.json --output {out}/tables.gold.md" in gold
    # one more seed leaves the others alone
    assert syntactic(*options[:-2], "2 7 8", "--no-translating").returncode == 0
    assert len(calls(syntactic, "fairseq-train")) == 3
    # another encoder is scored on the groups and gold groups, beside the first seed alone
    assert syntactic(*options[:-2], "2 7 8", "--no-translating", "--beside", "L=npy:x.npy").returncode == 0
    evaluated = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate")]
    assert len(evaluated) == 2
    assert all(" L=npy:x.npy " in call for call in evaluated)


def test_other_encoders_beside_and_a_card(syntactic, data):
    options = ("--data", data, *FEW, "--beside", "big=transformers:big L=npy:x.npy", "--licence", "cc-by-4.0")
    done = syntactic(*options)
    assert done.returncode == 0, done.stderr
    scored, gold, new = (" ".join(line) for line in calls(syntactic, "fairseq-xl embed evaluate"))
    assert " big=transformers:big L=npy:x.npy random=" in scored
    assert " big=transformers:big " in gold
    assert "big=" not in new
    packed = " ".join(calls(syntactic, "fairseq-xl embed pack")[0])
    assert f"{syntactic.out}/runs/tags/checkpoint_best.pt --output {syntactic.out}/model --licence cc-by-4.0" in packed
    assert packed.endswith(f" --record {syntactic.out}/evaluation/all.json")


def test_other_vectors_of_an_encoder_beside_are_evaluated(syntactic, data, tmp_path):
    options = ("--data", data, *FEW, "--beside", f"L=npy:{tmp_path}/{{name}}.npy")
    for content, evaluated in (("a", 3), ("a", 0), ("b", 2)):
        (tmp_path / "de.npy").write_text(content)
        assert syntactic(*options).returncode == 0
        assert len(list(calls(syntactic, "fairseq-xl embed evaluate"))) == evaluated


def test_subtitles_beside_pairs(syntactic, data, tmp_path):
    for name in ("s.en", "s.fr"):
        (tmp_path / name).write_text("- I go.\n")
    options = ("--data", data, *FEW, "--prepare-only", "--subtitles", f"en-fr={tmp_path}/s")
    assert syntactic(*options).returncode == 0
    prepared = [" ".join(line) for line in calls(syntactic, "fairseq-xl embed prepare")]
    assert len(prepared) == 4
    assert all(f"--opensubtitles en-fr={tmp_path}/s " in call for call in prepared)
    (tmp_path / "s.fr").write_text("- Je vais.\n")
    assert syntactic(*options).returncode == 0
    assert len(calls(syntactic, "fairseq-xl embed prepare")) == 4  # read again
    assert syntactic(*options[:-2]).returncode == 0
    assert str(tmp_path / "s") not in (syntactic.out / "preprocessed" / "train").read_text()
    downloaded = syntactic(*FEW, "--subtitles", "download", "--dry-run").stdout
    assert "/moses/de-en.txt.zip" in downloaded
    prefix = f"{syntactic.out}/data/subtitles/de-en/OpenSubtitles.de-en"
    assert f"--opensubtitles en-de={prefix}.en\\,{prefix}.de" in downloaded


def test_what_is_done_is_not_done_again(syntactic, data):
    assert syntactic("--data", data, *FEW).returncode == 0
    assert syntactic("--data", data, *FEW).returncode == 0
    assert syntactic.calls == ["fairseq-xl embed statistics"]
    assert syntactic("--data", data, *FEW, "--few-updates", 7).returncode == 0
    assert len(calls(syntactic, "fairseq-train")) == 2
    assert not calls(syntactic, "fairseq-xl embed prepare")
    assert syntactic("--data", data, *FEW, "--tagger-epochs", 3).returncode == 0
    assert len(calls(syntactic, "fairseq-xl embed train-tagger")) == 3
    assert len(calls(syntactic, "fairseq-train")) == 4


def test_killed_while_preparing(syntactic, data):
    assert syntactic("--data", data, *FEW, KILL_AT="--until tag").returncode != 0
    assert syntactic("--data", data, *FEW).returncode == 0
    assert not calls(syntactic, "fairseq-xl embed train-tagger")
    assert len(calls(syntactic, "fairseq-xl embed prepare")) == 3


def test_killed_with_other_text_before_it_is_tagged(syntactic, data):
    options = ("--data", data, *FEW, "--prepare-only")
    assert syntactic(*options).returncode == 0
    german = data / "mt" / "tatoeba" / "deu-eng.tsv"
    before = german.read_text()
    german.write_text("I stay.\tx y z.\n")
    assert syntactic(*options, KILL_AT="embed pieces").returncode != 0
    german.write_text(before)
    assert syntactic(*options, "--dev", "0.3").returncode == 0
    assert any("--until tag" in " ".join(call) for call in calls(syntactic, "fairseq-xl embed prepare"))


def test_a_corpus_that_is_gone_is_made_again(syntactic, data):
    assert syntactic("--data", data, *FEW).returncode == 0
    (syntactic.out / "base.sqlite").unlink()
    assert syntactic("--data", data, *FEW).returncode == 0
    assert syntactic.calls[:2] == ["fairseq-xl embed prepare"] * 2  # read and tag


def test_other_settings_begin_anew(syntactic, data, begins_anew):
    begins_anew(syntactic, "runs/tags", ["--data", data, *FEW], ["--", "--dropout", "0.5"])


def test_without_data_everything_is_downloaded(syntactic):
    done = syntactic(*FEW, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert syntactic.calls == []
    assert not syntactic.out.exists()
    assert "https://downloads.tatoeba.org/exports/links.tar.bz2" in done.stdout
    assert "/UD_French-GSD/master/fr_gsd-ud-train.conllu" in done.stdout
    assert "--tatoeba" in done.stdout
    assert "--languages en de fr" in done.stdout
    spanish = syntactic("--languages", "en de es", "--unseen", "fr", "--dry-run").stdout
    assert "--sources fr --targets en es " in spanish
    assert r"--pairs fr-en\,fr-es " in spanish


def test_preparing_only(syntactic, data):
    assert syntactic("--data", data, *FEW, "--prepare-only").returncode == 0
    assert not calls(syntactic, "fairseq-train")
    assert (syntactic.out / "preprocessed" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--languages", "de fr"), "--languages must have en"),
        (("--preset", "good"), "--preset is 'good': choose paper or best"),
        (("--own-share", "0.5"), "--own-share needs --own-tags"),
        (("--own-tags", "--own-share", "1"), "--own-share is '1': give a share between 0 and 1"),
        (("--adapt", "de"), "--adapt needs --own-tags: add it"),
        (("--own-tags", "--languages", "en de", "--adapt", "ko"), "--adapt has 'ko', which is not in"),
        (("--languages", "en"), "--languages must have two languages or more"),
        (("--languages", "en xx"), "no treebank and Tatoeba code are known for 'xx'"),
        (("--languages", "en de fr"), "--languages and --unseen name 'fr' twice"),
        (("--languages", "en de de"), "--languages and --unseen name 'de' twice"),
        (("--adapt-updates", "50"), "--adapt-updates is for --adapt"),
        (("--updates", "many"), "--updates is 'many'"),
        (("--few", "2k"), "--few is '2k'"),
        (("--languages", "en nl", "--unseen", ""), "--unseen needs a value"),
        (("--languages", "en nl"), "there is no list of pairs"),
        (("--dev", "1.5"), "--dev is '1.5'"),
        (("--more-seeds", "1 2"), "--more-seeds has 1, which is --seed already"),
        (("--subtitles", "films"), "--subtitles has 'films'"),
        (("--subtitles", "en-fr=nowhere"), "there is no file of subtitles nowhere.en"),
        (("--more", "nowhere"), "has no file en-L.tsv"),
        (("--quick",), "syntactic.sh has no option '--quick'"),
    ],
)
def test_mistakes(syntactic, data, options, said):
    done = syntactic("--data", data, *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert syntactic.calls == []


@pytest.mark.parametrize("treebank", ["UD_German-LIT", "UD_Portuguese-Bosque"])
def test_a_missing_treebank(syntactic, data, treebank):
    (data / "ud" / treebank / "x.conllu").unlink()
    done = syntactic("--data", data, *FEW)
    assert done.returncode == 2
    assert "there is no treebank" in done.stderr
    assert treebank in done.stderr
    assert syntactic.calls == []
