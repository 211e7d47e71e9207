"""``fairseq-xl translate diagnose``: what the syn-margin paper says of its models' vectors, measured on a split."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

import fairseq_xl
from fairseq_xl.continuous.diagnostics.settings import Settings
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option


@dataclass(kw_only=True)
class Diagnose(Settings):
    """Measure what a continuous-output model predicts on a data set. The command measures accuracies and the
    similarities to the nearest word and the target (Table 2 of the syn-margin paper). It does so under teacher forcing
    and in the model's own greedy decoding. It also measures the components of margin losses' negatives (its section
    3.1), angles, norms and hubs.
    """

    models: list[Path] = argument(
        "checkpoints of continuous models; several of one run show how it changed over training", metavar="MODEL"
    )
    data: Path = option("data directory made by fairseq-preprocess", metavar="DIR")
    output: Path = option("JSON file to write", alias="-o", metavar="FILE")
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Measure, write, print."""
        fairseq_xl.register()
        from fairseq_xl.continuous.diagnostics import measure, table
        from fairseq_xl.report import record
        from fairseq_xl.training.checkpoints import need_file
        from fairseq_xl.training.device import usable

        # What is missing or cannot be written is better known before the work than after it.
        for path in self.models:
            need_file(path)
        with atomic_text(self.output) as stream:
            report = {
                "data": str(self.data),
                **{each.name: getattr(self, each.name) for each in fields(Settings)},
                "device": record.device(usable(self.device).type == "cpu"),
                "versions": record.versions(),
                "commit": record.commit(),
                "checkpoints": [measure.diagnose(path, self.data, self, self.device) for path in self.models],
            }
            json.dump(report, stream, indent=1, ensure_ascii=False, allow_nan=False)
            stream.write("\n")
        print("\n".join(table.lines(report)))
        print(f"written to {self.output}")
