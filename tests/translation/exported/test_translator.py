"""Translating with an export: without torch, by the same options, or told why not."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from fairseq.dataclass.configs import GenerationConfig

from fairseq_xl import Translation, Translator
from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import InputError
from fairseq_xl.translation.exported.translator import BEAM, MAX_LEN_B, ExportedTranslator, load_model

pytestmark = pytest.mark.slow

FRESH = """
import json, sys
from fairseq_xl import Translator
translator = Translator.load({folder!r})
found = translator.translate({raw!r})
loaded = {{name.partition(".")[0] for name in sys.modules}}
print(json.dumps([found, sorted(loaded & {{"torch", "fairseq", "fairseq_cli", "scipy", "omegaconf", "hydra"}})]))
"""
COMMAND = """
import sys
from fairseq_xl.cli.main import main
status = main(["translate", "text", {folder!r}])
print(status, sorted({{"torch", "fairseq", "scipy", "omegaconf"}} & set(sys.modules)), file=sys.stderr)
"""


def test_nothing_imports_torch_or_fairseq(exported, raw):
    folder = str(exported / "vectors")
    expected = Translator.load(folder).translate(raw)
    run = [sys.executable, "-c", FRESH.format(folder=folder, raw=raw)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=900)
    assert json.loads(done.stdout) == [expected, []]
    run = [sys.executable, "-c", COMMAND.format(folder=folder)]
    text = "\n".join(raw)
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=900, input=text)
    assert done.stdout.splitlines() == expected
    assert done.stderr == "0 []\n"


def test_batches_change_nothing(exported, raw):
    export = exported / "vectors"
    together, alone = (Translator.load(export, max_tokens=size).candidates(raw, 3) for size in (2000, 1))
    for several, others in zip(together, alone, strict=True):
        assert [one.text for one in several] == [other.text for other in others]
        assert [one.alignment for one in several] == [other.alignment for other in others]
        assert [one.score for one in several] == pytest.approx([other.score for other in others], abs=1e-4)
        assert [one.score for one in several] == sorted((one.score for one in several), reverse=True)
        assert all(len(one.alignment) == len(one.tokens) for one in several)


def test_attention_is_found_where_it_is_wanted_alone(exported, raw, monkeypatch):
    asked = []
    attend = ExportedTranslator.attend

    def counted(self, sources, words):
        asked.append(words)
        return attend(self, sources, words)

    monkeypatch.setattr(ExportedTranslator, "attend", counted)
    translator = Translator.load(exported / "vectors", beam=3)
    plain = translator.candidates(raw, 2, alignment=False)
    assert translator.translate(raw) == [best.text for best, _ in plain]
    assert all(one.alignment is None for several in plain for one in several)
    assert not asked
    aligned = translator.candidates(raw, 2)
    assert sum(map(len, asked)) == 2 * len(raw)
    assert [replace(one, alignment=None) for several in aligned for one in several] == [
        one for several in plain for one in several
    ]
    # To replace unknown words, that of the translations that hold one.
    asked.clear()
    known, unknown = translator.search([["Hund"]] * 2, 1)
    unknown[0].tokens[:] = ["<unk>"]
    monkeypatch.setattr(translator, "search", lambda sources, count: [known, unknown])
    translator.replacements = {}
    assert translator.candidates(["Hund"] * 2, alignment=False)[1][0].tokens == ["Hund"]
    assert asked == [[["<unk>"]]]


def test_odd_lines(exported, folders):
    translator = Translator.load(exported / "words")
    assert translator.candidates(["\u2028", ""]) == [[Translation("", 0.0, [], [], [])]] * 2
    assert translator.translate([]) == []
    (special,), (unknown,) = (
        translator.search([words.split()], 1) for words in ("</s> <pad> Hund <s>", "xxx yyy Hund zzz")
    )
    assert special[0].tokens == unknown[0].tokens
    model = Translator.load(folders / "words", "cpu")
    assert translator.longest == model.longest == 60
    (long,), (expected,) = (one.candidates(["Ein Hund sieht den Mann. " * 30])[0] for one in (translator, model))
    assert (long.cut, long.source, long.tokens) == (expected.cut, expected.source, expected.tokens)
    assert long.cut > 0


def test_options_mean_what_they_mean_to_fairseq(exported, folders, raw):
    stock = GenerationConfig()
    assert (stock.beam, stock.max_len_b) == (BEAM, MAX_LEN_B)
    assert (stock.lenpen, stock.min_len, stock.max_len_a, stock.no_repeat_ngram_size) == (1, 1, 0, 0)
    assert (stock.temperature, stock.unkpen) == (1, 0)
    for options in (
        {"max_len_b": 3},
        {"max_len_a": 0.5, "max_len_b": 1},
        {"min_len": 9},
        {"replace_unk": True},
    ):
        model, export = (Translator.load(folder / "words", "cpu", beam=1, **options) for folder in (folders, exported))
        assert export.translate(raw) == model.translate(raw)
    short, long = (Translator.load(exported / "words", lenpen=penalty).candidates(raw) for penalty in (-3.0, 3.0))
    assert sum(len(best.tokens) for (best,) in short) <= sum(len(best.tokens) for (best,) in long)
    sums = Translator.load(exported / "words", unnormalized=True, beam=1).candidates(raw[:1])[0][0]
    mean = Translator.load(exported / "words", beam=1).candidates(raw[:1])[0][0]
    assert sums.score == pytest.approx(mean.score * (len(mean.tokens) + 1), abs=1e-4)


def test_unknown_words_are_replaced_by_the_source(export, folders, work, raw, tmp_path):
    status, _, _ = export("words", tmp_path / "export", "--unkpen", -1000, "--max-len-b", 4)
    assert status == 0
    for beam in (1, 4):
        model = Translator.load(folders / "words", "cpu", unkpen=-1000, max_len_b=4, replace_unk=True, beam=beam)
        found = Translator.load(tmp_path / "export", replace_unk=True, beam=beam).translate(raw)
        assert found == model.translate(raw)
        assert "<unk>" not in " ".join(found)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"beem": 3}, "no option 'beem'; did you mean beam?"),
        (
            {"decode_score": "cosine"},
            "decode_score is vmf_posterior in this export, not cosine: export the",
        ),
        ({"unkpen": 3}, "unkpen is 0.0 in this export, not 3"),
        ({"temperature": 2.0}, "temperature is 1.0 in this export"),
        ({"decode_prior_weight": 0.1}, "decode_prior_weight is 0.0 in this export"),
        ({"decode_csls_weight": 0.1}, "decode_csls_weight does not fold"),
        ({"sampling": True}, "sampling: an export does plain beam search"),
        ({"match_source_len": True}, "match_source_len: an export does plain beam search"),
        ({"nearest": "hnsw"}, "nearest hnsw: an export scores every word"),
        ({"min_len": 300}, "min_len is 300, but translations of one word may have 200 tokens only"),
        ({"device": "gpu"}, "on gpu: "),
        ({"device": "cpu:x"}, "the device 'cpu:x' cannot be used"),
        ({"max_tokens": 0}, "give 1 or more"),
    ],
)
def test_options_that_cannot_work_are_refused(exported, given, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Translator.load(exported / "vectors", **given)


def test_options_that_change_nothing_are_taken(exported, raw):
    expected = Translator.load(exported / "vectors").translate(raw)
    same = {"decode_score": "vmf_posterior", "unkpen": 0.0, "nearest": "top", "sampling": False}
    assert Translator.load(exported / "vectors", **same).translate(raw) == expected


def test_a_greedy_export_takes_no_beam(export, tmp_path):
    assert export("vectors", tmp_path / "export", "--decode-score", "cosine", "--beam", 1)[0] == 0
    with pytest.raises(InputError, match="folds for greedy search alone, not for a beam of 4"):
        Translator.load(tmp_path / "export", beam=4)
    with pytest.raises(InputError, match="2 translations of each sentence cannot be had from a beam of 1"):
        Translator.load(tmp_path / "export").candidates(["Hund"], n_best=2)


def test_columns_of_the_command(exported, raw, monkeypatch, capsys, tmp_path):
    (tmp_path / "in").write_text("\n".join(raw[:2]) + "\n")
    words = ["translate", "text", exported / "vectors", "--input", tmp_path / "in", "--n-best", 2, "--alignment"]
    assert cli.main([str(word) for word in words]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    found = Translator.load(exported / "vectors").candidates(raw[:2], 2)
    assert [row[:3] for row in rows] == [
        [str(number), f"{one.score:.4f}", one.text] for number, best in enumerate(found, 1) for one in best
    ]
    assert rows[0][5] == " ".join(f"{i}-{j}" for j, i in enumerate(found[0][0].alignment))


def test_a_folder_that_ctranslate2_refuses_is_named(exported, tmp_path):
    shutil.copytree(exported / "words", tmp_path / "export")
    (tmp_path / "export" / "model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=r"^CTranslate2 cannot use \S+/export on cpu: "):
        load_model(tmp_path / "export")


def test_without_the_package_it_says_how_to_get_it(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match=r"needs the package ctranslate2: bash scripts/setup.sh --extras ctranslate2"):
        Translator.load(exported / "vectors")
