"""``fairseq-xl match ensemble``: one record of several."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_given

if TYPE_CHECKING:
    from fairseq_xl.pairs.evaluation.record import ClassifierRuns


@dataclass(kw_only=True)
class Ensemble:
    """Combine the records of several pair classifiers on the same pairs. Records of one name are runs (seeds) of one
    classifier and are averaged first.
    """

    records: list[Path] = argument("records to combine", metavar="RECORD")
    output: Path = option("record to write", alias="-o", metavar="FILE")
    preset: str | None = option(
        "take those of the records that the paper's submission for that phase combined. It knows them by their names",
        None,
        choices=("phase1", "phase2"),
    )
    rule: str = option(
        "mean of the probabilities, mean of the logits, or logistic regression on the logits",
        "probability",
        choices=("probability", "logit", "stack"),
    )
    stack_on: list[Path] = option(
        "out-of-fold records of the same classifiers, made with --fold. The rule is fitted on them, and so is the "
        "calibration unless --cross-fit is given. They may not share pairs with the records that are combined",
        [],
        metavar="RECORD",
    )
    calibrate: str | None = option(
        "calibrate the output of the rule by one temperature (temperature), or by a temperature and a bias (platt). "
        "Choose platt where the share of matches is another than in training",
        None,
        choices=("temperature", "platt"),
    )
    cross_fit: int | None = option(
        "fit in N folds of the combined pairs themselves. Each pair gets its score from a fit on pairs that share no "
        "sentence with it",
        None,
        metavar="N",
    )
    seed: int = option("seed of the folds of --cross-fit", 1, low=0, high=GREATEST_SEED)
    name: str | None = option(
        "name of the ensemble in tables", None, shown="the preset or “ensemble”, the rule, the calibration"
    )

    def run(self) -> None:
        """Combine and write.

        Raises:
            InputError: records that cannot be read or combined, or settings that leave nothing to fit on.
        """
        from fairseq_xl.pairs.evaluation.record import PairRecord, together
        from fairseq_xl.pairs.evaluation.scores import log_losses
        from fairseq_xl.pairs.prediction.ensemble import combine, of_preset

        self._check()
        records = [PairRecord.read(path) for path in self.records]
        if self.preset:
            records = of_preset(records, self.preset)
        found = together(records)
        outside = self._outside(found) if self.stack_on else None
        probability = combine(found, self.rule, self.calibrate, outside, self.cross_fit, self.seed)
        seconds = [record.about.get("training_seconds") for record in records]
        usual = [self.preset or "ensemble", self.rule, *([self.calibrate] if self.calibrate else [])]
        record = PairRecord(
            name=self.name or ", ".join(usual),
            split=records[0].split,
            seed=self.seed,
            ids=found.ids,
            gold=None if found.gold is None else found.gold.tolist(),
            probability=probability.tolist(),
            group=found.group.tolist(),
            about={
                "combined": {name: [run.seed for run in runs] for name, runs in found.records.items()},
                "rule": self.rule,
                "calibrated": self.calibrate,
                "fitted_on_pairs": len(outside.ids) if outside else None,
                "folds": self.cross_fit,
                "training_seconds": None if None in seconds else sum(seconds),
            },
        )
        record.write(self.output)
        if record.gold is not None:
            print(f"{record.name}: log loss {log_losses(record.gold, probability).mean():.4f}", file=sys.stderr)

    def _outside(self, found: ClassifierRuns) -> ClassifierRuns:
        """What the same classifiers say of other pairs."""
        from fairseq_xl.pairs.evaluation.record import PairRecord
        from fairseq_xl.pairs.prediction.ensemble import out_of_fold

        outside = out_of_fold([PairRecord.read(path) for path in self.stack_on], list(found.runs))
        if shared := set(outside.ids) & set(found.ids):
            raise InputError(
                f"{len(shared)} of the pairs of --stack-on are to be combined too, the first {min(shared)}: stack on "
                "out-of-fold records of training pairs"
            )
        return outside

    def _check(self) -> None:
        fits = self.rule == "stack" or self.calibrate
        if fits and not (self.stack_on or self.cross_fit):
            raise InputError(
                "stacking and calibrating are fitted on other pairs than are reported: give --stack-on or --cross-fit"
            )
        if not fits and (self.stack_on or self.cross_fit):
            raise InputError("a mean has nothing to fit: leave --stack-on and --cross-fit out, or add --calibrate")
        if self.stack_on and self.cross_fit and not self.calibrate:
            raise InputError("--cross-fit beside --stack-on is for the calibration: add --calibrate")
        if not self.cross_fit:
            refuse_given(self, ["seed"], "is the seed of --cross-fit, which is not given")
