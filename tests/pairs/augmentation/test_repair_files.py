"""Words repaired in sentences and in files, where nothing else changes."""

from __future__ import annotations

import gzip
import os

import pytest
from spanish_words import VOCABULARY

from fairseq_xl.cli.main import main
from fairseq_xl.pairs.augmentation.repair_files import TextFile, repaired
from fairseq_xl.pairs.data.tokenizer import WordRules

WORD_RULES = WordRules()
FOUND = {"cupon": ("cupón", "accents"), "porfavor": ("por favor", "joined"), "e-mail": ("email", "joined")}


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("¿Mi  cupon?\u00a0", "¿Mi  cupón?\u00a0"),
        ("Cupon, CUPON; PorFavor e-mail!", "Cupón, CUPÓN; Por favor email!"),
        ("cupones y xcupon", "cupones y xcupon"),
        ("cafe\u0301 sin", "cafe\u0301 sin"),  # nothing to repair: as it was
        ("cafe\u0301 cupon", "café cupón"),
        ("cupon.cupon x", "cupon.cupon x"),  # one word
        ("", ""),
    ],
)
def test_only_words_are_replaced(text, better):
    assert repaired(text, FOUND, WORD_RULES)[0] == better


def test_names_stay():
    assert repaired("cupon porfavor", FOUND, WORD_RULES, {"cupon"}) == (
        "cupon por favor",
        [("porfavor", "por favor", "joined")],
    )


def test_cased_words():
    rules = WordRules(keep_case=True)
    assert repaired("Cupon cupon", {"Cupon": ("Cupón", "accents")}, rules)[0] == "Cupón cupon"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text("".join(f"{word} 1 2\n" for word in [*VOCABULARY, "Cupon"]), encoding="utf-8")
    (tmp_path / "a.tsv").write_bytes(
        '\ufeff  Cupon!\tcupon 7\tRecivido\t1\r\nel pedido\t"the" order \tpor favor\t0\n'
        "reembolso\tx\treemboloso\t0".encode()
    )
    return tmp_path


def repair(folder, *options, file="a.tsv,columns=1+3") -> int:
    command = ["match", "repair-words", f"{folder}/{file}", "--vectors", f"{folder}/v.vec", "-o", f"{folder}/out"]
    return main([*command, *options])


def test_command_changes_words_and_nothing_else(files, capsys):
    changes = files / "changes.tsv"
    assert repair(files, "--language", "es", "--times", "1", "--changes", str(changes)) == 0
    assert (files / "out" / "a.tsv").read_bytes() == (
        '\ufeff  Cupón!\tcupon 7\tRecibido\t1\r\nel pedido\t"the" order \tpor favor\t0\n'
        "reembolso\tx\treembolso\t0".encode()
    )
    assert "| a.tsv | 3 | 0 | 3 | 0 | 2 | 0 | 1 | 1 | 0 | 0 | 1 |" in capsys.readouterr().out
    assert changes.read_text(encoding="utf-8") == (
        "file\tline\tword\treplacement\trule\n"
        f"{files}/a.tsv\t1\tCupon\tCupón\taccents\n"
        f"{files}/a.tsv\t1\tRecivido\tRecibido\tspelling\n"
        f"{files}/a.tsv\t3\treemboloso\treembolso\tnear\n"
    )


def test_rules_can_be_switched_off_and_words_kept(files):
    before = (files / "a.tsv").read_bytes()
    assert repair(files, "--language", "es", "--without", "accents", "spelling", "near", "doubled") == 0
    assert (files / "out" / "a.tsv").read_bytes() == before
    (files / "keep.txt").write_text("CUPON\n", encoding="utf-8")
    assert repair(files, "--keep", str(files / "keep.txt")) == 0
    assert (files / "out" / "a.tsv").read_bytes() == before


def test_what_the_translation_holds_is_a_name(files):
    (files / "b.tsv").write_text("es\ten\nel cupon\tthe Cupon\ncupon\tcoupon\n", encoding="utf-8")
    assert repair(files, file="b.tsv,columns=es,translations=en") == 0
    assert (files / "out" / "b.tsv").read_text(encoding="utf-8") == "es\ten\nel cupon\tthe Cupon\ncupón\tcoupon\n"


def test_compressed_files(files):
    (files / "c.tsv.gz").write_bytes(gzip.compress(b"cupon\tx\n"))
    assert repair(files, file="c.tsv.gz,columns=1") == 0
    assert (files / "out" / "c.tsv").read_text(encoding="utf-8") == "cupón\tx\n"


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("a.tsv,columns=9", (), "line 1: 4 columns, but column 9 is wanted"),
        ("a.tsv,columns=1+3,translations=2", (), "1 translations for 2 columns"),
        ("a.tsv,left=1", (), "is not KEY=VALUE with a key of columns, translations"),
        ("none.tsv", (), "there is no file"),
        ("a.tsv", ("--times", "0"), "--times is 0: give a number from 1"),
        ("a.tsv", ("-o", "{}"), "would replace itself"),
        ("a.tsv", ("--vectors", "{}/none.vec"), "there is no file of word vectors"),
        ("a.tsv", ("--keep", "{}/none.txt"), "there is no file"),
        ("v.vec", (), "1 columns, but column 1+2"),
        ("pipe", (), "pipe is a pipe, and would have to be read twice: give a file"),
    ],
)
def test_mistakes(files, capsys, file, options, message):
    before = (files / "a.tsv").read_bytes()
    os.mkfifo(files / "pipe")
    assert repair(files, *(option.format(files) for option in options), file=file) == 2
    assert message.replace("1+2", "2") in capsys.readouterr().err
    assert (files / "a.tsv").read_bytes() == before


def test_two_files_of_one_name(files, capsys):
    (files / "x").mkdir()
    (files / "x" / "a.tsv").write_text("a\tb\n", encoding="utf-8")
    command = ["match", "repair-words", str(files / "a.tsv"), str(files / "x" / "a.tsv")]
    assert main([*command, "--vectors", str(files / "v.vec"), "-o", str(files / "out")]) == 2
    assert "two files would become" in capsys.readouterr().err


def test_settings_of_a_file():
    file = TextFile.parse("x.tsv,columns=a+b,translations=c+d")
    assert (file.columns, file.translations) == (["a", "b"], ["c", "d"])
    assert TextFile.parse("x.tsv").columns == ["1", "2"]
