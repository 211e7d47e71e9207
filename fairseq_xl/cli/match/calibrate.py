"""``fairseq-xl match calibrate``: make a classifier's probabilities true on a development set."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Calibrate:
    """Fit a temperature (Guo et al. 2017) on the record of a development set, which training has not seen and which
    is not the set to be reported. Where matching pairs are rarer or commoner in the text to be judged, give or
    estimate their share there.
    """

    record: Path = argument("record of `match predict --split`, with labels, not calibrated")
    output: Path = option("file to write, for `match predict --calibration`", alias="-o", metavar="FILE")
    bias: bool = option("fit a bias beside the temperature (Platt 1999), for some hundred pairs", False)
    prior: float | None = option(
        "share of matching pairs in the text to be judged", None, exclusive="prior", metavar="X"
    )
    prior_from: Path | None = option(
        "estimate that share from the same model's probabilities of the text to be judged, without its labels "
        "(Saerens et al. 2002)",
        None,
        exclusive="prior",
        metavar="RECORD",
    )

    def run(self) -> None:
        """Fit and write.

        Raises:
            InputError: a record without labels or one that is calibrated, or a share outside 0 to 1.
        """
        import numpy as np

        from fairseq_xl.pairs.evaluation.record import PairRecord
        from fairseq_xl.pairs.prediction import calibration

        def read(path: Path) -> PairRecord:
            record = PairRecord.read(path)
            if record.about.get("calibration") or record.about.get("calibrated"):
                raise InputError(f"{path} is calibrated already: give the record of the model's own probabilities")
            return record

        record = read(self.record)
        if record.gold is None or len(set(record.gold)) < 2:
            raise InputError(f"{self.record} has no labels of both kinds: calibrate on a development set")
        if self.prior is not None and not 0 < self.prior < 1:
            raise InputError(f"--prior is a share between 0 and 1, not {self.prior}")
        gold, logits = np.array(record.gold), calibration.logits(np.array(record.probability))
        fit = calibration.CALIBRATIONS["platt" if self.bias else "temperature"]
        temperature, bias = fit(logits, gold)
        development, prior = float(gold.mean()), self.prior
        found = calibration.Calibration(temperature, bias, development, None)
        if self.prior_from:
            judged = calibration.logits(np.array(read(self.prior_from).probability))
            prior = calibration.estimate_prior(calibration.calibrated(judged, found), development)
        calibration.write_calibration(self.output, replace(found, prior=prior))
        share = ""
        if prior is not None:
            share = f", matching pairs {100 * development:.1f} % here and {100 * prior:.1f} % there"
        print(f"temperature {temperature:.3f}, bias {bias:.3f}{share}", file=sys.stderr)
