"""Everything of the suite that reads a file of the user's, with a small good file.

What a parser may do with a spoilt file: read it, or raise :class:`InputError` with one sentence. Anything else would
be a traceback, or worse.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import good_files as good

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
from fairseq_xl.io.errors import InputError
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


def entry(read: Callable[[Path], Any], file: str, content: bytes, **beside: bytes) -> Parser:
    return Parser(read, file, content, {name.replace("__", "."): data for name, data in beside.items()})


vectors = partial(table.read_vectors, progress=False)

PARSERS: dict[str, Parser] = {
    "text vectors": entry(vectors, "a.vec", good.VECTORS),
    "gzipped vectors": entry(vectors, "a.vec.gz", gzip.compress(good.VECTORS, mtime=0)),
    "a fastText model": entry(in_a_child(vectors), "a.bin", good.fasttext_model()),
    "an array of vectors": entry(vectors, "a.npy", good.array(), a__vocab=good.text("a", "b", "c", "d")),
    "its words": entry(
        lambda path: vectors(path.with_suffix(".npy")), "a.vocab", good.text(*"abcd"), a__npy=good.array()
    ),
    "a dictionary": entry(dictionary.read_dictionary, "dict.txt", good.text("the 10", "dog 3", "madeupword0001 0")),
    "CoNLL-U": entry(conllu.read_conllu, "a.conllu", good.CONLLU),
    "a campaign's XML": entry(campaign.read_xml, "a.xml", good.CAMPAIGN),
    "a campaign's tagged text": entry(campaign.read_tags, "train.tags.en", good.text("<url>x</url>", "One < two")),
    "lines": entry(lines.read_lines, "a.txt", good.text("One", "Zwölf")),
    "gzipped lines": entry(lines.read_lines, "a.txt.gz", gzip.compress(good.text("One", "Zwölf"), mtime=0)),
    "sentence pairs": entry(
        lambda path: parallel.Corpus(path, ("en", "de")).read(),
        "a.tsv",
        good.text("Go.\tGeh.\tCC", "Hi.\tHallo.\tx"),
    ),
    "links": entry(tab_separated, "a.tsv", good.text("Go.\tGeh.\tCC", "Hi.\tHallo.\tx")),
    "a lexicon": entry(lexicons.read_translations, "a.tsv", good.text("hund\tdog\t0.9", "katze cat")),
    "a lexicon in JSON": entry(lexicons.read_translations, "a.json", b'{"hund": "dog", "katze": "cat"}'),
    "a generation log": entry(hypotheses.read_hypotheses, "log", good.GENERATED),
    "a training log": entry(read_training_log, "train.log", good.TRAINING),
    "scores": entry(
        lambda path: report_record.read_scores(path.parent),
        "score.beam1.json",
        b'[{"name": "BLEU", "score": 30.1, "signature": "nrefs:1"}]',
    ),
    "an experiment": entry(config.load, "experiment.yaml", good.EXPERIMENT, recipe__sh=b"exit 0"),
    "an experiment's state": entry(lambda path: vars(State(path)), "experiment.json", json.dumps(good.STATE).encode()),
    "a corpus project": entry(
        lambda path: Project.open(path.parent).settings("crawl", CrawlSettings) and (), "corpus.yaml", good.PROJECT
    ),
    "documents": entry(document.read_documents, "a.jsonl", json.dumps(good.DOCUMENT).encode() + b"\n"),
    "lines of JSON": entry(pages.read_jsonl, "pages.jsonl", b'{"url": "x", "size": 5}\n'),
    "reviewed alignments": entry(
        lambda path: review.read_review(path), "review.tsv", good.text("\t".join(review.HEADER), "p\tc\t1 2\t3\ta\tb")
    ),
    "positives": entry(
        positives.read_positives, "positives.tsv", good.text("\t".join(positives.HEADER), "0\tp\t1\t-1\tOne.\tEins.")
    ),
    "negatives": entry(
        lambda path: export.read_negatives(path, 5), "negatives.tsv", good.text("left\tright\tcosine", "0\t4\t0.25")
    ),
    "gold beads": entry(
        lambda path: align_quality.read_gold(path, (3, 3)), "gold", good.text("[0]:[0]", "[1, 2]:[1]", "[]:[2]")
    ),
    "a web page": entry(page, "a.html", good.PAGE),
    "pairs with labels": entry(pair_source, "a.tsv", good.text("A b\tC d\t1", "E\tF\t0")),
    "pairs with labels in CSV": entry(
        lambda path: pair_source(path, "left=q1", "right=q2", "label=y"),
        "a.csv",
        good.text("q1,q2,y", '"A, b",C,1', "E,F,0"),
    ),
    "pairs with labels in JSON": entry(
        lambda path: pair_source(path, "left=a", "right=b", "label=y"),
        "a.jsonl",
        b'{"a": "A b", "b": "C", "y": 1}\n{"a": "E", "b": "F", "y": 0}\n',
    ),
    "a record of pairs": entry(
        lambda path: record.PairRecord.read(path).ids, "a.json", json.dumps(good.RECORD).encode()
    ),
    "a calibration": entry(
        calibration.read_calibration,
        "a.json",
        b'{"temperature": 1.5, "bias": 0.1, "development_prior": 0.4, "prior": null}',
    ),
    "stop words": entry(key.read_words, "stop", good.text("# these", "the a", "of")),
    "columns": entry(
        lambda path: tables.stream_rows(path, ("left", "right")), "a.tsv", good.text("left\tright\tx", "a\tb\tc")
    ),
    "prepared pairs": entry(
        lambda path: PairsDirectory(path.parent).rows("train"),
        "train.tsv",
        good.ROWS,
        manifest__json=good.PAIRS_MANIFEST,
    ),
    "the manifest of pairs": entry(
        lambda path: PairsDirectory(path.parent).fold(1, True),
        "manifest.json",
        good.PAIRS_MANIFEST,
        train__tsv=good.ROWS,
    ),
    "prepared texts": entry(
        siamese,
        "test.low.tsv",
        good.text("neg\tbad", "pos\tgood"),
        manifest__json=good.SIAMESE_MANIFEST,
        test__low__bin=good.BINARY,
        test__low__idx=good.INDEX,
        dict__txt=good.text("bad 2", "good 1", "so 1", "well 1", "ill 1"),
    ),
    "the manifest of texts": entry(
        lambda path: DataDirectory(path.parent).classes, "manifest.json", good.SIAMESE_MANIFEST
    ),
    "the manifest of tagged sentences": entry(
        lambda path: directory.read_manifest(path.parent).pairs,
        "manifest.json",
        json.dumps(good.SYNTACTIC_MANIFEST).encode(),
        spm=b"",
        dict=b"",
    ),
    "a manifest": entry(lambda path: folders.read_manifest(path, 1, "x"), "manifest.json", b'{"version": 1}'),
    "labelled text": entry(labelled_source, "a.tsv", good.text("pos\tGood.", "neg\tBad.")),
    "labelled CSV": entry(labelled_source, "a.csv", good.text("label,text", 'pos,"Good, yes"', "neg,Bad")),
    "labelled JSON": entry(labelled_source, "a.jsonl", b'{"label": 1, "text": "Good"}\n{"label": 0, "text": "Bad"}\n'),
    "labels before spaces": entry(
        lambda path: labelled_source(path, "format=spaces"), "a.txt", good.text("1 good", "0 bad")
    ),
    "names of classes": entry(labelled.read_map, "classes", good.text("1\tpos", "0\tneg")),
    "a record of predictions": entry(records.read, "a.json", json.dumps(good.PREDICTIONS).encode()),
    "an evaluation's record": entry(
        lambda path: evaluation_tables.tables([evaluation_tables.read_record(path)]),
        "a.json",
        json.dumps(good.EVALUATION).encode(),
    ),
    "morphemes": entry(lambda path: vars(morphemes.Segmenter.load(path)), "m.txt", good.text("un happy", "dog")),
    "trees": entry(mvrnn.read_trees, "trees", good.text("((a b) c)", "(d e)")),
    "an encoder's folder": entry(
        lambda path: checked_model(path.parent),
        "encoder.json",
        json.dumps(good.ENCODER).encode(),
        model__safetensors=b"M",
    ),
    "a translator's folder": entry(
        lambda path: translation_folder.read_config(path.parent),
        "translator.json",
        json.dumps(good.TRANSLATOR).encode(),
        model__safetensors=b"M",
        dict__de__txt=b"D",
        dict__en__txt=b"D",
    ),
    "a checkpoint": entry(lambda path: checkpoints.read(path)["model"], "checkpoint.pt", good.checkpoint()),
    "a packed model": entry(lambda path: packed.read(path)["model"], "model.safetensors", good.packed_model()),
    "a tar archive": entry(
        lambda path: fetch.unpack(path, path.parent / "out"), "a.tar.gz", good.tar(a=b"A", b=b"B" * 999)
    ),
    "a zip archive": entry(
        lambda path: fetch.unpack(path, path.parent / "out"), "a.zip", good.zipped(a=b"A", b=b"B" * 999)
    ),
}
