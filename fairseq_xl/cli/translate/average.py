"""``fairseq-xl translate average``: one model whose weights are the mean of several checkpoints'."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Average:
    """Average the weights of checkpoints of one training run. The result is a checkpoint to translate with or to
    finetune from; it holds no optimiser state.
    """

    models: list[Path] = argument(
        "the checkpoints to average; with --last or --best the one folder that training saved them in", metavar="MODEL"
    )
    last: int | None = option(
        "average the checkpoints of the folder's last N epochs", None, low=1, metavar="N", exclusive="choice"
    )
    best: int | None = option(
        "average the N that validated best by --best-checkpoint-metric", None, low=1, metavar="N", exclusive="choice"
    )
    output: Path = option("the checkpoint to write", alias="-o", metavar="FILE")

    def run(self) -> None:
        """Choose, average, write."""
        from fairseq_xl.training import averaging

        paths = self.models
        if self.last is not None or self.best is not None:
            if len(paths) != 1:
                raise InputError("--last and --best choose among the checkpoints of one folder: give that alone")
            paths = averaging.choose(paths[0], self.last, self.best)
        if any(path.is_file() and self.output.is_file() and path.samefile(self.output) for path in paths):
            raise InputError(f"--output {self.output} is one of the checkpoints to average: name another file")
        averaging.write_average(paths, self.output)
        print(f"averaged {len(paths)} checkpoints into {self.output}:")
        for path in paths:
            print(f"  {path}")
