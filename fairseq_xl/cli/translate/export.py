"""``fairseq-xl translate export``: a model folder as one that translates without torch and fairseq."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import fairseq_xl
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import user_dir_option
from fairseq_xl.translation.exported.options import Exporting
from fairseq_xl.translation.options import Decoding


@dataclass(kw_only=True)
class Export(Decoding, Exporting):
    """Write a packed continuous_transformer, with vectors or a softmax, as a folder for CTranslate2. fairseq-xl
    translate text and Translator.load take the export like a model folder, and use it without importing torch or
    fairseq. The vectors' posterior becomes an ordinary output layer. For a continuous_lstm, --format onnx writes two
    ONNX models for programs of your own. The command compares the export with the model on sentences before the folder
    appears. Options that you do not give are those of the model folder. You can choose options of the output only here.
    """

    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Export, or fold another vocabulary into an export, and say how the two compare."""
        from fairseq_xl.translation.exported.folder import is_export

        if not self.model.is_dir():
            raise InputError(
                f"{self.model} is no folder: give one that fairseq-xl translate pack made, which takes a checkpoint"
            )
        if not is_export(self.model) and (self.swap_vectors or self.swap_dictionary):
            raise InputError(f"--swap-vectors is for an export, and {self.model} is none: export it first")
        if self.format == "onnx" and is_export(self.model):
            raise InputError(f"{self.model} is an export already: give --format onnx its model folder")
        fairseq_xl.register()
        if self.format == "onnx":
            from fairseq_xl.translation.exported.onnx_export import export as write
        elif is_export(self.model):
            from fairseq_xl.translation.exported.swap import swap as write
        else:
            from fairseq_xl.translation.exported.ctranslate2_export import export as write
        for line in write(self, self):
            print(line)
        if self.format == "ctranslate2":
            print(f"translate with: fairseq-xl translate text {shlex.quote(str(self.output))} --input FILE")
