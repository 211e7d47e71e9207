"""``fairseq-xl translate text``: lines of raw text to lines of raw text."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from fairseq_xl.io.atomic import text_output
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, decode_lines, read_lines
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import GREATEST_SEED, argument, device_option, option, user_dir_option
from fairseq_xl.translation.options import Decoding

if TYPE_CHECKING:
    from fairseq_xl.translation.translator import Translation, Translator

BLOCK = 1000


@dataclass(kw_only=True)
class Lines:
    """What is translated, and what is written."""

    model: Path = argument("folder that a recipe left as RUN/model, or fairseq-xl translate pack or export made")
    input: Path | None = option(
        "text to translate (UTF-8; .gz is decompressed); standard input when omitted", None, alias="-i", metavar="FILE"
    )
    output: Path | None = option(
        "file that appears when all is translated; standard output, block by block, when omitted",
        None,
        alias="-o",
        metavar="FILE",
    )
    n_best: int | None = option(
        "write the K best translations of each line, best first. A line without words has one. The columns are the "
        "line's number (from 1), the score and the text, with a tab between them. The score is fairseq-generate's: "
        "log2-probability over length^lenpen",
        None,
        metavar="K",
    )
    alignment: bool = option(
        "add columns with the source's tokens, the target's tokens and pairs i-j. Such a pair says that target token "
        "j attended most to source token i (both from 0; Pharaoh format)",
        False,
    )
    max_tokens: int = option(
        "source tokens translated at once. More are faster on a GPU and take more memory, most for large vocabularies",
        2000,
        low=1,
        metavar="N",
    )
    block_lines: int | None = option(
        "lines read before they are translated, in batches of like length. Give 1 to a program that waits for each "
        "answer",
        None,
        low=1,
        metavar="N",
        shown=f"{BLOCK}; 1 where standard input is a terminal",
    )
    device: str | None = device_option(shown="a GPU where there is one; the CPU for an exported model")
    user_dir: Path | None = user_dir_option()
    seed: int = option("seed of --sampling", 1, low=0, high=GREATEST_SEED)


@dataclass(kw_only=True)
class Text(Decoding, Lines):
    """Translate raw text, one sentence a line, with a model folder. Line n of the output belongs to line n of the
    input. A line without words gives an empty line. Where a line is too long for the model, the command translates its
    beginning and warns of it. Options of the search and the output that you do not give are those of the folder. Where
    it has none, the beam is 5, the length penalty 1, and a translation has 200 tokens at most.
    """

    def run(self) -> None:
        """Translate block by block."""
        if self.input is None:
            total, lines = None, decode_lines(sys.stdin.buffer, "standard input")
        else:
            # What is no plain file, such as a pipe, can be read only once.
            total = count_lines(self.input) if self.input.is_file() else None
            lines = read_lines(self.input)
        block_lines = self.block_lines or (1 if self.input is None and sys.stdin.isatty() else BLOCK)
        with text_output(self.output) as output:
            translator = self._load()
            shown = sys.stderr.isatty() and not output.isatty()
            with progress_bar("translating", shown, total, " lines") as bar:
                first = 1
                while block := list(islice(lines, block_lines)):
                    count = 1 if self.n_best is None else self.n_best
                    found = translator.candidates(block, count, bar.update, self.alignment)
                    for number, candidates in enumerate(found, start=first):
                        output.writelines("\t".join(self._columns(number, one)) + "\n" for one in candidates)
                    output.flush()
                    _warn_of_long_lines(first, found, translator.longest)
                    first += len(block)

    def _load(self) -> Translator:
        from fairseq_xl.translation.translator import Translator

        translator = Translator.load(self.model, self.device, self.max_tokens, **self.given())
        translator.seed(self.seed)
        return translator

    def _columns(self, number: int, translation: Translation) -> list[str]:
        columns = [] if self.n_best is None else [str(number), f"{translation.score:.4f}"]
        columns.append(translation.text)
        if self.alignment:
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
