"""Everything of the suite that reads a file of the user's, with a small good file; and ways to spoil it.

What a parser may do with a spoilt file: read it, or raise :class:`InputError` with one sentence. Anything else would
be a traceback, or worse.
"""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import os
import random
import struct
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from fairseq_xl.io.errors import InputError

NEWLINE = "\n"
SLOW = 60.0
"""Seconds; busy machines are slow, what a hostile file makes slow is without end."""


@dataclass(frozen=True)
class Parser:
    """Attributes:
    read: reads the file that is given.
    file: its name.
    good: what it holds.
    beside: what else must be in its folder, by name.
    """

    read: Callable[[Path], Any]
    file: str
    good: bytes
    beside: dict[str, bytes]

    def check(self, folder: Path, content: bytes) -> None:
        """Raises: InputError: the content is refused. Any other exception is the parser's fault."""
        for name, entry in {**self.beside, self.file: content}.items():
            (folder / name).write_bytes(entry)
        found = self.read(folder / self.file)
        if isinstance(found, Iterable):
            list(found)

    def fault(self, folder: Path, content: bytes) -> str | None:
        """What it does wrong with a content, in words."""
        started = time.monotonic()
        try:
            self.check(folder, content)
        except InputError as error:
            sentence = str(error)
            if not sentence or "\n" in sentence or len(sentence) > 2000:
                return (
                    f"a sentence of {len(sentence)} characters, lines {sentence.count(NEWLINE) + 1}: {sentence[:500]}"
                )
        except Exception:
            return traceback.format_exc()
        seconds = time.monotonic() - started
        return f"took {seconds:.0f} s" if seconds > SLOW else None


# What breaks parsers: ends of lines and of strings, numbers that are none, encodings, what a format is made of.
PIECES = [
    *(b"\x00", b"\n", b"\r\n", b"\r", b"\t", b" ", b'"', b"'", b"\\", b"\xff", b"\xef\xbb\xbf", b"\xc3"),
    *(b"\xe2\x80\xa8", b"\x85", b"-1", b"0", b"1e999", b"nan", b"9" * 30, b"9" * 5000, b"null", b"true", b"[]"),
    *(b"{}", b"{", b"}", b"[", b"]", b"<", b">", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&#xD800;"),
    *(b"\\ud800", b"(", b")", b",", b":", b"=", b"|", b"#", b"%", b"${oc.env:HOME}", b"!!python/object:os.system"),
    *(b"- ", b"&a *a", b"1_000", b"\xd9\xa3", b"\xc2\xb2", b"\xe2\x85\xa7", b"[" * 3000, b"(" * 3000),
    *(b'{"a":' * 3000, b"x" * 200_000, b"Infinity", b"1.5"),
]


OTHERS = [None, True, -1, 0, 1.5, 10**30, "", "x", "1", [], ["x"], [[]], {}, {"x": []}, [None, 1], float("nan")]
"""Values of every type that JSON has."""


def retyped(good: bytes, draw: random.Random) -> bytes | None:
    """JSON, or one line of JSON lines, with a value of another type, one more or one less; None: it is no JSON."""
    lines = [good] if good.count(b"\n") < 2 else good.splitlines(keepends=True)
    place = draw.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[place])
    except (ValueError, IndexError):
        return None
    root: list[Any] = [value]
    holder: Any = root
    key: Any = 0
    while isinstance(holder[key], (list, dict)) and holder[key] and draw.random() < 0.8:
        holder = holder[key]
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match draw.randrange(4):
        case 0 if holder is not root:
            del holder[key]
        case 1 if isinstance(holder, list) and holder is not root:
            holder.append(draw.choice(OTHERS))
        case _:
            holder[key] = draw.choice(OTHERS)
    (value,) = root
    lines[place] = json.dumps(value).encode() + b"\n"
    return b"".join(lines)


