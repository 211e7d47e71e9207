"""``fairseq-xl embed text``: lines of raw text to the rows of an array."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option

_BLOCK = 20_000
"""lines encoded before their vectors are written"""


@dataclass(kw_only=True)
class Text:
    """Encode raw text, one sentence a line. Row n of the array belongs to line n of the text. A line without words has
    a row of zeros. Where a line is too long for the model, the command encodes its beginning."""

    model: Path = argument("folder that `fairseq-xl embed pack` made, or a checkpoint of fairseq-train")
    input: Path | None = argument(
        "text to encode (UTF-8; .gz is decompressed); standard input when omitted", None, metavar="INPUT"
    )
    output: Path = option(
        "array (lines, dimension) of float32, which appears when all is encoded", alias="-o", metavar="X.npy"
    )
    data: Path | None = option(
        "of a checkpoint: the data directory, where it is no longer where it was in training", None, metavar="DIR"
    )
    normalize: bool = option("scale each vector to length 1, so that dot products are cosines", False)
    fp16: bool = option("store 16-bit numbers, which take half the space and have three digits", False)
    max_tokens: int = option(
        "tokens encoded at once, padding included: more are faster on a GPU", 8000, metavar="N", low=1
    )
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Encode block by block, so that the vectors need not fit into memory.

        Raises:
            InputError: a model, an option or a file that cannot be used; input that is not UTF-8.
        """
        import numpy as np

        import fairseq_xl
        from fairseq_xl.io.atomic import atomic_outputs
        from fairseq_xl.io.lines import decode_lines, read_lines
        from fairseq_xl.io.progress import progress_bar

        if self.output.suffix != ".npy":
            raise InputError(f"--output is {self.output}: give a name that ends in .npy")
        if self.input is None:
            lines = list(decode_lines(sys.stdin.buffer, "standard input"))
        else:
            lines = list(read_lines(self.input))
        fairseq_xl.register()
        encoder = fairseq_xl.SentenceEncoder.load(self.model, self.device, self.data)
        kind = np.dtype(np.float16 if self.fp16 else np.float32)
        header = {"descr": kind.str, "fortran_order": False, "shape": (len(lines), encoder.dim)}
        with (
            atomic_outputs(self.output) as (temporary,),
            temporary.open("wb") as stream,
            progress_bar("encoding", sys.stderr.isatty(), len(lines), " lines") as bar,
        ):
            np.lib.format.write_array_header_1_0(stream, header)
            for start in range(0, len(lines), _BLOCK):
                block = lines[start : start + _BLOCK]
                vectors = encoder.encode(block, max_tokens=self.max_tokens, normalize=self.normalize, progress=False)
                stream.write(vectors.astype(kind).tobytes())
                bar.update(len(block))
