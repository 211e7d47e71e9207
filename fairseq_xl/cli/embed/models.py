"""What can be made of a trained sentence encoder: a folder, an untrained model of its sizes, an ONNX model."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, user_dir_option
from fairseq_xl.report.model_card import CardOptions

_DATA = "the data directory, where it is no longer where it was in training"


@dataclass(kw_only=True)
class _Folder:
    """A folder made of a checkpoint."""

    model: Path = argument("checkpoint of fairseq-train, such as checkpoint_best.pt")
    data: Path | None = option(_DATA, None, metavar="DIR")
    output: Path = option("folder to write; an encoder folder of that name is replaced", alias="-o", metavar="DIR")
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Raises: InputError: a checkpoint, data or an output that cannot be used."""
        import fairseq_xl

        fairseq_xl.register()
        if real_path(self.output) == real_path(self.model):
            raise InputError("--output is the checkpoint itself: name a folder")
        self.write()
        print(f"encode with: fairseq-xl embed text {shlex.quote(str(self.output))} TEXT --output X.npy")

    def write(self) -> None:
        raise NotImplementedError  # abstract: each subclass writes one thing


@dataclass(kw_only=True)
class Pack(_Folder, CardOptions):
    """Put a checkpoint and all that encoding text needs into one folder. With --licence the folder gets a model card,
    too."""

    record: Path | None = option("JSON that `embed evaluate` wrote of this very file; the card has its scores", None)

    def write(self) -> None:
        from fairseq_xl.encode.encoder import pack
        from fairseq_xl.syntactic.evaluation.card_scores import card_scores

        about = self if self.asked_for else None
        scores = card_scores(self.record, self.model) if self.record else []
        pack(self.model, self.output, self.data, about, scores)


@dataclass(kw_only=True)
class Random(_Folder):
    """Write an encoder folder with the sizes and dictionaries of a checkpoint and fresh weights."""

    seed: int = option("seed of the weights", 1, low=0, high=GREATEST_SEED)

    def write(self) -> None:
        from fairseq_xl.encode.encoder import pack_untrained

        pack_untrained(self.model, self.output, self.seed, self.data)


@dataclass(kw_only=True)
class Export:
    """Write the encoder as an ONNX model. Its inputs are `tokens` (N, T; int64) and `lengths` (N; int64). Pad tokens at
    the end with 1, the dictionary's number of <pad>. Its output is `embeddings` (N, d; float32). The command runs it
    with onnxruntime on sentences of many lengths, where it must agree with the model."""

    model: Path = argument("encoder folder, or a checkpoint of fairseq-train")
    data: Path | None = option(f"of a checkpoint: {_DATA}", None, metavar="DIR")
    output: Path = option("file to write", alias="-o", metavar="X.onnx")
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Raises: InputError: a model or an output that cannot be used, or a model that ONNX cannot hold."""
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.encode.onnx_export import export

        difference = export(fairseq_xl.SentenceEncoder.load(self.model, "cpu", self.data), self.output)
        print(f"{self.output}: agrees with the model within {difference:.1e}")
