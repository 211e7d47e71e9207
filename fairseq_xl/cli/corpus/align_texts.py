"""``fairseq-xl corpus align-texts``: parallel text of a text and its translation."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class AlignTexts:
    """Write which lines of two plain texts mean the same, as lines FIRST tab SECOND. The aligner is the dynamic one of
    `corpus align`, whose dictionary is learned from the texts themselves. One line may be two of the other text, which
    the command joins by a blank. It leaves out blank lines, and lines without a counterpart. Texts of more than some
    5,800 lines each are refused: split both at the same chapters."""

    first: Path = argument("text, a line a sentence")
    second: Path = argument("its translation, a line a sentence, in the same order")
    output: Path = option("file to write", alias="-o", metavar="TSV")
    translation: Path | None = option(
        "translation of the second text into the first's language, line for line. It replaces the dictionary",
        None,
        metavar="FILE",
        exclusive="words",
    )
    parallel: tuple[Path, Path] | None = option(
        "sentences and their translations, from which the dictionary is learned besides the texts. Give them where the "
        "texts are short",
        None,
        metavar=("FIRST", "SECOND"),
        exclusive="words",
    )

    def run(self) -> None:
        """Raises: InputError: a text that is empty or too long, files of unequal numbers of lines."""
        from fairseq_xl.corpus.alignment.aligner import align
        from fairseq_xl.corpus.alignment.induced import align_pages
        from fairseq_xl.io.atomic import atomic_text
        from fairseq_xl.io.lines import read_lines
        from fairseq_xl.text.parallel import read_parallel

        first = [line for line in read_lines(self.first) if line.strip()]
        lines = read_parallel(self.second, self.translation) if self.translation else zip(read_lines(self.second))
        rows = [row for row in lines if row[0].strip()]
        second = [row[0] for row in rows]
        for path, text in ((self.first, first), (self.second, second)):
            if not text:
                raise InputError(f"{path} has no line of text: there is nothing to align")
        ratio = sum(map(len, second)) / sum(map(len, first))
        if self.translation:
            beads = align(first, second, [row[-1] for row in rows], ratio)
        else:
            parallel = list(read_parallel(*self.parallel)) if self.parallel else []
            beads = align_pages([(first, second)], ratio, parallel)[0]
        pairs = [bead for bead in beads if all(bead)]
        if not pairs:
            raise InputError(f"no line of {self.first} has a counterpart in {self.second}: are they translations?")
        with atomic_text(self.output) as stream:
            for left, right in pairs:
                sides = (" ".join(text[line] for line in lines) for text, lines in ((first, left), (second, right)))
                stream.write("\t".join(" ".join(side.split()) for side in sides) + "\n")
        used = [sum(len(bead[side]) for bead in pairs) for side in (0, 1)]
        print(
            f"{len(pairs)} pairs; {len(first) - used[0]} of {len(first)} and {len(second) - used[1]} of {len(second)} "
            "lines without a counterpart",
            file=sys.stderr,
        )
