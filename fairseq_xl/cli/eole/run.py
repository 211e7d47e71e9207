"""``fairseq-xl eole train`` and ``predict``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import option


@dataclass
class Train:
    """Train by eole's trainer, from its own YAML file. A section `continuous` in the file sets the model that predicts
    vectors, as in recipes/config/eole.yaml. The command needs the package eole and does not use fairseq."""

    config: Path = option("configuration file", alias="-c")

    def run(self) -> None:
        from fairseq_xl.eole.settings import require_eole

        require_eole()
        from fairseq_xl.eole.training import train

        train(self.config)


@dataclass
class Predict:
    """Translate by eole's search with a model of `fairseq-xl eole train`. A configuration file may have every key that
    eole predict takes, and decode_… in a section `continuous`."""

    model: Path = option("folder that training.model_path named, or a step_N in it", alias="-m")
    src: Path = option("text to translate, prepared as the training text was", alias="-s")
    output: Path = option("file to write the translations to", alias="-o")
    beam: int | None = option("beam size, 1 for greedy search; eole's own default is 5", None, low=1)
    config: Path | None = option("further options of eole, as YAML", None, alias="-c")

    def run(self) -> None:
        from fairseq_xl.eole.settings import read_config, require_eole

        require_eole()
        from fairseq_xl.eole.prediction import predict

        options, section = ({}, None) if self.config is None else read_config(self.config)
        if self.beam is not None:
            options["beam_size"] = self.beam
        predict(self.model, self.src, self.output, options, section or {})
