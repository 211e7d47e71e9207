"""``fairseq-xl embed text``: lines of raw text to the rows of an array."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines, read_lines
from fairseq_xl.io.progress import progress_bar

_BLOCK = 20_000
"""lines encoded before their vectors are written"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Encode raw text, one sentence a line. Row n of the array belongs to line n of the text; a line without "
        "words has a row of zeros. Of a line that is too long for the model the beginning is encoded."
    )
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="folder that fairseq-xl embed encoder pack made, or a checkpoint of fairseq-train",
    )
    parser.add_argument(
        "input",
        type=Path,
        nargs="?",
        metavar="INPUT",
        help="text to encode (UTF-8; .gz is decompressed); standard input when omitted",
    )
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        required=True,
        metavar="X.npy",
        help="array (lines, dimension) of float32, which appears when all is encoded",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="of a checkpoint: the prepared data, where it is no longer where it was in training",
    )
    parser.add_argument(
        "--normalize", action="store_true", help="scale each vector to length 1, so that dot products are cosines"
    )
    parser.add_argument("--fp16", action="store_true", help="store 16-bit numbers: half the room, three digits")
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=8000,
        metavar="N",
        help="tokens encoded at once, padding included: more are faster on a GPU (default: 8000)",
    )
    device = parser.add_mutually_exclusive_group()
    device.add_argument("--device", help="such as cuda:1 (default: a GPU where there is one)")
    device.add_argument("--cpu", dest="device", action="store_const", const="cpu", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Encode block by block, so that the vectors need not fit into memory.

    Raises:
        InputError: a model, an option or a file that cannot be used; input that is not UTF-8.
    """
    if args.output.suffix != ".npy":
        raise InputError(f"--output is {args.output}: give a name that ends in .npy")
    if args.input is None:
        lines = list(decode_lines(sys.stdin.buffer, "standard input"))
    else:
        lines = list(read_lines(args.input))
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.encode.encoder import SentenceEncoder

    encoder = SentenceEncoder.load(args.model, args.device, args.data)
    kind = np.dtype(np.float16 if args.fp16 else np.float32)
    header = {"descr": kind.str, "fortran_order": False, "shape": (len(lines), encoder.dim)}
    options = {"max_tokens": args.max_tokens, "normalize": args.normalize, "progress": False}
    with (
        atomic_outputs(args.output) as (temporary,),
        temporary.open("wb") as stream,
        progress_bar("encoding", sys.stderr.isatty(), len(lines), " lines") as bar,
    ):
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, len(lines), _BLOCK):
            block = lines[start : start + _BLOCK]
            stream.write(encoder.encode(block, **options).astype(kind).tobytes())
            bar.update(len(block))
