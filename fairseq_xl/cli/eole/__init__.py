"""``fairseq-xl eole …``: continuous outputs in eole, where fairseq is not installed."""

from __future__ import annotations

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "train": ("fairseq_xl.cli.eole.run:Train", "train a model that predicts vectors, as eole train"),
    "predict": ("fairseq_xl.cli.eole.run:Predict", "translate with such a model, as eole predict"),
}
