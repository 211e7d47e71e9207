"""``fairseq-xl match predict``: probabilities of new pairs, or a record of a split's."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairseq_xl.cli.match.common import MOVED, WORDS_LACKING, unlabelled
from fairseq_xl.io.atomic import text_output
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, device_option, option, refuse_given, user_dir_option

if TYPE_CHECKING:
    import numpy as np

    from fairseq_xl.pairs.data.directory import Row
    from fairseq_xl.pairs.evaluation.record import PairRecord
    from fairseq_xl.pairs.prediction.predictor import PairPredictor

STANDARD_INPUT = "/dev/stdin"


@dataclass(kw_only=True)
class Predict:
    """Write the probability that each pair means the same, one a line in the order of the input. With --split, write a
    record of a split of the data directory instead, for ensemble and report.
    """

    model: Path = argument("checkpoint of fairseq-train with --task pair_classification")
    input: str = option(
        "pairs as `match prepare` takes them. Labels are ignored",
        "-",
        shown="-, standard input, two columns",
        metavar="SOURCE",
    )
    split: str | None = option(
        "predict this split of the data directory. The name fold stands for the fold that was held out in training",
        None,
        choices=("train", "valid", "test", "fold"),
    )
    output: Path | None = option("file to write", None, alias="-o", shown="standard output", metavar="FILE")
    name: str | None = option("name of the classifier in the record", None, shown="its architecture")
    data: Path | None = option(MOVED, None, metavar="DIR")
    calibration: Path | None = option("what `fairseq-xl match calibrate` wrote", None, metavar="FILE")
    vectors: Path | None = option(WORDS_LACKING, None, metavar="FILE")
    max_tokens: int = option("tokens that are read at once", 16_000, low=1, metavar="N")
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Predict and write.

        Raises:
            InputError: an unusable checkpoint, folder, calibration or source.
        """
        if self.split and self.output is None:
            raise InputError("--split writes a record: name its file with --output")
        if self.split and self.input != "-":
            raise InputError("give --input or --split, not both")
        given = None if self.split else self._pairs()  # before what takes a while to be imported
        import fairseq_xl

        fairseq_xl.register()
        from scipy.special import expit

        from fairseq_xl.pairs.prediction.calibration import calibrated, read_calibration
        from fairseq_xl.pairs.prediction.predictor import PairPredictor

        calibration = read_calibration(self.calibration) if self.calibration else None
        predictor = PairPredictor.load(self.model, self.data, self.device)
        rows = predictor.rows(*given) if given is not None else self._rows_of_split(predictor)
        if self.vectors:
            count = predictor.learn_words(rows, self.vectors)
            print(f"{count} words that the data directory lacks have a vector", file=sys.stderr)
        began = time.perf_counter()
        logits = predictor.logits(rows, self.max_tokens)
        seconds = time.perf_counter() - began
        found = expit(logits) if calibration is None else calibrated(logits, calibration)
        if self.output and self.split:
            self._record(predictor, rows, found, seconds).write(self.output)
        else:
            with text_output(self.output) as stream:
                stream.writelines(f"{p:.6f}\n" for p in found)

    def _pairs(self) -> tuple[list[tuple[str, str]], tuple[str, str] | None]:
        """The pairs of --input, and their languages where it names them."""
        refuse_given(self, ["name"], "names the record of --split, which is not given")
        source = unlabelled(STANDARD_INPUT + self.input[1:] if self.input.startswith("-") else self.input)
        return [(pair.left, pair.right) for pair in source.pairs()], source.languages

    def _rows_of_split(self, predictor: PairPredictor) -> list[Row]:
        task = predictor.task
        if self.split == "fold" and task.cfg.fold < 0:
            raise InputError(f"{self.model} was trained without --fold: name a split, such as valid")
        # A split is the folder's, whole, whatever the model was trained without: the folder may be another one.
        return task.rows("valid") if self.split == "fold" else task.directory.rows(self.split)

    def _record(self, predictor: PairPredictor, rows: Sequence[Row], found: np.ndarray, seconds: float) -> PairRecord:
        """What is known of a split's pairs."""
        from fairseq_xl.pairs.evaluation.record import PairRecord
        from fairseq_xl.report.record import versions
        from fairseq_xl.training.checkpoints import read

        state = read(self.model)
        cfg = state["cfg"]
        fold = cfg["task"]["fold"]
        about = {
            "model": _plain(cfg["model"]),
            "criterion": _plain(cfg["criterion"]),
            "lr": list(cfg["optimization"]["lr"]),
            "batch_size": cfg["dataset"]["batch_size"],
            "data": predictor.task.directory.manifest,
            "fold": fold,
            # until this checkpoint, validation included
            "training_seconds": state["extra_state"]["previous_training_time"],
            "calibration": str(self.calibration.name) if self.calibration else None,
            "pairs_per_second": len(rows) / seconds,
            "device": str(predictor.device),
            "versions": versions(),
        }
        split = f"fold {fold}" if self.split == "fold" else str(self.split)
        return PairRecord.of_rows(self.name or cfg["model"]["_name"], split, cfg["common"]["seed"], rows, found, about)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A component's own settings: plain values, none of them a path of this machine."""
    return {
        key: value
        for key, value in dict(settings).items()
        if isinstance(value, (str, int, float, bool)) and key not in ("data", "no_progress_bar")
    }
