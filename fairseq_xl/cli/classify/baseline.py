"""``fairseq-xl classify baseline``: train a baseline on a data directory and record its predictions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.settings import option
from fairseq_xl.siamese.baselines.settings import Settings


@dataclass(kw_only=True)
class Baseline(Settings):
    """Train another classifier on the low-resource language's labels, or on those of both, and write a record of its
    predictions."""

    output: Path = option("record to write", alias="-o", metavar="FILE")

    def run(self) -> None:
        """Train, classify and write the record.

        Raises:
            InputError: the data cannot be used, or something that the baseline needs is missing.
        """
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.siamese.baselines.classifying import classify
        from fairseq_xl.siamese.evaluation import records

        self.check()
        with atomic_text(self.output) as stream:
            record = classify(self)
            records.write(record, stream)
        print(f"{record['name']}: macro-F1 {100 * record['macro_f1']:.1f}", file=sys.stderr)
