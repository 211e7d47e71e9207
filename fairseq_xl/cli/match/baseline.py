"""``fairseq-xl match baseline``: train a baseline without a network on a data directory and record what it says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import option
from fairseq_xl.pairs.baselines.settings import Settings


@dataclass(kw_only=True)
class Baseline(Settings):
    """Train a baseline without a network on the training pairs, and record the probabilities of other pairs."""

    output: Path = option("record to write", alias="-o", metavar="FILE")

    def run(self) -> None:
        """Train, judge and write the record.

        Raises:
            InputError: an unusable folder, or what a baseline needs and has not.
        """
        from fairseq_xl.pairs.baselines.judging import judge
        from fairseq_xl.pairs.evaluation.scores import log_losses

        self.check()
        record = judge(self)
        record.write(self.output)
        if record.gold is not None:
            loss = log_losses(record.gold, record.probability).mean()
            print(f"{record.name}: log loss {loss:.4f}", file=sys.stderr)
