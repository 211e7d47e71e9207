"""A small good file of every kind that the suite reads."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save


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
SIAMESE_MANIFEST = json.dumps(
    {"version": 1, "classes": ["neg", "pos"], "ngrams": [3], "morphemes": [], "lower": True}
).encode()
PAIRS_MANIFEST = json.dumps({"version": 1, "tokenizer": {}, "folds": 2}).encode()
SYNTACTIC_MANIFEST = {
    "version": 1,
    "sentencepiece": "spm",
    "source_dictionary": "dict",
    "targets": {"upos": "dict"},
    "languages": ["en"],
    "pairs": [{"source": "de", "target": "en", "train": 5}],
}
ENCODER = {"version": 2, "files": {"model.safetensors": sha256(b"M").hexdigest()}}
TRANSLATOR = {
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
BINARY, INDEX = binarised()
