"""``fairseq-xl translate text``: lines of raw text to lines of raw text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tqdm import tqdm

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, decode_lines, read_lines
from fairseq_xl.io.progress import progress_bar

if TYPE_CHECKING:
    from fairseq_xl.translation.translator import Translation, Translator

BLOCK = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Translate raw text, one sentence a line, with a model folder. Line n of the output belongs to\n"
        "line n of the input; a line without words gives an empty line. Of a line that is too long for the\n"
        "model the beginning is translated, and a warning names it."
    )
    parser.epilog = (
        "columns of the output, with a tab between them:\n"
        "  (neither option)  text\n"
        "  --n-best K        number of the line (from 1), score, text; K lines for each line, best first, and\n"
        "                    one for a line without words.\n"
        "                    The score is fairseq-generate's: log2-probability over length^lenpen\n"
        "  --alignment       … text, source tokens, target tokens, pairs i-j: target token j attended most\n"
        "                    to source token i (both from 0; Pharaoh format)"
    )
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="folder that a recipe left as RUN/model or fairseq-xl translate pack made",
    )
    parser.add_argument(
        "--input",
        "-i",
        type=Path,
        metavar="FILE",
        help="text to translate (UTF-8; .gz is decompressed); standard input when omitted",
    )
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        metavar="FILE",
        help="file that appears when all is translated; standard output, block by block, when omitted",
    )
    parser.add_argument(
        "--beam",
        type=int,
        metavar="N",
        help="hypotheses that are followed: more are slower, and better up to a point (default: the model's, mostly 5)",
    )
    parser.add_argument(
        "--lenpen",
        type=float,
        metavar="X",
        help="below 1 for shorter translations, above for longer ones (default: the model's, mostly 1)",
    )
    parser.add_argument("--n-best", type=int, metavar="K", help="print the K best of each line with their scores")
    parser.add_argument(
        "--alignment",
        action="store_true",
        help="print the tokens, too, and which source token each came from, by attention",
    )
    parser.add_argument(
        "--replace-unk",
        nargs="?",
        const="",
        metavar="FILE",
        help="an unknown word becomes the source word it attends to (punctuation is passed over), or what FILE, a "
        "lexicon as `fairseq-xl data lexicon` writes it, says of that",
    )
    parser.add_argument(
        "--replace-unk-distance",
        type=float,
        metavar="N",
        help="with --replace-unk, pass over source words that stand more than N words from where the unknown one "
        "would if both languages had one order; lower it where attention strays (default: none are passed over)",
    )
    parser.add_argument(
        "--override",
        default="",
        metavar="'NAME=VALUE …'",
        help="any other option of the search or of the output, by fairseq-generate's names, such as "
        "'max_len_b=50 no_repeat_ngram_size=3 decode_score=cosine nearest=top'",
    )
    parser.add_argument(
        "--batch-tokens",
        type=int,
        default=2000,
        metavar="N",
        help="source tokens translated at once: more are faster on a GPU and take more memory, most for "
        "large vocabularies (default: 2000)",
    )
    parser.add_argument(
        "--block-lines",
        type=int,
        metavar="N",
        help=f"lines read before they are translated, in batches of like length (default: {BLOCK}; 1 where "
        "standard input is a terminal). Give 1 to a program that waits for each answer",
    )
    device = parser.add_mutually_exclusive_group()
    device.add_argument("--device", help="such as cuda:1 (default: a GPU where there is one)")
    device.add_argument("--cpu", dest="device", action="store_const", const="cpu", help="use no GPU")
    parser.add_argument("--seed", type=int, default=1, help="of --override sampling=true (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Translate block by block.

    Raises:
        InputError: a model, an option or a file that cannot be used; input that is not UTF-8.
    """
    terminal = args.input is None and sys.stdin.isatty()
    n_best = 1 if args.n_best is None else args.n_best
    block_lines = (1 if terminal else BLOCK) if args.block_lines is None else args.block_lines
    if block_lines < 1:
        raise InputError(f"--block-lines is {block_lines}: give 1 or more")
    if args.input is None:
        total, lines = None, decode_lines(sys.stdin.buffer, "standard input")
    else:
        # What is no plain file, such as a pipe, can be read only once.
        total = count_lines(args.input) if args.input.is_file() else None
        lines = read_lines(args.input)
    with _opened(args.output) as output:
        translator = _load(args)
        shown = sys.stderr.isatty() and not output.isatty()
        with progress_bar("translating", shown, total, " lines") as bar:
            first = 1
            while block := list(islice(lines, block_lines)):
                found = translator.candidates(block, n_best, bar.update)
                for number, candidates in enumerate(found, start=first):
                    for one in candidates:
                        output.write("\t".join(_columns(number, one, args)) + "\n")
                output.flush()
                _warn_of_long_lines(first, found, translator.longest)
                first += len(block)


def _load(args: argparse.Namespace) -> Translator:
    import fairseq_xl

    fairseq_xl.register()
    import torch

    from fairseq_xl.translation.options import parse
    from fairseq_xl.translation.translator import Translator

    options = parse(args.override)
    for name in ("beam", "lenpen", "replace_unk", "replace_unk_distance"):
        if getattr(args, name) is not None:
            options[name] = getattr(args, name)
    torch.manual_seed(args.seed)
    return Translator.load(args.model, args.device, args.batch_tokens, **options)


def _columns(number: int, translation: Translation, args: argparse.Namespace) -> list[str]:
    columns = [] if args.n_best is None else [str(number), f"{translation.score:.4f}"]
    columns.append(translation.text)
    if args.alignment:
        if translation.alignment is None:
            raise InputError("--alignment: this model records no attention, so leave it out")
        pairs = " ".join(f"{i}-{j}" for j, i in enumerate(translation.alignment))
        columns += [" ".join(translation.source), " ".join(translation.tokens), pairs]
    return columns


def _warn_of_long_lines(first: int, found: list[list[Translation]], longest: int) -> None:
    cut = [str(number) for number, (best, *_) in enumerate(found, start=first) if best.cut]
    if cut:
        what = f"{len(cut)} lines are" if len(cut) > 1 else "one line is"
        tqdm.write(
            f"warning: {what} too long for the model, and only the first {longest - 1} tokens were "
            f"translated: line {', '.join(cut)}",
            file=sys.stderr,
        )


@contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that takes its name when the block ends well. Raises: InputError."""
    if path is None:
        # typeshed's TextIO lacks what both Python's stream and InertTerminal have
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        yield sys.stdout
        return
    with atomic_outputs(path) as (temporary,), temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
