"""The measures together, their tables, and the commands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.syntactic.evaluation import evaluation
from fairseq_xl.syntactic.evaluation import tables as of_tables

from .conftest import evaluated


def test_a_record_holds_every_measure(sets: Path, treebanks: list[str], tmp_path: Path, capsys) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length", "told=tags")
    about = record["texts"]["sets"]["de"]
    assert (about["file"], about["sentences"], about["groups"]) == ("de.tsv", 19, 3)
    assert about["length"]["2"] == {"sentences": 13, "groups": 2}
    length, tags = record["encoders"]
    assert (tags["label"], tags["spec"]) == ("told", "tags")
    assert tags["nearest"]["en"]["1-NN"] == tags["nearest"]["en"]["5-NN"] == 100
    # by length, the three tags stand apart and the two groups of two are one: 12 others, 6 or 5 of them mates
    expected = 100 * (6 + (7 * 6 + 6 * 5) / 12) / 19
    assert length["nearest"]["en"]["1-NN"] == pytest.approx(expected)
    assert length["nearest"]["en"]["length"]["3"] == {"1-NN": 100.0, "5-NN": 100.0}
    assert tags["cross_lingual"]["treebanks"]["de-en"] == {"same": 100, "similarity": 1, "translation": 100}
    assert tags["cross_lingual"]["sets"]["de-en"] == {"same": 100, "similarity": 1, "translation": None}
    assert tags["cross_lingual"]["treebanks"]["en-de"]["same"] == 80  # the fifth has no translation
    assert tags["cross_lingual"]["treebanks"]["en-de"]["translation"] == 100
    assert record["cross_lingual"]["treebanks"]["en-de"]["of_translation"] == 1
    assert record["cross_lingual"]["treebanks"]["en-de"]["translated"] == 80
    assert set(length["dissimilarity"]["de"]) == {"similarity", "literal", "correlation"}
    assert record["texts"]["treebanks"]["de"]["constant"] > 0
    shown = capsys.readouterr().out
    assert "| told | 100.00/100.00 | 100.00/100.00 |" in shown
    assert "| total/groups | 19/3 | 19/3 |" in shown
    assert (tmp_path / "out" / "record.md").read_text().strip() in shown
    assert "| 3 | 6 | 1 | 100.0 | 100.0 |" in shown  # by length


def test_both_readings_and_the_correlation_stand_in_one_cell(
    sets: Path, treebanks: list[str], tmp_path: Path, capsys
) -> None:
    record = evaluated(sets, treebanks, tmp_path, "told=tags")
    scores = record["encoders"][0]["dissimilarity"]["de"]
    cell = "/".join(f"{scores[name]:.3f}" for name in ("similarity", "literal", "correlation"))
    shown = capsys.readouterr().out
    assert f"| told | {cell} |" in shown
    assert f"| a constant | {record['texts']['treebanks']['de']['constant']:.3f}// |" in shown


def test_vectors_centred_by_language_lose_what_a_language_shares(
    sets: Path, treebanks: list[str], tmp_path: Path
) -> None:
    """Groups are directions from a point that is far from the origin; seen from the origin, the short ones mix."""
    for file in sorted(sets.glob("*.tsv")):
        tags = [row.split("\t")[1] for row in file.read_text().splitlines()[1:]]
        angles = 2 * np.pi * np.unique(tags, return_inverse=True)[1] / 3
        sizes = 3.0 ** np.array([tags[:place].count(tag) % 6 for place, tag in enumerate(tags)])
        far = np.full(len(tags), 1e5 if file.stem == "de" else -1e5)
        rows = np.stack([sizes * np.cos(angles), sizes * np.sin(angles), far], axis=1)
        np.save(tmp_path / f"{file.stem}.npy", rows)
    words = ["embed", "evaluate", f"far=npy:{tmp_path}/{{name}}.npy", "length", "--sets", str(sets)]
    output = tmp_path / "record"
    options = ["--measures", "nearest", "--transform", "center", "whiten", "-o", str(output)]
    assert main([*words, *options]) == 0
    found = {entry["label"]: entry["nearest"] for entry in json.loads(Path(f"{output}.json").read_text())["encoders"]}
    assert list(found) == ["far", "length", "far, centred", "far, whitened"]  # a baseline stays as it is
    for language in ("de", "en"):
        assert found["far"][language]["1-NN"] < 95
        assert found["far, centred"][language]["1-NN"] == 100
        assert found["far, whitened"][language]["1-NN"] == 100


def test_the_taggers_accuracy_stands_beside(sets: Path, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "tagger"
    folder.mkdir()
    words = ["embed", "evaluate", "length", "--sets", str(sets), "--measures", "nearest", "--taggers"]
    assert main([*words, f"de={folder}"]) == 2
    said = "accuracy.json: `train-tagger --test` writes it, else leave de out of --taggers"
    assert said in capsys.readouterr().err
    assert main([*words, f"de={folder}", "de=other"]) == 2
    assert "--taggers gives de twice" in capsys.readouterr().err
    (folder / "accuracy.json").write_text('{"upos_f1": 67.93}')
    assert main([*words, f"de={folder}"]) == 0
    assert "| tagger's UPOS F1 | 67.9 |  |" in capsys.readouterr().out
    assert main([*words, f"xx={folder}"]) == 2
    assert "--taggers names xx, of which there is no evaluation set" in capsys.readouterr().err
    (folder / "accuracy.json").write_text("[]")
    assert main([*words, f"de={folder}"]) == 2
    assert "is no accuracy of a tagger" in capsys.readouterr().err


def test_measures_can_be_left_out(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length", "--measures", "dissimilarity")
    assert set(record["encoders"][0]) == {"label", "spec", "dissimilarity"}


def test_an_index_finds_what_all_pairs_give(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    exact = evaluated(sets, treebanks, tmp_path, "length")
    found = evaluated(sets, treebanks, tmp_path, "length", "--index-kind", "flat")
    assert found["index"] == "flat"
    scores = [record["encoders"][0]["nearest"]["de"]["5-NN"] for record in (found, exact)]
    assert scores[0] == pytest.approx(scores[1])


def test_texts_are_written_for_encoders_that_run_elsewhere(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    words = ["--sets", str(sets), "--treebanks", *treebanks]
    assert main(["embed", "evaluate", *words, "--write-texts", str(folder)]) == 0
    texts = sorted(folder.glob("*.txt"))
    assert [path.name for path in texts] == ["de.txt", "de_pud.txt", "en.txt", "en_pud.txt"]
    others = (["--index-kind", "flat"], ["--device", "cpu"], ["--measures", "nearest"])
    for more in (["length"], ["--output", str(tmp_path / "scores")], *others):
        assert main(["embed", "evaluate", *more, *words, "--write-texts", str(folder)]) == 2
    for path in texts:
        rows = path.read_text().splitlines()
        np.save(path.with_suffix(".npy"), np.random.default_rng(len(rows)).standard_normal((len(rows), 3)))
    assert (folder / "en_pud.txt").read_text().splitlines()[3] == "w1en"
    record = evaluated(sets, treebanks, tmp_path, f"outside=npy:{folder}/{{name}}.npy")
    assert record["encoders"][0]["label"] == "outside"


def test_texts_of_the_same_name_are_not_written_over_each_other(sets, treebanks, tmp_path: Path, capsys) -> None:
    (tmp_path / "de_pud.conllu").rename(tmp_path / "de.conllu")
    words = ["--sets", str(sets), "--treebanks", f"de={tmp_path / 'de.conllu'}", "--write-texts", str(tmp_path / "x")]
    assert main(["embed", "evaluate", *words]) == 2
    assert "are both called 'de': rename one of them" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_an_encoder_that_fails_does_not_take_the_others_along(sets, treebanks, tmp_path: Path, capsys) -> None:
    """What failed, and whose, is said at the end; all else is written."""
    for text, rows in (("de", 19), ("en", 19), ("de_pud", 4), ("en_pud", 5)):
        np.save(tmp_path / f"{text}.npy", np.ones((rows, 2)))
    words = ["length", "gone=npy:nowhere/{name}.npy", f"same=npy:{tmp_path}/{{name}}.npy"]
    options = ["--sets", str(sets), "--treebanks", *treebanks, "-o", str(tmp_path / "record")]
    assert main(["embed", "evaluate", *words, *options]) == 2
    said = capsys.readouterr()
    error = said.err[said.err.rindex("error: ") :]
    assert "gone, on de.tsv: there is no nowhere/de.npy" in error
    assert re.search(r"same: all embeddings of \S+de_pud\.conllu have the same cosine to each other", error)
    assert "| same | " in said.out
    record = json.loads((tmp_path / "record.json").read_text())
    length, same = record["encoders"]
    assert set(length["dissimilarity"]) == {"de", "en"}
    assert (same["label"], set(same["nearest"]), "dissimilarity" in same) == ("same", {"de", "en"}, False)
    assert len(record["failures"]) == 3
    assert (tmp_path / "record.md").read_text().strip() in said.out


def test_vectors_that_no_index_takes_do_not_take_the_others_along(sets, treebanks, tmp_path: Path, capsys) -> None:
    pytest.importorskip("faiss")
    pytest.importorskip("sklearn")
    options = ["--sets", str(sets), "--treebanks", *treebanks, "--index-kind", "flat", "-o", str(tmp_path / "record")]
    assert main(["embed", "evaluate", "characters", "length", *options]) == 2
    said = capsys.readouterr()
    error = said.err[said.err.rindex("error: ") :]
    assert error.startswith("error: characters: an index needs dense vectors")
    record = json.loads((tmp_path / "record.json").read_text())
    characters, length = record["encoders"]
    assert "nearest" not in characters
    assert set(characters["dissimilarity"]) == set(length["nearest"]) == {"de", "en"}
    assert len(record["failures"]) == 1
    by_length = said.out[said.out.index("1-NN (%) by length") :]
    assert "| tags | sentences | groups | length |" in by_length


def test_what_the_neighbours_lack_is_said_before_the_encoding(sets, treebanks, monkeypatch, capsys) -> None:
    words = ["embed", "evaluate", "npy:nowhere/{name}.npy", "--sets", str(sets), "--measures"]
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert main([*words, "nearest", "--index-kind", "flat"]) == 2
    assert re.search("an index needs .*faiss: ", capsys.readouterr().err)
    rows = (sets / "en.tsv").read_text().splitlines()
    (sets / "en.tsv").write_text("\n".join(rows[:6]) + "\n")
    for more in (["nearest"], ["nearest", "dissimilarity", "--treebanks", *treebanks]):
        assert main([*words, *more]) == 2
        assert "en.tsv: 5 sentences are too few for 5 neighbours of each: give more" in capsys.readouterr().err
    assert main([*words, "dissimilarity", "--treebanks", *treebanks]) == 2
    assert "there is no nowhere/de.npy" in capsys.readouterr().err


def test_treebanks_that_share_some_sentences(tmp_path: Path, capsys) -> None:
    """Two of the four have the same numbers in part, the third has none of them."""
    words = []
    for language, numbers in (("de", "1 2"), ("en", "2 3 4 5"), ("fr", "8 9")):
        sentences = [
            f"# sent_id = {i}\n1\tw\t_\t{'NOUN' if int(i) % 2 else 'VERB'}" + "\t_" * 6 for i in numbers.split()
        ]
        (tmp_path / f"{language}.conllu").write_text("\n\n".join(sentences) + "\n\n")
        words.append(f"{language}={tmp_path / language}.conllu")
    assert main(["embed", "evaluate", "tags", "--treebanks", *words, "--measures", "cross-lingual"]) == 0
    shown = capsys.readouterr().out
    # of de one of two has a translation, of en one of four: equally near others take their share of the latter
    assert "| the translation |  | 1.0000 | 100.0 | 1.000 | 1.000 |  |" in shown
    assert re.search(r"^\| tags \| 100\.00 \| 1\.0000 \| 75\.0 \|", shown, re.MULTILINE)
    assert "On average 12.5 % of a pair's queries have a translation." in shown  # (50 + 25) / 6 pairs


def test_a_fault_in_the_tables_loses_no_scores(sets: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "record.md").write_text("older")
    monkeypatch.setattr(of_tables, "tables", lambda records: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["embed", "evaluate", "length", "--sets", str(sets), "-o", str(tmp_path / "record")])
    assert json.loads((tmp_path / "record.json").read_text())["encoders"][0]["nearest"]["de"]["1-NN"] > 0
    assert (tmp_path / "record.md").read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json", "record.md", "sets"]


def test_what_cannot_be_used_is_said_before_the_computing(sets, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(evaluation, "evaluate", None)
    words = ["embed", "evaluate", "length", "--sets", str(sets)]
    assert main([*words, "--device", "cuda:99"]) == 2
    assert "the device 'cuda:99' cannot be used" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([*words, "-o", str(tmp_path / "file" / "record")]) == 2
    assert "cannot make the folder of" in capsys.readouterr().err
    (tmp_path / "taken.md").mkdir()
    assert main([*words, "-o", str(tmp_path / "taken")]) == 2
    assert "taken.md: it is a directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["length"], "there is nothing to evaluate on"),
        (["--sets", "SETS"], "there is no encoder"),
        (["length", "length", "--sets", "SETS"], "two encoders are called 'length'"),
        (["length", "--sets", "SETS", "SETS/de.tsv"], "two evaluation sets are of language 'de'"),
        (["length", "--sets", "EMPTY"], "holds no .tsv file"),
        (["length", "--sets", "SETS", "--measures", "dissimilarity"], "nothing is there to measure dissimilarity on"),
        (
            ["length", "--sets", "SETS", "--measures", "nearest", "dissimilarity"],
            "nothing is there to measure dissimilarity on: it takes treebanks",
        ),
        (
            ["length", "--sets", "SETS", "--measures", "nearest", "--treebanks", "de=SETS/de.conllu"],
            "--treebanks is for the other measures, which are not among --measures: leave it out",
        ),
        (
            ["length", "--sets", "SETS", "--measures", "dissimilarity", "--index-kind", "flat"],
            "--index-kind is for --measures",
        ),
        (["length", "--sets", "SETS", "--transform", "whiten"], "--transform is for encoders, and there are baselines"),
        (["length", "--treebanks", "x.conllu"], "write LANG=FILE"),
        (["length", "--treebanks", "de=nowhere.conllu"], "there is no file nowhere.conllu"),
        (["npy:VECTORS/{name}.npy", "--sets", "SETS"], "different dimension in different languages"),
    ],
)
def test_mistakes_end_with_a_sentence(words: list[str], message: str, sets: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "vectors").mkdir()
    for dim, language in enumerate(("de", "en"), start=2):
        np.save(tmp_path / "vectors" / f"{language}.npy", np.random.default_rng(0).standard_normal((19, dim)))
    places = {"SETS": sets, "EMPTY": tmp_path / "empty", "VECTORS": tmp_path / "vectors"}
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
    assert main(["embed", "evaluate", *words]) == 2
    assert message in capsys.readouterr().err