def spoil(good: bytes, draw: random.Random) -> bytes:
    """A file like this one, with up to four things wrong."""
    if draw.random() < 0.3 and (changed := retyped(good, draw)) is not None:
        return changed
    content = bytearray(good)
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(0, len(content))
        until = min(len(content), at + draw.choice((0, 1, 1, 4, 30)))
        match draw.randrange(6):
            case 0:  # a flipped bit
                if at < len(content):
                    content[at] ^= 1 << draw.randrange(8)
            case 1:  # a torn end
                del content[at:]
            case 2 | 3:  # something put in, or in the place of something
                content[at:until] = draw.choice(PIECES)
            case 4:  # lost
                del content[at:until]
            case 5:  # twice
                other = draw.randint(0, len(content))
                content[other:other] = content[at : at + draw.choice((4, 40, 400))]
    return bytes(content)


def text(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def tar(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(stream.getvalue(), mtime=0)


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(12, dtype=np.float32).reshape(4, 3))
    return stream.getvalue()


def checkpoint() -> bytes:
    stream = io.BytesIO()
    torch.save({"model": {"weight": torch.arange(6.0)}, "cfg": {"task": {"_name": "x"}}, "extra_state": {}}, stream)
    return stream.getvalue()


def packed_model() -> bytes:
    described = {"cfg": {"task": {"_name": "x"}}, "task_state": {}, "updates": 3, "ties": {"tied": "weight"}}
    return save({"weight": torch.arange(6.0)}, {"fairseq_xl": json.dumps(described)})


def fasttext_model() -> bytes:
    """Two words, three buckets, dimension 2, as fastText writes it."""
    settings = (793_712_314, 12, 2, 5, 5, 1, 5, 1, 3, 2, 3, 2, 3, 100, 1e-4)
    entries = b"".join(word + struct.pack("<xqb", 5, 0) for word in (b"the", b"dog"))
    matrices = [np.arange(1, 2 * rows + 1, dtype="<f4").tobytes() for rows in (5, 2)]
    tables = b"".join(struct.pack("<?2q", False, len(matrix) // 8, 2) + matrix for matrix in matrices)
    return struct.pack("<2i12id", *settings) + struct.pack("<3i2q", 2, 2, 0, 10, -1) + entries + tables


def in_a_child(read: Callable[[Path], Any]) -> Callable[[Path], None]:
    """The same reading where what takes its process down is an exception, too."""

    def work(path: Path, said: Connection) -> None:
        try:
            read(path)
        except InputError as error:
            said.send(str(error))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def run(path: Path) -> None:
        heard, said = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=work, args=(path, said))
        child.start()
        said.close()
        child.join(300)
        if child.is_alive():
            child.kill()
            raise ChildProcessError("the process hangs")
        if child.exitcode:
            raise ChildProcessError(f"the process ended with {child.exitcode}")
        try:
            sentence = heard.recv()
        except EOFError:
            return
        raise InputError(sentence)

    return run


def binarised() -> tuple[bytes, bytes]:
    """Two sentences as fairseq-preprocess writes them: data and index."""
    from fairseq.data import indexed_dataset

    with tempfile.TemporaryDirectory() as folder:
        builder = indexed_dataset.make_builder(f"{folder}/a.bin", impl="mmap", vocab_size=9)
        for item in ([5, 6, 2], [7, 2]):
            builder.add_item(torch.tensor(item))
        builder.finalize(f"{folder}/a.idx")
        return Path(folder, "a.bin").read_bytes(), Path(folder, "a.idx").read_bytes()


VECTORS = text("3 2", "the 0.1 0.2", "dog 1 -2.5e-3", "ö 0 1")
CONLLU = text(
    "# sent_id = 1",
    "# text = Im Haus.",
    "1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_",
    "1\tin\tin\tADP\t_\t_\t3\tcase\t_\t_",
    "2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_",
    "3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No",
    "4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_",
    "",
)
CAMPAIGN = text(
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<mteval><srcset setid="s" srclang="any">',
    '<doc docid="1">',
    "<title>A &amp; B</title>",
    '<seg id="1"> One & two </seg>',
    '<seg id="2">Three &#8217;</seg>',
    "</doc>",
    "</srcset></mteval>",
)
GENERATED = text(
    "S-0\tein hund", "T-0\ta dog", "H-0\t-0.5\ta dog", "D-0\t-0.5\ta dog", "A-0\t0-0 1-1", "H-1\t-1\tthe cat"
)
TRAINING = text(
    "2026-01-01 00:00:00 | INFO | fairseq_cli.train | num. shared model params: 1,234 (num. trained: 1,000)",
    '2026-01-01 00:00:01 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "1", "ups": "2", "bsz": "60", '
    '"num_updates": "5"}',
    '2026-01-01 00:00:02 | INFO | train | {"epoch": 1, "train_loss": "1", "train_train_wall": "9", '
    '"train_num_updates": "10"}',
    '2026-01-01 00:00:03 | INFO | valid | {"epoch": 1, "valid_loss": "1", "valid_num_updates": "10"}',
)
DOCUMENT = {
    "id": "a",
    "urls": ["u", "v"],
    "found_by": "link",
    "lines": [["One.", "Two."], ["Eins.", "Zwei."]],
    "beads": [[[0], [0]]],
}
RECORD = {
    "name": "esim",
    "split": "test",
    "seed": 1,
    "ids": ["a:1", "a:2"],
    "gold": [0, 1],
    "probability": [0.2, 0.7],
    "group": [0, 1],
    "about": {},
}
PREDICTIONS = {
    "name": "SSC",
    "split": "test",
    "languages": {"low": "te"},
    "classes": ["neg", "pos"],
    "training_sentences": {"low": 5},
    "gold": [0, 1],
    "predicted": [1, 1],
}
SET = {
    "sentences": 4,
    "sha256": "0",
    "groups": 2,
    "attainable": {"1-NN": 100.0, "5-NN": 90.0},
    "chance": 50.0,
    "length": {"6": {"sentences": 4, "groups": 2}},
}
NEAREST = {"1-NN": 74.0, "5-NN": 60.0, "length": {"6": {"1-NN": 74.0, "5-NN": 60.0}}}
EVALUATION = {
    "version": 1,
    "texts": {"sets": {"de": SET}, "treebanks": {"de": {"sha256": "1", "sentences": 3, "constant": 0.5}}},
    "encoders": [{"label": "ours", "nearest": {"de": NEAREST}, "dissimilarity": {"de": {"similarity": 0.1}}}],
}
ROWS = text(
    "id\tlabel\tgroup\tleft_fold\tright_fold\tleft\tright\tleft_text\tright_text",
    "a:1\t1\t0\t0\t1\ta b\tc d\tA b\tC d",
    "a:2\t\t1\t1\t1\te\tf\te\tf",
)
STATE = {"title": "t", "labels": {}, "baselines": [], "systems": {"a.seed1": ["a", 1]}, "cells": {"a.seed1": {}}}
EXPERIMENT = text(
    "title: T",
    "recipe: recipe.sh",
    "options: {dropout: 0.1}",
    'name: "{system}.seed{seed}"',
    "seeds: [1, 2]",
    "systems:",
    "  one: {label: One}",
    "  two: {label: Two, options: {lr: 1e-3}, seeds: [1]}",
    "baselines: [one]",
)
PROJECT = text("languages: [en, fr]", "crawl:", "  base: ['https://example.org/']", "  delay: 0.5", "align: {}")
PAGE = b"""<!DOCTYPE html><html lang=en><head><meta charset="iso-8859-1"><title>T</title>
<link rel=alternate hreflang=fr href="/fr/"></head><body><nav>menu</nav><p>Some <b>text</b> &eacute; here.</p>
<script>x()</script><table><tr><td>A cell.</td></tr></table></body></html>"""


@cache
def parsers() -> dict[str, Parser]:
    """By name. What needs a library is imported here, so that a file of tests names them without."""
    from fairseq_xl.corpus.alignment import quality as align_quality
    from fairseq_xl.corpus.alignment import review
    from fairseq_xl.corpus.crawling import html, pages
    from fairseq_xl.corpus.crawling.site import CrawlSettings
    from fairseq_xl.corpus.documents import document, extract
    from fairseq_xl.corpus.pairs import export, positives
    from fairseq_xl.corpus.project import Project
    from fairseq_xl.encode.folder import checked_model
    from fairseq_xl.experiment import config
    from fairseq_xl.experiment.state import State
    from fairseq_xl.io import fetch, folders, labelled, lexicons, lines, tables
    from fairseq_xl.pairs.augmentation import key
    from fairseq_xl.pairs.data import source
    from fairseq_xl.pairs.data.directory import DataDirectory as PairsDirectory
    from fairseq_xl.pairs.evaluation import record
    from fairseq_xl.pairs.prediction import calibration
    from fairseq_xl.report import record as report_record
    from fairseq_xl.report.training_log import read_training_log
    from fairseq_xl.siamese.baselines import mvrnn
    from fairseq_xl.siamese.data import morphemes
    from fairseq_xl.siamese.data.directory import DataDirectory
    from fairseq_xl.siamese.evaluation import records
    from fairseq_xl.syntactic.data import directory, readers
    from fairseq_xl.syntactic.evaluation import tables as evaluation_tables
    from fairseq_xl.text import campaign, conllu, hypotheses
    from fairseq_xl.text.splits import parallel
    from fairseq_xl.training import checkpoints, packed
    from fairseq_xl.translation import folder as translation_folder
    from fairseq_xl.vectors import dictionary, table

    def labelled_source(path: Path, *options: str) -> list:
        return list(labelled.Source.parse(",".join([str(path), *options])).examples())

    def pair_source(path: Path, *options: str) -> list:
        return list(source.PairSource.parse(",".join([str(path), *options])).pairs())

    def page(path: Path) -> list[str]:
        decoded, _ = html.decode(path.read_bytes())
        return extract.Extractor(extract.ExtractSettings()).lines(decoded)

    def tab_separated(path: Path) -> list:
        return list(readers.TabSeparated(("en", "de"), (path,)).links(0))

    def siamese(path: Path) -> list:
        return DataDirectory(path.parent).corpus("test", "low").texts

    vectors = partial(table.read_vectors, progress=False)
    siamese_manifest = json.dumps(
        {"version": 1, "classes": ["neg", "pos"], "ngrams": [3], "morphemes": [], "lower": True}
    ).encode()
    pairs_manifest = json.dumps({"version": 1, "tokenizer": {}, "folds": 2}).encode()
    manifest = {
        "version": 1,
        "sentencepiece": "spm",
        "source_dictionary": "dict",
        "targets": {"upos": "dict"},
        "languages": ["en"],
        "pairs": [{"source": "de", "target": "en", "train": 5}],
    }
    encoder = {"version": 2, "files": {"model.safetensors": sha256(b"M").hexdigest()}}
    translator = {
        "version": 4,
        "source_lang": "de",
        "target_lang": "en",
        "tokenizer": "none",
        "truecase": False,
        "subwords": False,
        "target_words": False,
        "target_truecased": False,
        "checkpoints": ["model.safetensors"],
        "options": {"beam": 5},
        "files": {
            name: sha256(content).hexdigest()
            for name, content in (("model.safetensors", b"M"), ("dict.de.txt", b"D"), ("dict.en.txt", b"D"))
        },
    }
    binary, index = binarised()

    def entry(read: Callable[[Path], Any], file: str, good: bytes, **beside: bytes) -> Parser:
        return Parser(read, file, good, {name.replace("__", "."): content for name, content in beside.items()})

    return {
        "text vectors": entry(vectors, "a.vec", VECTORS),
        "gzipped vectors": entry(vectors, "a.vec.gz", gzip.compress(VECTORS, mtime=0)),
        "a fastText model": entry(in_a_child(vectors), "a.bin", fasttext_model()),
        "an array of vectors": entry(vectors, "a.npy", array(), a__vocab=text("a", "b", "c", "d")),
        "its words": entry(lambda path: vectors(path.with_suffix(".npy")), "a.vocab", text(*"abcd"), a__npy=array()),
        "a dictionary": entry(dictionary.read_dictionary, "dict.txt", text("the 10", "dog 3", "madeupword0001 0")),
        "CoNLL-U": entry(conllu.read_conllu, "a.conllu", CONLLU),
        "a campaign's XML": entry(campaign.read_xml, "a.xml", CAMPAIGN),
        "a campaign's tagged text": entry(campaign.read_tags, "train.tags.en", text("<url>x</url>", "One < two")),
        "lines": entry(lines.read_lines, "a.txt", text("One", "Zwölf")),
        "gzipped lines": entry(lines.read_lines, "a.txt.gz", gzip.compress(text("One", "Zwölf"), mtime=0)),
        "sentence pairs": entry(
            lambda path: parallel.Corpus(path, ("en", "de")).read(),
            "a.tsv",
            text("Go.\tGeh.\tCC", "Hi.\tHallo.\tx"),
        ),
        "links": entry(tab_separated, "a.tsv", text("Go.\tGeh.\tCC", "Hi.\tHallo.\tx")),
        "a lexicon": entry(lexicons.read_translations, "a.tsv", text("hund\tdog\t0.9", "katze cat")),
        "a lexicon in JSON": entry(lexicons.read_translations, "a.json", b'{"hund": "dog", "katze": "cat"}'),
        "a generation log": entry(hypotheses.read_hypotheses, "log", GENERATED),
        "a training log": entry(read_training_log, "train.log", TRAINING),
        "scores": entry(
            lambda path: report_record.read_scores(path.parent),
            "score.beam1.json",
            b'[{"name": "BLEU", "score": 30.1, "signature": "nrefs:1"}]',
        ),
        "an experiment": entry(config.load, "experiment.yaml", EXPERIMENT, recipe__sh=b"exit 0"),
        "an experiment's state": entry(lambda path: vars(State(path)), "experiment.json", json.dumps(STATE).encode()),
        "a corpus project": entry(
            lambda path: Project.open(path.parent).settings("crawl", CrawlSettings) and (), "corpus.yaml", PROJECT
        ),
        "documents": entry(document.read_documents, "a.jsonl", json.dumps(DOCUMENT).encode() + b"\n"),
        "lines of JSON": entry(pages.read_jsonl, "pages.jsonl", b'{"url": "x", "size": 5}\n'),
        "reviewed alignments": entry(
            lambda path: review.read_review(path), "review.tsv", text("\t".join(review.HEADER), "p\tc\t1 2\t3\ta\tb")
        ),
        "positives": entry(
            positives.read_positives, "positives.tsv", text("\t".join(positives.HEADER), "0\tp\t1\t-1\tOne.\tEins.")
        ),
        "negatives": entry(
            lambda path: export.read_negatives(path, 5), "negatives.tsv", text("left\tright\tcosine", "0\t4\t0.25")
        ),
        "gold beads": entry(
            lambda path: align_quality.read_gold(path, (3, 3)), "gold", text("[0]:[0]", "[1, 2]:[1]", "[]:[2]")
        ),
        "a web page": entry(page, "a.html", PAGE),
        "pairs with labels": entry(pair_source, "a.tsv", text("A b\tC d\t1", "E\tF\t0")),
        "pairs with labels in CSV": entry(
            lambda path: pair_source(path, "left=q1", "right=q2", "label=y"),
            "a.csv",
            text("q1,q2,y", '"A, b",C,1', "E,F,0"),
        ),
        "pairs with labels in JSON": entry(
            lambda path: pair_source(path, "left=a", "right=b", "label=y"),
            "a.jsonl",
            b'{"a": "A b", "b": "C", "y": 1}\n{"a": "E", "b": "F", "y": 0}\n',
        ),
        "a record of pairs": entry(
            lambda path: record.PairRecord.read(path).ids, "a.json", json.dumps(RECORD).encode()
        ),
        "a calibration": entry(
            calibration.read_calibration,
            "a.json",
            b'{"temperature": 1.5, "bias": 0.1, "development_prior": 0.4, "prior": null}',
        ),
        "stop words": entry(key.read_words, "stop", text("# these", "the a", "of")),
        "columns": entry(
            lambda path: tables.stream_rows(path, ("left", "right")), "a.tsv", text("left\tright\tx", "a\tb\tc")
        ),
        "prepared pairs": entry(
            lambda path: PairsDirectory(path.parent).rows("train"), "train.tsv", ROWS, manifest__json=pairs_manifest
        ),
        "the manifest of pairs": entry(
            lambda path: PairsDirectory(path.parent).fold(1, True), "manifest.json", pairs_manifest, train__tsv=ROWS
        ),
        "prepared texts": entry(
            siamese,
            "test.low.tsv",
            text("neg\tbad", "pos\tgood"),
            manifest__json=siamese_manifest,
            test__low__bin=binary,
            test__low__idx=index,
            dict__txt=text("bad 2", "good 1", "so 1", "well 1", "ill 1"),
        ),
        "the manifest of texts": entry(
            lambda path: DataDirectory(path.parent).classes, "manifest.json", siamese_manifest
        ),
        "the manifest of tagged sentences": entry(
            lambda path: directory.read_manifest(path.parent).pairs,
            "manifest.json",
            json.dumps(manifest).encode(),
            spm=b"",
            dict=b"",
        ),
        "a manifest": entry(lambda path: folders.read_manifest(path, 1, "x"), "manifest.json", b'{"version": 1}'),
        "labelled text": entry(labelled_source, "a.tsv", text("pos\tGood.", "neg\tBad.")),
        "labelled CSV": entry(labelled_source, "a.csv", text("label,text", 'pos,"Good, yes"', "neg,Bad")),
        "labelled JSON": entry(
            labelled_source, "a.jsonl", b'{"label": 1, "text": "Good"}\n{"label": 0, "text": "Bad"}\n'
        ),
        "labels before spaces": entry(
            lambda path: labelled_source(path, "format=spaces"), "a.txt", text("1 good", "0 bad")
        ),
        "names of classes": entry(labelled.read_map, "classes", text("1\tpos", "0\tneg")),
        "a record of predictions": entry(records.read, "a.json", json.dumps(PREDICTIONS).encode()),
        "an evaluation's record": entry(
            lambda path: evaluation_tables.tables([evaluation_tables.read_record(path)]),
            "a.json",
            json.dumps(EVALUATION).encode(),
        ),
        "morphemes": entry(lambda path: vars(morphemes.Segmenter.load(path)), "m.txt", text("un happy", "dog")),
        "trees": entry(mvrnn.read_trees, "trees", text("((a b) c)", "(d e)")),
        "an encoder's folder": entry(
            lambda path: checked_model(path.parent),
            "encoder.json",
            json.dumps(encoder).encode(),
            model__safetensors=b"M",
        ),
        "a translator's folder": entry(
            lambda path: translation_folder.read_config(path.parent),
            "translator.json",
            json.dumps(translator).encode(),
            model__safetensors=b"M",
            dict__de__txt=b"D",
            dict__en__txt=b"D",
        ),
        "a checkpoint": entry(lambda path: checkpoints.read(path)["model"], "checkpoint.pt", checkpoint()),
        "a packed model": entry(lambda path: packed.read(path)["model"], "model.safetensors", packed_model()),
        "a tar archive": entry(
            lambda path: fetch.unpack(path, path.parent / "out"), "a.tar.gz", tar(a=b"A", b=b"B" * 999)
        ),
        "a zip archive": entry(
            lambda path: fetch.unpack(path, path.parent / "out"), "a.zip", zipped(a=b"A", b=b"B" * 999)
        ),
    }
