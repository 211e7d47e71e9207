"""The measures together, their tables, and the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import evaluation
from fairseq_xl.syntactic.evaluation.tables import read_record, tables

GROUPS = {"DET NOUN VERB": 6, "PRON VERB": 7, "VERB PUNCT": 6}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Evaluation files in two languages: three groups of 19 sentences."""
    folder = tmp_path / "sets"
    folder.mkdir()
    for language in ("de", "en"):
        rows = [f"{language} {i} {tags.lower()}\t{tags}" for tags, n in GROUPS.items() for i in range(n)]
        (folder / f"{language}.tsv").write_text("\n".join(["text\tupos", *rows]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def treebanks(tmp_path: Path) -> list[str]:
    """Four parallel sentences in two languages, and one more in English."""
    patterns = ["DET NOUN VERB", "PRON VERB", "VERB PUNCT", "NOUN"]
    made = []
    for language, more in (("de", []), ("en", ["X"])):
        blocks = []
        for number, tags in enumerate([*patterns, *more]):
            rows = [f"{i}\tw{i}{language}\t_\t{tag}" + "\t_" * 6 for i, tag in enumerate(tags.split(), start=1)]
            blocks.append("\n".join([f"# sent_id = s{number}", *rows]))
        path = tmp_path / f"{language}_pud.conllu"
        path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
        made.append(f"{language}={path}")
    return made


def evaluated(sets: Path, treebanks: list[str], tmp_path: Path, *encoders: str) -> dict:
    output = tmp_path / "out" / "record"
    status = main(["embed", "evaluate", *encoders, "--sets", str(sets), "--treebanks", *treebanks, "-o", str(output)])
    assert status == 0
    return json.loads(Path(f"{output}.json").read_text())


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
    assert record["cross_lingual"]["treebanks"]["en-de"]["of_translation"] == 1
    assert set(length["dissimilarity"]["de"]) == {"similarity", "literal", "correlation"}
    assert record["texts"]["treebanks"]["de"]["constant"] > 0
    shown = capsys.readouterr().out
    assert "| told | 100.00/100.00 | 100.00/100.00 |" in shown
    assert "| total/groups | 19/3 | 19/3 |" in shown
    assert (tmp_path / "out" / "record.md").read_text().strip() in shown
    assert "| 3 | 6 | 1 | 100.0 | 100.0 |" in shown  # by length


def test_measures_can_be_left_out(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length", "--measures", "dissimilarity")
    assert set(record["encoders"][0]) == {"label", "spec", "dissimilarity"}


def test_an_index_finds_what_all_pairs_give(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    exact = evaluated(sets, treebanks, tmp_path, "length")
    found = evaluated(sets, treebanks, tmp_path, "length", "--index", "flat")
    assert found["index"] == "flat"
    scores = [record["encoders"][0]["nearest"]["de"]["5-NN"] for record in (found, exact)]
    assert scores[0] == pytest.approx(scores[1])


def test_texts_are_written_for_encoders_that_run_elsewhere(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    words = ["--sets", str(sets), "--treebanks", *treebanks]
    assert main(["embed", "evaluate", *words, "--write-texts", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["de.txt", "de_pud.txt", "en.txt", "en_pud.txt"]
    for path in folder.iterdir():
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


def test_seeds_of_a_label_become_one_row(sets: Path, treebanks: list[str], tmp_path: Path, capsys) -> None:
    files = []
    for seed in (1, 2):
        record = evaluated(sets, treebanks, tmp_path, "ours=length", f"seed{seed}=tags")
        record["encoders"][0]["nearest"]["de"]["1-NN"] = 90.0 + seed
        files.append(tmp_path / f"{seed}.json")
        files[-1].write_text(json.dumps(record))
    capsys.readouterr()
    assert main(["embed", "tables", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^\| ours \| 91\.50 ± 0\.71/", shown, re.MULTILINE)
    assert "| seed1 |" in shown
    assert "| seed2 |" in shown
    assert main(["embed", "tables", *map(str, files), "--format", "latex", "-o", str(tmp_path / "t.tex")]) == 0
    assert r"\begin{table}" in (tmp_path / "t.tex").read_text()


def test_a_language_that_one_record_lacks_is_left_empty(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    other = json.loads(json.dumps(record))
    other["encoders"][0]["label"] = "german only"
    for part in (other["texts"]["sets"], other["encoders"][0]["nearest"]):
        del part["en"]
    (nearest, *_) = tables([record, other])
    assert [row[0] for row in nearest.rows] == ["length", "german only", "attainable", "chance", "total/groups"]
    assert nearest.rows[1][1]
    assert nearest.rows[1][2] == ""


def test_records_of_different_sentences_do_not_mix(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    other = json.loads(json.dumps(record))
    other["texts"]["sets"]["en"]["sha256"] = "0"
    with pytest.raises(InputError, match="different texts of language 'en'"):
        tables([record, other])


TEXTS = '{"texts": {"sets": %s, "treebanks": {}}, "encoders": %s}'


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", TEXTS % ("{}", "[]"), TEXTS % ("[]", '[{"label": "a"}]'), TEXTS % ("{}", '[{"label": []}]')),
        TEXTS % ('{"de": {"sha256": "0"}}', '[{"label": "a", "nearest": {"de": {"1-NN": 1.0, "5-NN": 2.0}}}]'),
    ],
)
def test_other_files_are_no_records(content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is no record of fairseq-xl embed evaluate"):
        read_record(path)
    with pytest.raises(InputError, match="cannot read"):
        read_record(tmp_path / "b.json")


def test_across_languages_means_are_taken_over_pairs() -> None:
    about = {"sha256": "0", "sentences": 2, "file": "x"}
    best = {"same_attainable": 50.0, "best": 0.5, "chance": 0.25, "of_translation": 0.5}
    pairs = {
        "de-en": {"same": 10.0, "similarity": 0.1, "translation": 1.0},
        "de-fr": {"same": 20.0, "similarity": 0.2, "translation": 2.0},
        "en-de": {"same": 60.0, "similarity": 0.6, "translation": 9.0},
    }
    record = {
        "texts": {"sets": {}, "treebanks": {"de": about, "en": about}},
        "cross_lingual": {"sets": {}, "treebanks": dict.fromkeys(pairs, best)},
        "encoders": [
            {"label": "all", "spec": "x", "cross_lingual": {"treebanks": pairs}},
            {"label": "some", "spec": "x", "cross_lingual": {"treebanks": {"de-en": pairs["de-en"]}}},
        ],
    }
    (table,) = tables([record])
    assert table.headings[-2:] == ["from de", "from en"]
    assert table.rows[0] == ["all", "30.00", "0.3000", "4.0", "0.150", "0.600"]
    assert [row[0] for row in table.rows] == ["all", "best there is", "the translation", "drawn at random"]
    assert table.notes[-1] == "Not scored on all pairs, and left out: some."
