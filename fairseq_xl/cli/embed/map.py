"""``fairseq-xl embed map``: embeddings in two dimensions, as a picture and as a page."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy import sparse

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.syntactic.evaluation.encoders import KINDS, parse_encoder
from fairseq_xl.syntactic.evaluation.map import choose, draw, page
from fairseq_xl.syntactic.evaluation.projection import METHODS, project
from fairseq_xl.syntactic.tagging.tagged import read_sets


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Draw the embeddings of the sentences with the most frequent tag sequences: colour for the sequence, shape "
        "for the language. Sentences of all sets share one map."
    )
    add = parser.add_argument
    add("encoder", metavar="ENCODER", help=f"[LABEL=]KIND[:ARGUMENT] as evaluate takes it; kinds: {', '.join(KINDS)}")
    add(
        "--sets",
        nargs="+",
        type=Path,
        required=True,
        metavar="TSV",
        help="LANG.tsv files of fairseq-xl embed build-eval, or a folder of them",
    )
    add(
        "--output",
        "-o",
        type=Path,
        required=True,
        metavar="PREFIX",
        help="write PREFIX.png, PREFIX.pdf and PREFIX.html",
    )
    add(
        "--method",
        choices=METHODS,
        default="pca",
        help="pca keeps large distances and shows how much it keeps; umap, an extra, shows neighbourhoods (default: "
        "pca)",
    )
    add("--groups", type=int, default=12, metavar="N", help="show this many tag sequences (default: 12)")
    add(
        "--most",
        type=int,
        default=4000,
        metavar="N",
        help="show a sample of this many sentences where there are more (default: 4000)",
    )
    add("--seed", type=int, default=0, help="of the sample and of umap (default: 0)")


def run(args: argparse.Namespace) -> None:
    """Embed, project, draw, and say where the files are."""
    encoder = parse_encoder(args.encoder)
    texts = read_sets(args.sets)
    chosen = choose(texts, args.groups, args.most, args.seed)
    parts = [matrix[rows] for matrix, rows in zip(encoder.embed(texts), chosen.rows, strict=True)]
    if len({part.shape[1] for part in parts}) > 1:
        raise InputError(f"{encoder.label} has vectors of different dimension by language: map them one by one")
    vectors = sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
    points, kept = project(vectors, args.method, args.seed)
    languages = [text.language for text in texts]
    shown = f"{len(points):,} sentences of the {len(chosen.patterns)} most frequent tag sequences"
    share = "" if kept is None else f" ({100 * kept:.0f} % of the variance)"
    note = f"{shown}, {args.method.upper()}{share}."
    folder, name = args.output.parent, args.output.name
    draw_picture(folder, name, note, lambda figure: draw(figure, points, chosen, languages), (10.0, 6.0))
    with atomic_text(folder / f"{name}.html") as stream:
        stream.write(page(f"Sentence embeddings: {encoder.label}", note, points, chosen, languages))
    for ending in ("png", "pdf", "html"):
        print(folder / f"{name}.{ending}")
