"""``fairseq-xl classify prepare`` and ``statistics``: data directories, and the paper's Tables 1 to 4 of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import argument, option
from fairseq_xl.siamese.data.settings import Settings


@dataclass(kw_only=True)
class Prepare(Settings):
    """Make a data directory of labelled text. A SOURCE is FILE[,KEY=VALUE]… with these keys. With
    format=tsv|csv|jsonl|spaces|lines you name the format. By default the file's suffix decides. In the format spaces
    a line has a label, blanks and the text. Give class=COLUMN and text=COLUMN as a number from 1, a name in the first
    row, or a JSON key. With labels=FILE you name a file with a label a line, for a file of text alone. With label=CLASS
    the whole file has one class. With classes=FILE you name a file of lines with a label, a tab and a class name. With
    encoding=NAME you name the encoding. By default the command finds it, and reports it unless it is UTF-8. With
    escapes=json the texts hold \\u2019 and the like for the characters that they mean. With split=train|valid|test you
    name the split, by default train. Give lexicon=FILE to --high-resource alone. It replaces each word by its
    translation."""

    output: Path = option("data directory to write", alias="-o", metavar="DIR")

    def run(self) -> None:
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.siamese.data.prepare import prepare

        manifest = prepare(self.output, self)
        for side, splits in manifest["sentences"].items():
            counts = ", ".join(f"{split} {count}" for split, count in splits.items())
            lost = ", ".join(f"{count} {why}" for why, count in manifest["left_out"][side].items() if count)
            print(f"{manifest['languages'][side]}: {counts}" + (f"; left out: {lost}" if lost else ""), file=sys.stderr)
        print(f"{manifest['units']} n-grams, classes {' '.join(manifest['classes'])}", file=sys.stderr)


@dataclass
class Statistics:
    """Print sentences, lengths and shares of classes, as the paper's Tables 1 to 4 have them."""

    data: list[Path] = argument("data directories", metavar="DATA")

    def run(self) -> None:
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.siamese.data.directory import DataDirectory
        from fairseq_xl.siamese.data.statistics import tables

        for table in tables([DataDirectory(path) for path in self.data]):
            print(table.markdown())
