"""sentences a second of an exported Transformer by CTranslate2, against fairseq's search on the same model

An untrained model translates made-up sentences to a set length, so that all do the same work. CTranslate2's times hold
what translating with an export asks of it: words in and out. Over a beam, alignments take a pass of their own, which is
made where they are asked for alone and measured apart.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch
from fairseq.models.transformer import TransformerEncoderBase, TransformerModelBase
from fairseq.sequence_generator import SequenceGenerator

from benchmarks.measure import in_turns, ratio
from benchmarks.models import batch, dictionary, table
from fairseq_xl.continuous.models.transformer import ContinuousTransformer, ContinuousTransformerDecoder
from fairseq_xl.continuous.models.transformer_config import ContinuousTransformerConfig, stock_config
from fairseq_xl.io.packages import require
from fairseq_xl.text.pipeline import Pipeline
from fairseq_xl.translation.exported import spec
from fairseq_xl.translation.exported.ctranslate2_export import parts_of
from fairseq_xl.translation.exported.options import COMPUTE_TYPES
from fairseq_xl.translation.exported.translator import ExportedTranslator
from fairseq_xl.translation.options import Decoding

FOLDED = {"decode_score": "vmf_posterior", "decode_prior_weight": 0.0, "temperature": 1.0, "unkpen": 0.0}


def configure(parser: argparse.ArgumentParser) -> None:
    text = "words of the target, and of the source (default: %(default)s)"
    parser.add_argument("--words", type=int, default=10_000, help=text)
    text = "width; inner layers have four times as much (default: %(default)s)"
    parser.add_argument("--size", type=int, default=256, help=text)
    parser.add_argument("--layers", type=int, default=4, help="layers of each side (default: %(default)s)")
    text = "what the decoder puts out (default: %(default)s)"
    parser.add_argument("--output-kind", choices=("continuous", "softmax"), default="continuous", help=text)
    text = "sentences translated at once (default: %(default)s)"
    parser.add_argument("--sentences", type=int, nargs="+", default=[1, 32], help=text)
    parser.add_argument("--length", type=int, default=20, help="tokens of each, both sides (default: %(default)s)")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="sizes (default: %(default)s)")


def run(args: argparse.Namespace, report: Any) -> None:
    words = dictionary(args.words)
    model = build(args, words)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        loaded = {kind: exported(model, words, folder, kind, args) for kind in COMPUTE_TYPES}
        for sentences in args.sentences:
            sample = batch(args.words, args.words, sentences, args.length, args.device)
            source = [[words[i] for i in row[:-1].tolist()] for row in sample["net_input"]["src_tokens"]]
            for beam in args.beams:
                fixed = {"beam_size": beam, "min_len": args.length, "max_len_b": args.length}
                fairseq = SequenceGenerator([model], words, **fixed)
                functions = {"fairseq": partial(fairseq.generate, [model], sample)}
                # one token more, for fairseq counts the end of the sentence apart
                options = Decoding(beam=beam, min_len=args.length + 1, max_len_b=args.length + 1)
                for kind, translator in loaded.items():
                    made = ExportedTranslator(Pipeline("de", "en", "none"), translator, options, [1024, 1024])
                    functions[f"CTranslate2, {kind}"] = partial(made.search, source, 1)
                    if beam > 1:
                        functions[f"CTranslate2, {kind}, aligned"] = partial(aligned, made, source)
                times = in_turns(functions, args.repeats, args.device)
                for name in functions:
                    report.add(
                        sentences=sentences,
                        beam=beam,
                        search=name,
                        sentences_per_s=sentences / statistics.median(times[name]),
                        by_fairseq=1 / ratio(times, name, "fairseq"),
                    )


def aligned(translator: ExportedTranslator, source: list[list[str]]) -> Any:
    """Search, and the pass that finds what each word attends to."""
    return translator.attend(source, [best.tokens for (best,) in translator.search(source, 1)])


def build(args: argparse.Namespace, words: Any) -> ContinuousTransformer:
    """An untrained Transformer of the wanted size, and a table of vectors of 300 numbers."""
    cfg = ContinuousTransformerConfig(decode_score="vmf_posterior", decoder_output=args.output_kind)
    for side in ("encoder", "decoder"):
        setattr(cfg, f"{side}_embed_dim", args.size)
        setattr(cfg, f"{side}_ffn_embed_dim", 4 * args.size)
        setattr(cfg, f"{side}_layers", args.layers)
    torch.manual_seed(0)
    stock, targets = stock_config(cfg), table(words)
    embedding = TransformerModelBase.build_embedding(stock, words, args.size)
    encoder = TransformerEncoderBase(stock, words, embedding)
    decoder = ContinuousTransformerDecoder(cfg, stock, words, targets)
    return ContinuousTransformer(encoder, decoder).to(args.device).eval()


def exported(model: ContinuousTransformer, words: Any, folder: Path, kind: str, args: argparse.Namespace) -> Any:
    """The model in CTranslate2's hands."""
    place = folder / kind
    place.mkdir()
    weights = parts_of(model, words, FOLDED).weights()
    spec.write_model(place, spec.architecture(model), weights, words.symbols, words.symbols, kind)
    threads = args.threads or torch.get_num_threads()
    ctranslate2 = require("ctranslate2", "ctranslate2", "an export")
    return ctranslate2.Translator(str(place), args.device, intra_threads=threads)


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Sentences a second, one panel for each beam and number of sentences."""
    groups = sorted({(row["sentences"], row["beam"]) for row in rows})
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for axes, (sentences, beam) in zip(panels, groups, strict=True):
        mine = [row for row in rows if (row["sentences"], row["beam"]) == (sentences, beam)]
        bars = axes.bar([row["search"] for row in mine], [row["sentences_per_s"] for row in mine])
        axes.bar_label(bars, fmt="%.1f", padding=3)
        axes.tick_params(axis="x", rotation=60)
        axes.set_title(f"{sentences} at once, beam {beam}")
    panels[0].set_ylabel("sentences a second")
