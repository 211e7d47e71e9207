"""``fairseq-xl match repair-words``: repair words without a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.settings import argument, option
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.pairs.augmentation.repair import RepairSettings
from fairseq_xl.pairs.data.tokenizer import WordRules

if TYPE_CHECKING:
    from fairseq_xl.pairs.augmentation.repair import Repair
    from fairseq_xl.pairs.augmentation.repair_files import TextFile


@dataclass(kw_only=True)
class RepairWords(RepairSettings, WordRules):
    """Repair words that have no vector, and no others. The command tries five rules in this order, and the first that
    finds a word decides. The rule accents takes a word of the vocabulary with other accents: cupon → cupón. The rule
    spelling, with --language es, takes a word that sounds the same: recivido → recibido. The rule doubled takes the
    word with other letters doubled: reembolsso → reembolso. The rule joined divides two words that were written as one,
    or one with a mark inside: porfavor → por favor. The rule near takes a frequent word of the texts that is a letter
    or two away: reemboloso → reembolso. Words with digits stay. Give all files of a task at once, since frequencies are
    those of all of them. Rows, columns and all other words stay as they are. A repaired sentence has its letters and
    accents composed, Unicode's NFC. FILE.gz becomes FILE.
    """

    files: list[str] = argument(
        "files to repair: FILE[,columns=A+B…][,translations=C+D…], separated by tabs, UTF-8. A column is a number or "
        "a name of the first row (default: 1+2). A word that stands in the sentence's translation as well is a name "
        "and stays",
        metavar="FILE",
    )
    vectors: Path = option(
        "word vectors (.vec, .txt, .npy, .bin), whose words are the vocabulary, frequent words first", metavar="FILE"
    )
    output: Path = option("folder for the repaired files", alias="-o", metavar="DIR")
    keep: Path | None = option(
        "words that stay as they are, such as names of products, separated by blanks or lines", None, metavar="FILE"
    )
    changes: Path | None = option(
        "list every change: file, line, word, replacement, rule", None, metavar="FILE", writes=True
    )

    def run(self) -> None:
        """Repair the files and print what they lacked before and after.

        Raises:
            InputError: a file that cannot be read, or an output that would replace an input.
        """
        from fairseq_xl.pairs.augmentation.repair_files import TextFile, write_all

        files = [TextFile.parse(line) for line in self.files]
        outputs = [self.output / file.path.name.removesuffix(".gz") for file in files]
        _check(outputs, [file.path for file in files])
        table, changes = write_all(files, outputs, self._repair(files), self)
        print(table.markdown())
        if self.changes:
            rows = ((c.path, c.line, c.word, c.replacement, c.rule) for c in changes)
            write_tsv(self.changes, ("file", "line", "word", "replacement", "rule"), rows)

    def _repair(self, files: Sequence[TextFile]) -> Repair:
        from fairseq_xl.pairs.augmentation.repair import Repair
        from fairseq_xl.pairs.augmentation.repair_files import count
        from fairseq_xl.vectors.table import read_words

        # The most frequent first, as files of vectors are ordered.
        vocabulary = {word: rank for rank, word in enumerate(read_words(self.vectors))}
        if not self.keep_case:  # words with capitals are never looked up
            vocabulary = {word: rank for word, rank in vocabulary.items() if word == word.lower()}
        counts, neighbours = count(files, self)
        kept = {word for line in read_lines(self.keep) for word in self.words(line)} if self.keep else ()
        if self.keep and not kept:
            raise InputError(f"{self.keep} holds no words: give those that stay as they are")
        return Repair(vocabulary, counts, neighbours, self, kept)


def _check(outputs: list[Path], inputs: list[Path]) -> None:
    for place, (output, path) in enumerate(zip(outputs, inputs, strict=True)):
        if output in outputs[:place]:
            raise InputError(f"two files would become {output}: repair them into different folders")
        if output.exists() and path.exists() and output.samefile(path):
            raise InputError(f"{path} would replace itself: name another folder with -o")
