"""``fairseq-xl match calibrate``: make a matcher's probabilities true on a development set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.record import PairRecord


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Fit a temperature (Guo et al. 2017) on the record of a development set, which training has not seen and "
        "which is not the set to be reported. Where matching pairs are rarer or commoner in the text to be judged, "
        "give or estimate their share there."
    )
    parser.add_argument("record", type=Path, help="of `pairs predict --part`, with labels, not calibrated")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="for `pairs predict`")
    parser.add_argument(
        "--bias", action="store_true", help="fit a bias beside the temperature (Platt 1999), for some hundred pairs"
    )
    share = parser.add_mutually_exclusive_group()
    share.add_argument("--prior", type=float, metavar="X", help="share of matching pairs in the text to be judged")
    share.add_argument(
        "--prior-from",
        type=Path,
        metavar="RECORD",
        help="estimate that share from the same model's probabilities of the text to be judged, without its labels "
        "(Saerens et al. 2002)",
    )


def run(args: argparse.Namespace) -> None:
    """Fit and write.

    Raises:
        InputError: a record without labels, or a share outside 0 to 1.
    """
    from fairseq_xl.pairs.prediction import calibration
    from fairseq_xl.pairs.prediction.calibration_file import Calibration, calibrated, write_calibration

    record = PairRecord.read(args.record)
    if record.gold is None or len(set(record.gold)) < 2:
        raise InputError(f"{args.record} has no labels of both kinds: calibrate on a development set")
    if args.prior is not None and not 0 < args.prior < 1:
        raise InputError(f"--prior is a share between 0 and 1, not {args.prior}")
    gold, logits = np.array(record.gold), calibration.logits(np.array(record.probability))
    if args.bias:
        temperature, bias = calibration.fit_platt(logits, gold)
    else:
        temperature, bias = calibration.fit_temperature(logits, gold), 0.0
    development, prior = float(gold.mean()), args.prior
    found = Calibration(temperature, bias, development, None)
    if args.prior_from:
        judged = PairRecord.read(args.prior_from)
        prior = calibration.estimate_prior(
            calibrated(calibration.logits(np.array(judged.probability)), found), development
        )
    found = Calibration(temperature, bias, development, prior)
    write_calibration(args.output, found)
    share = "" if prior is None else f", matching pairs {100 * development:.1f} % here and {100 * prior:.1f} % there"
    print(f"temperature {temperature:.3f}, bias {bias:.3f}{share}", file=sys.stderr)
