"""``fairseq-xl embed encoder STEP``: what can be made of a trained sentence encoder."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)

    pack = steps.add_parser("pack", help="put a checkpoint and all that encoding text needs into one folder")
    random = steps.add_parser(
        "random",
        help="the same model before any training: what its architecture alone can do",
        description="Write an encoder folder with the sizes and dictionaries of a checkpoint and fresh weights.",
    )
    for step in (pack, random):
        step.add_argument(
            "checkpoint", type=Path, metavar="CHECKPOINT", help="of fairseq-train, such as checkpoint_best.pt"
        )
        step.add_argument(
            "--data", type=Path, metavar="DIR", help="the prepared data, where it is no longer where it was in training"
        )
        step.add_argument(
            "--output",
            "-o",
            type=Path,
            required=True,
            metavar="DIR",
            help="folder to write; an encoder folder of that name is replaced",
        )
    random.add_argument("--seed", type=int, default=1, help="of the weights (default: 1)")

    export = steps.add_parser(
        "export",
        help="write an ONNX model, and check that it gives the same vectors",
        description="Write the encoder as an ONNX model from `tokens` (N, T; int64, padded at the end with the "
        "dictionary's number of <pad>, which is 1) and `lengths` (N; int64) to `embeddings` (N, d; float32). It is "
        "run with onnxruntime on sentences of many lengths and must agree with the model.",
    )
    export.add_argument("model", type=Path, metavar="MODEL", help="encoder folder, or a checkpoint of fairseq-train")
    export.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="of a checkpoint: the prepared data, where it is no longer where it was in training",
    )
    export.add_argument("--output", "-o", type=Path, required=True, metavar="X.onnx", help="file to write")


def run(args: argparse.Namespace) -> None:
    """Do one step. Raises: InputError: a checkpoint, data or an output that cannot be used."""
    import fairseq_xl

    fairseq_xl.register()
    if args.step == "export":
        from fairseq_xl.encode.encoder import SentenceEncoder
        from fairseq_xl.encode.onnx_export import export

        difference = export(SentenceEncoder.load(args.model, "cpu", args.data), args.output)
        print(f"{args.output}: agrees with the model within {difference:.1e}")
        return
    from fairseq_xl.encode.packing import pack, pack_untrained

    if args.output.resolve() == args.checkpoint.resolve():
        raise InputError("--output is the checkpoint itself: name a folder")
    if args.step == "pack":
        pack(args.checkpoint, args.output, args.data)
    else:
        pack_untrained(args.checkpoint, args.output, args.seed, args.data)
    print(f"encode with: fairseq-xl embed text {args.output} TEXT --output X.npy")
