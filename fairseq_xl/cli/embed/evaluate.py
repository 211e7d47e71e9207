"""``fairseq-xl embed evaluate``: sentence embeddings side by side, scored by the syntax that they carry."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fairseq_xl.io.atomic import atomic_outputs, atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.record import commit, versions
from fairseq_xl.syntactic.evaluation.encoders import KINDS, check_names, parse_encoder
from fairseq_xl.syntactic.evaluation.evaluation import MEASURES, evaluate
from fairseq_xl.syntactic.evaluation.tables import tables
from fairseq_xl.syntactic.tagging.tagged import TaggedText, read_sets, read_treebank
from fairseq_xl.vectors.faiss_index import KINDS as KINDS_OF_INDEX


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    width = max(map(len, KINDS))
    kinds = "\n".join(
        f"  {f'{kind}:{wanted}' if wanted else kind:{width + 8}}  {text}" for kind, (_, wanted, text) in KINDS.items()
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"encoders, each [LABEL=]KIND[:ARGUMENT]:\n{kinds}"
    add = parser.add_argument
    add("encoders", nargs="*", metavar="ENCODER", help="what to evaluate, see below")
    add(
        "--sets",
        nargs="+",
        type=Path,
        default=[],
        metavar="TSV",
        help="LANG.tsv files of fairseq-xl embed build-eval, or a folder of them: groups of sentences with the "
        "same tags, for nearest neighbours",
    )
    add(
        "--treebanks",
        nargs="+",
        default=[],
        metavar="LANG=CONLLU",
        help="sentences with gold tags, for functional dissimilarity; where their sent_id agree, as in PUD, for "
        "translations too",
    )
    add("--measures", nargs="+", choices=MEASURES, default=list(MEASURES), help="take only these (default: all)")
    add("--device", help="where pairs are compared (default: a GPU where there is one)")
    add(
        "--index",
        choices=KINDS_OF_INDEX,
        help="look the nearest neighbours up in a faiss index (extra index) instead of comparing all pairs: with "
        "--measures nearest, for a million sentences; hnsw and ivf overlook some",
    )
    add("--output", "-o", type=Path, metavar="PREFIX", help="write PREFIX.json, the record, and PREFIX.md, the tables")
    add(
        "--write-texts",
        type=Path,
        metavar="FOLDER",
        help="write FOLDER/NAME.txt, one sentence a row, for an encoder that runs elsewhere, and stop",
    )


def run(args: argparse.Namespace) -> None:
    """Evaluate, print the tables, write them and the record.

    Raises:
        InputError: nothing to evaluate, options or an output that cannot be used; at the end, what went wrong with
            some of the encoders, where the others' scores have been written.
    """
    sets = read_sets(args.sets)
    treebanks = [_treebank(text) for text in args.treebanks]
    if args.write_texts:
        write_texts(args.write_texts, [*sets, *treebanks])
        return
    encoders = [parse_encoder(text) for text in args.encoders]
    if not encoders:
        raise InputError("there is no encoder to evaluate: name one, such as length or ours=model:FOLDER")
    from fairseq_xl.training.device import usable

    device = usable(args.device)
    outputs = [Path(f"{args.output}.{ending}") for ending in ("json", "md")] if args.output else []
    began = time.monotonic()
    with atomic_outputs(*outputs) as files:
        for file in files:
            file.touch()  # where nothing can be written, that is said before the computing
        record = evaluate(encoders, sets, treebanks, args.measures, device, args.index, _say)
        record = {"version": 1, **record, "index": args.index, "seconds": round(time.monotonic() - began, 1)}
        record = {**record, "versions": versions(), "commit": commit()}
        text = "\n".join(table.markdown() for table in tables([record]))
        print(text)
        written = [json.dumps(record, indent=1, ensure_ascii=False) + "\n", text]
        for file, content in zip(files, written, strict=False):
            file.write_text(content, encoding="utf-8")
    if record["failures"]:
        raise InputError("; ".join(record["failures"]))


def write_texts(folder: Path, texts: Sequence[TaggedText]) -> None:
    """One sentence a row, in files named as the encoder ``npy:…{name}…`` expects its arrays.

    Raises:
        InputError: two texts of the same name.
    """
    check_names(texts)
    for text in texts:
        with atomic_text(folder / f"{text.name}.txt") as stream:
            stream.writelines(f"{line}\n" for line in text.texts)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _treebank(text: str) -> TaggedText:
    language, equals, path = text.partition("=")
    if not equals or not language or not path:
        raise InputError(f"--treebanks {text!r}: write LANG=FILE, such as de=de_pud.conllu")
    return read_treebank(Path(path), language)
