"""``fairseq-xl translate word-recall``: how many rare words of the references a translation has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.settings import argument, option
from fairseq_xl.report.word_recall import TOKENIZERS


@dataclass(kw_only=True)
class WordRecall:
    """Show how many words of the references each translation has, by how often the training text has them. Rare words
    are what systems with a large vocabulary, subwords or a lexicon are for, and BLEU hardly shows them. A word counts
    where the translation of its own sentence has it, no more often than the reference does.
    """

    translations: list[Path] = argument("translations, a sentence a line, detokenised", metavar="FILE")
    reference: Path = option("the right translations, a sentence a line", metavar="FILE")
    training: Path = option("the target side of the training text, written as the reference is", metavar="FILE")
    tokenize: str = option(
        "sacreBLEU's tokeniser; choose zh or char for text without blanks", "13a", choices=TOKENIZERS
    )
    output: Path | None = option("also write the counts as JSON", None, alias="-o", metavar="FILE")

    def run(self) -> None:
        from fairseq_xl.report.tables import Table
        from fairseq_xl.report.word_recall import group_names, word_counts, word_recall

        references = list(read_lines(self.reference))
        known = word_counts(read_lines(self.training), self.tokenize)
        found = {}
        for path in dict.fromkeys(self.translations):
            lines = list(read_lines(path))
            if len(lines) != len(references):
                raise InputError(
                    f"{path} has {len(lines)} lines and {self.reference} {len(references)}: give translations of all "
                    "sentences of the reference"
                )
            found[str(path)] = word_recall(known, references, lines, self.tokenize)
        table = Table("Recall of words", ["in the training text", "words", *found])
        for group, name in enumerate(group_names()):
            counts = [groups[group] for groups in found.values()]
            shares = (f"{c.right:,} ({100 * c.right / c.words:.1f} %)" if c.words else "" for c in counts)
            table.add(name, f"{counts[0].words:,}", *shares)
        print(table.markdown())
        if self.output is not None:
            counted = {
                path: {name: group._asdict() for name, group in zip(group_names(), groups, strict=True)}
                for path, groups in found.items()
            }
            write_json(self.output, counted, indent=2, ensure_ascii=False)
