"""From parallel text to preprocessed pairs, through the commands, with gold tags in place of a tagger."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
from contextlib import closing

import forked
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.data.filters import folded
from fairseq_xl.syntactic.data.prepare import excluded_sentences

from ..conftest import TAGS
from .conftest import read


def test_held_out_groups_are_never_trained_on(command, tmp_path, multilingual, capsys):
    assert command("--until", "tag") == 0
    evaluation = tmp_path / "eval"
    corpus = str(tmp_path / "corpus.sqlite")
    build = ["embed", "build-eval", corpus, "-o", str(evaluation), "-l", "en", "de"]
    assert main([*build, "--all", "de"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"en\.tsv: \d+ sentences in 1 of 2 groups", said)
    assert "de.tsv: 300 sentences in 2 of 2 groups" in said
    assert main([*build, "--groups", "1", "--one-in", "1"]) == 0
    held = {}
    for language in ("en", "de"):
        header, *rows = (evaluation / f"{language}.tsv").read_text().splitlines()
        assert header == "text\tupos"
        held[language] = {folded(row.split("\t")[0]) for row in rows}
        assert len(held[language]) in (100, 200)
    lists = [evaluation / "en.tsv", evaluation / "de.tsv"]
    extra = tmp_path / "more.txt"
    extra.write_text("VEO UNO Y DOS GATOS\n")
    assert command("--exclude", *lists, extra) == 0
    folder = tmp_path / "prepared"
    forbidden = held["en"] | held["de"] | {folded("Veo uno y dos gatos.")}
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = 0
    for pair in manifest["pairs"]:
        for kind in ("source", "pieces"):
            for line in read(folder, f"train.{pair['source']}-{pair['target']}.{kind}", "dict.source.txt"):
                rows += 1
                assert folded("".join(line).replace("▁", " ")) not in forbidden
    assert rows > 0
    capsys.readouterr()
    assert main(["embed", "statistics", str(folder)]) == 0
    table = capsys.readouterr().out
    assert re.search(r"\| de \| - \| \d+ \| \d+ \|", table)


def test_sentences_with_their_own_tags(command, tmp_path, multilingual):
    """A sentence is paired with itself where that is asked for, one without translations too, and not where not."""
    assert command(folder="plain") == 0
    excluded = tmp_path / "excluded.txt"
    excluded.write_text("Veo uno y dos gatos.\nVeo dos y dos gatos.\n")  # with a translation, and without one
    own = ("--own-tags", "de", "es", "--monolingual", f"es={multilingual.treebank('es')}", "--exclude", excluded)
    assert command(*own, folder="own") == 0
    manifests = {name: json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("plain", "own")}
    pairs = {name: {f"{x['source']}-{x['target']}": x for x in found["pairs"]} for name, found in manifests.items()}
    assert set(pairs["own"]) == set(pairs["plain"]) | {"de-de", "es-es"}
    assert 280 < pairs["own"]["es-es"]["train"] + pairs["own"]["es-es"]["valid"] <= 298  # of 300, half without pairs
    for language in ("de", "es"):
        name = f"{language}-{language}"
        for split in ("train", "valid"):
            sources, pieces, tags = (
                read(tmp_path / "own", f"{split}.{name}.{kind}", f"dict.{dictionary}.txt")
                for kind, dictionary in (("source", "source"), ("pieces", "source"), ("upos", "upos"))
            )
            assert sources == pieces
            assert len(sources) == pairs["own"][name][split] > 0
            assert {" ".join(row) for row in tags} <= set(TAGS[language])
            if language == "es":
                held = {folded(line) for line in excluded.read_text().splitlines()}
                assert not held & {folded("".join(row).replace("▁", " ")) for row in sources}
    # The corpus is shared, and a folder without own tags is what it was before.
    assert command(folder="again") == 0
    again = json.loads((tmp_path / "again" / "manifest.json").read_text())
    assert [(x["source"], x["target"]) for x in again["pairs"]] == [
        (x["source"], x["target"]) for x in manifests["plain"]["pairs"]
    ]


def test_nothing_is_done_twice(command, tmp_path, monkeypatch):
    assert command() == 0
    folder = tmp_path / "prepared"
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "manifest.json"}
    manifest = (folder / "manifest.json").read_text()
    assert command() == 0
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "manifest.json"} == times
    assert (folder / "manifest.json").read_text() == manifest
    assert command("--valid", 3) == 0
    fewer = json.loads((folder / "manifest.json").read_text())["pairs"]
    assert all(new["valid"] < old["valid"] for new, old in zip(fewer, json.loads(manifest)["pairs"], strict=True))


def test_every_kind_of_input(tmp_path, capsys):
    sentences = "1\teng\tI go home.\n2\tdeu\tIch gehe heim.\n3\tnld\tIk ga naar huis.\n"
    (tmp_path / "sentences.csv").write_text(sentences)
    (tmp_path / "links.csv").write_text("1\t2\n2\t1\n1\t3\n3\t1\n2\t3\n3\t2\n")
    for name, text in (
        ("s.en", "- <i>We go home.</i>\nYes!\n"),
        ("s.de", "Wir gehen heim.\nJa!\n"),
        ("p.en", "They go home.\n"),
        ("q.de", "Sie gehen heim.\n"),
    ):
        (tmp_path / name).write_text(text)
    inputs = [
        *("--tatoeba", tmp_path / "sentences.csv", tmp_path / "links.csv", "--languages", "deu", "eng", "nl"),
        *("--opensubtitles", f"en-de={tmp_path / 's'}"),
        *("--parallel", f"en-de={tmp_path / 'p.en'},{tmp_path / 'q.de'}"),
        *("--until", "read"),
    ]
    assert main(["embed", "prepare", "-o", *map(str, [tmp_path / "out", *inputs])]) == 0
    said = capsys.readouterr()
    assert "en-de p.en q.de: 1 lines, 1 kept" in said.err
    assert "en-de s.en s.de: 2 lines, 1 kept, 1 short" in said.err
    assert "de-en-nl sentences.csv links.csv: 6 lines, 3 kept, 3 duplicate" in said.err
    assert main(["embed", "statistics", str(tmp_path / "out" / "corpus.sqlite")]) == 0
    table = capsys.readouterr().out.splitlines()[2:]
    assert table == ["| de | - | 3 | 1 |", "| en | 3 | - | 1 |", "| nl | 1 | 1 | - |"]


def test_real_subtitles(data_dir, tmp_path, capsys):
    prefix = data_dir / "mt" / "opensubtitles_en_fr" / "highlighted.train"
    options = ["--opensubtitles", f"en-fr={prefix}", "--subtitles-limit", "2000", "--until", "read"]
    assert main(["embed", "prepare", "-o", str(tmp_path / "out"), *options]) == 0
    found = {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", capsys.readouterr().err)}
    assert found["lines"] == 2000
    assert sum(found.values()) == 4000
    assert 400 < found["kept"] < 1800
    with closing(Corpus(tmp_path / "out" / "corpus.sqlite")) as corpus:
        assert not any(mark in text for text in corpus.sentences("fr") for mark in ("<p>", "<hon>", "<hoff>"))


@pytest.mark.slow
def test_killed_and_started_again(run_cli, multilingual, tmp_path):
    """Whenever it is killed, what it writes in the end is what it would have written at once."""

    def words(folder):
        found = ["embed", "prepare", "-o", tmp_path / folder, "--corpus", tmp_path / f"{folder}.sqlite"]
        found += [*multilingual.inputs, "--vocabulary", "150", "--valid", "5"]
        for language in ("de", "en", "es"):
            found += ["--tagger", multilingual.tagger(language)]
        return found

    started = time.monotonic()
    done = forked.run("fairseq_xl.cli.main", *words("whole"))
    whole = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    draw, killed = random.Random(1), 0
    for _ in range(12):
        after = draw.uniform(0.05, 0.6) * whole
        killed += forked.start_and_kill("fairseq_xl.cli.main", *words("prepared"), after=after)
    assert killed > 1
    # In a new process at last: its sets have another order than the forks'.
    done = run_cli(*words("prepared"))
    assert done.returncode == 0, done.stderr
    for path in sorted((tmp_path / "whole").iterdir()):
        if path.suffix in (".bin", ".idx", ".txt", ".model") or path.name == "manifest.json":
            assert path.read_bytes() == (tmp_path / "prepared" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--pairs", "en=x.tsv"), "'en' does not name two languages"),
        (("--pairs", "en-de-en=x.tsv"), "'en-de-en' does not name two languages"),
        (("--pairs", "x.tsv"), "--pairs 'x.tsv': write NAME=VALUE"),
        (("--pairs", "en-fr=nowhere.tsv"), "there is no file nowhere.tsv"),
        (("--parallel", "en-fr=a,b,c"), "give a prefix or two files"),
        (("--tatoeba", "a.csv", "b.csv", "--languages", "en"), "needs --languages, two or more"),
        (("--languages", "en", "de"), "--languages is for --tatoeba, which is not given"),
        (("--filters", "none", "short"), "--filters none stands alone"),
        (("--filters", "none", "--min-words", "9"), "--min-words is for the filter short"),
        (("--pivot", "none", "--pivot-most", "3"), "--pivot-most is for pivoting, which --pivot none leaves out"),
        (("--subtitles-limit", "9"), "--subtitles-limit is for --opensubtitles, which is not given"),
        (("--tagger", "fr=FOLDER"), "there is a tagger for 'fr', but"),
        (("--tagger", "nl=a", "nl=b"), "--tagger gives nl twice, 'a' and 'b': give it once"),
        (("--tagger", "nl=nowhere"), "there is no tagger nowhere for 'nl': train one"),
        (("--targets", "nl"), "the target language 'nl' has no tags: give --tagger nl=TAGGER"),
        (("--sources", "fr"), "has no sentence in 'fr'"),
        (("--exclude", "nowhere.txt"), "there is no file nowhere.txt"),
        (
            ("--like", ".", "--vocabulary", "9"),
            "--vocabulary is for a new vocabulary, and --like brings one: leave it out",
        ),
        (("--like", "."), "manifest.json is missing: `fairseq-xl embed prepare` makes such a folder"),
        (("--vocabulary", "20"), "20 subwords are fewer than"),
        (("--until", "all", "--min-words", "4", "--pairs", "en-de=LATIN"), "byte 0xe4 is not valid UTF-8"),
        (("--sources", "en", "--targets", "en"), "no pair is left to train on"),
        (("--own-tags", "nl"), "the target language 'nl' has no tags: give --tagger nl=TAGGER"),
        (("--own-tags", "fr"), "has no sentence in 'fr': give text in it with --pairs or --monolingual"),
        (("--monolingual", "en=x.txt"), "has no translations, so it is trained on by --own-tags alone"),
        (("--monolingual", "x.txt"), "--monolingual 'x.txt': write NAME=VALUE"),
    ],
)
def test_mistakes(command, tmp_path, capsys, options, said):
    latin = tmp_path / "latin.tsv"
    latin.write_bytes("I see a cat.\tIch sehe Kätzchen.\n".encode("latin-1"))
    assert command(*(word.replace("LATIN", str(latin)) for word in options)) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "Yes!\tJa!\n"], ids=["an empty file", "short ones alone"])
def test_text_without_pairs(text, tmp_path, capsys):
    (tmp_path / "x.tsv").write_text(text)
    words = ["embed", "prepare", "-o", str(tmp_path / "data"), "--until", "read"]
    assert main([*words, "--pairs", f"en-de={tmp_path / 'x.tsv'}"]) == 2
    assert "corpus.sqlite holds no pairs: give parallel text with --pairs" in capsys.readouterr().err


def test_exclusion_lists(tmp_path):
    """What a file holds is told by its name, compressed or not."""
    table, treebank = "upos\ttext\nX\tI see.\n", "# text = I see.\n1\tI\t_\tX" + "\t_" * 6 + "\n\n"
    for name, content in (("x.tsv", table), ("x.conllu", treebank), ("x.txt", "I see.\n")):
        (tmp_path / name).write_text(content)
        with gzip.open(tmp_path / f"{name}.gz", "wt") as stream:
            stream.write(content)
        for path in (tmp_path / name, tmp_path / f"{name}.gz"):
            assert list(excluded_sentences(path)) == ["I see."]
    (tmp_path / "x.tsv").write_text(table + "\n")
    with pytest.raises(InputError, match=r"x\.tsv, line 3: 1 columns where the first line has 2"):
        list(excluded_sentences(tmp_path / "x.tsv"))
    (tmp_path / "x.tsv").write_text("upos\nX\n")
    with pytest.raises(InputError, match=r"x\.tsv, line 1: there is no column 'text' among upos"):
        list(excluded_sentences(tmp_path / "x.tsv"))


def test_a_list_that_excludes_nothing_is_said(command, tmp_path, capsys):
    for name, content in (("other.txt", "Nobody says this."), ("some.txt", "Veo uno y dos gatos."), ("none.txt", "")):
        (tmp_path / name).write_text(content)
    lists = [tmp_path / name for name in ("other.txt", "some.txt", "none.txt")]
    assert command("--exclude", *lists) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
    assert warnings == [f"warning: {lists[0]} excludes nothing: none of its 1 lines is in the corpus"]


def test_other_filters_need_another_corpus(command, capsys):
    assert command("--until", "read") == 0
    assert command("--min-words", 5) == 2
    assert "give that, or another corpus" in capsys.readouterr().err


def test_pivots(command, tmp_path, capsys):
    assert command("--until", "read", "--pivot", "xx") == 2
    assert "--pivot xx: " in capsys.readouterr().err
    assert command("--until", "read", "--pivot", "none") == 0
    assert "| de | - | 300 | - | - |" in capsys.readouterr().out
    assert command("--until", "read") == 0
    assert command("--until", "read", "--pivot", "none") == 2
    assert "--pivot none comes too late" in capsys.readouterr().err
    # text without the language that usually joins
    (tmp_path / "x.tsv").write_text("Ich sehe es.\tIk zie het.\n")
    words = ["embed", "prepare", "-o", tmp_path / "new", "--pairs", f"de-nl={tmp_path / 'x.tsv'}", "--until", "read"]
    assert main(list(map(str, words))) == 0


def test_a_sentence_without_gold_tags(command, multilingual, capsys):
    path = multilingual.treebank("de")
    path.write_text("\n\n".join(path.read_text().split("\n\n")[:10]))
    assert command() == 2
    assert "de.conllu has no tags for" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build-eval", "x.sqlite", "y.sqlite", "-o", "eval"), "give one corpus file"),
        (("build-eval", "x.conllu", "-o", "eval"), "treebanks are of one language"),
        (("build-eval", "x.conllu.gz", "-o", "eval"), "treebanks are of one language"),
        (("build-eval", "x.sqlite", "-o", "eval", "--one-in", "0"), "--one-in is 0: give a number from 1"),
        (("build-eval", "x.sqlite", "-o", "eval", "--groups", "-1"), "--groups is -1: give a number from 1"),
        (("build-eval", "x.sqlite", "-o", "eval", "--least", "0"), "--least is 0: give a number from 1"),
        (("train-tagger", "x.conllu", "-l", "de", "-o", "x", "--epochs", "0"), "--epochs is 0: give a number from 1"),
        (("build-eval", "nowhere.sqlite", "-o", "eval"), "there is no corpus nowhere.sqlite"),
        (("statistics", "nowhere.sqlite"), "there is no corpus nowhere.sqlite"),
        (("statistics", "."), "manifest.json is missing: `fairseq-xl embed prepare` makes such a folder"),
    ],
)
def test_mistakes_of_other_commands(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["embed", *words]) == 2
    assert said in capsys.readouterr().err


def test_languages_without_tags_make_no_groups(command, tmp_path, capsys):
    assert command("--until", "tag") == 0
    build = ["embed", "build-eval", str(tmp_path / "corpus.sqlite"), "-o", str(tmp_path)]
    assert main([*build, "-l", "nl"]) == 2
    assert "has no tagged sentences in 'nl'" in capsys.readouterr().err
    assert main([*build, "--all", "ko"]) == 2
    assert "--all ko: there are only groups in de, en, es" in capsys.readouterr().err
    assert main([*build, "--least", "999"]) == 2
    assert "no group has enough sentences" in capsys.readouterr().err


def test_sides_that_are_the_wrong_way_round(tmp_path, capsys):
    (tmp_path / "x.tsv").write_text("".join(f"Das ist der Hund {n}.\tThis is the dog {n}.\n" for n in range(30)))
    words = ["embed", "prepare", "-o", str(tmp_path / "data"), "--until", "read"]
    assert main([*words, "--pairs", f"en-de={tmp_path / 'x.tsv'}"]) == 2
    assert "what should be en looks like de, and the other way round: exchange" in capsys.readouterr().err
    assert main([*words, "--pairs", f"en-de={tmp_path / 'x.tsv'}", "--trust-languages"]) == 0


def test_inputs_of_earlier_calls_are_named(command, multilingual, tmp_path, capsys):
    assert command("--until", "read") == 0
    assert "of an earlier call" not in capsys.readouterr().err
    (tmp_path / "moved.tsv").write_bytes((multilingual.folder / "de.tsv").read_bytes())
    words = ["embed", "prepare", "-o", tmp_path / "x", "--corpus", tmp_path / "corpus.sqlite", "--until", "read"]
    assert main(list(map(str, [*words, "--pairs", f"en-de={tmp_path / 'moved.tsv'}"]))) == 0
    found = [line for line in capsys.readouterr().err.splitlines() if line.endswith("of an earlier call")]
    assert len(found) == 2
    assert not any("de.tsv" in line for line in found)
