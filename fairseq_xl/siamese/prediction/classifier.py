"""A trained Siamese encoder as a classifier of text: references encoded once, several draws of them, explanations."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

import fairseq_xl
from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import check, refuse_given
from fairseq_xl.io.steps import checksum
from fairseq_xl.report.classification import confusion, macro_f1
from fairseq_xl.siamese.data.dataset import Sentences
from fairseq_xl.siamese.data.directory import Corpus
from fairseq_xl.siamese.data.sampling import sample_references
from fairseq_xl.siamese.evaluation import records
from fairseq_xl.siamese.evaluation.records import Record
from fairseq_xl.siamese.models.reference_scores import reference_scores
from fairseq_xl.siamese.models.voting_options import ReferenceVoting
from fairseq_xl.siamese.prediction.bias import fit_bias
from fairseq_xl.training.checkpoints import need_file
from fairseq_xl.training.device import usable

if TYPE_CHECKING:
    from fairseq_xl.siamese.models.task import SiameseContrastiveTask


@dataclass(frozen=True)
class Neighbour:
    """A reference sentence near to an input."""

    text: str
    label: str
    cosine: float


@dataclass(frozen=True)
class Prediction:
    """The class of a sentence.

    Attributes:
        label: its class.
        scores: each class's share of the score: shares of matches or neighbours, or a softmax of cosines.
        agreement: share of the draws of references that, alone, give the same class.
        known: share of the sentence's n-grams that the training text has; at 0 the class is a guess.
        neighbours: the nearest references.
    """

    label: str
    scores: dict[str, float]
    agreement: float
    known: float
    neighbours: tuple[Neighbour, ...]


class TextClassifier:
    """A Siamese encoder, its data directory, and the references drawn from it.

    Args:
        model: a fairseq model with ``encode_sentences``, on its device.
        task: a ``SiameseContrastiveTask``.
        voting: how references decide; ``self.voting`` has what the task's options filled in.
        kept: file for the references' vectors, used again while model, data and references are the same.

    Raises:
        InputError: the data lack the references' language; voting has a value that is none, or a number that its rule
            does not read.
    """

    def __init__(self, model: Any, task: SiameseContrastiveTask, voting: ReferenceVoting, kept: Path | None = None):
        check(voting, prefix="")
        self.model, self.task = model.eval(), task
        self.rule = voting.rule or str(task.cfg.rule)
        for name, rule in (("threshold", "matches"), ("neighbours", "knn")):
            if self.rule != rule:
                refuse_given(voting, [name], f"is for the rule {rule}, and the rule is {self.rule}")
        self.threshold = float(task.cfg.match_threshold if voting.threshold is None else voting.threshold)
        wanted = int(voting.references or task.cfg.references)
        side = task.reference_side if voting.reference_side == "auto" else voting.reference_side
        self.voting = ReferenceVoting(
            rule=self.rule,
            threshold=self.threshold,
            neighbours=voting.neighbours,
            references=wanted,
            draws=voting.draws,
            reference_side=side,
            reference_seed=voting.reference_seed,
        )
        self.classes: list[str] = task.directory.classes
        sentences = task.sentences("train", (side,))
        self.corpus: Corpus = sentences.corpora[0]
        random = np.random.default_rng([voting.reference_seed, 0])
        self.draws = [
            sample_references(sentences.labels, len(self.classes), wanted, random) for _ in range(voting.draws)
        ]
        self._say_what_is_short(sentences.labels, wanted)
        self.used = np.unique(np.concatenate(self.draws))
        self.vectors = self._encoded(sentences, kept)
        self.labels = torch.from_numpy(sentences.labels[self.used]).to(self.vectors.device)
        self.bias = torch.zeros(len(self.classes), device=self.vectors.device)

    def _say_what_is_short(self, labels: np.ndarray, wanted: int) -> None:
        found = np.bincount(labels, minlength=len(self.classes))
        short = [f"{name} {count}" for name, count in zip(self.classes, found, strict=True) if count < wanted]
        if short:
            print(
                f"fewer than {wanted} references of {', '.join(short)}: all are taken"
                + (", and shares of matches compared" if self.rule == "matches" else ""),
                file=sys.stderr,
            )

    @classmethod
    def load(
        cls,
        checkpoint: str | Path,
        voting: ReferenceVoting | None = None,
        data: str | Path | None = None,
        device: str | None = None,
    ) -> TextClassifier:
        """From a checkpoint of fairseq-train.

        Args:
            checkpoint: such as ``RUN/checkpoints/checkpoint_best.pt``. The references' vectors are kept beside it.
            voting: how references decide; by default as in the training's validation.
            data: the data directory, where it has moved.
            device: such as ``cpu`` or ``cuda:1``; by default a GPU where there is one.

        Raises:
            InputError: no such checkpoint, or one of another task; no such data, or other data than it was trained on;
                a device that cannot be used.
        """
        from fairseq import checkpoint_utils

        fairseq_xl.register()
        checkpoint = Path(checkpoint)
        need_file(checkpoint)
        overrides = {"data": str(data)} if data else {}
        models, _, task = checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], overrides)
        if not hasattr(task, "reference_side"):
            raise InputError(f"{checkpoint} was not trained with --task siamese_contrastive")
        digest = checksum(checkpoint)[:16]
        return cls(
            models[0].to(usable(device)),
            task,
            voting or ReferenceVoting(),
            checkpoint.with_name(f"{checkpoint.stem}.references.{digest}.npz"),
        )

    def _encoded(self, sentences: Sentences, kept: Path | None) -> Tensor:
        """(R, d) unit vectors of all references, from the file where it holds exactly these."""
        device = next(self.model.parameters()).device
        texts = "\n".join(self.corpus.texts[n] for n in self.used)
        key = hashlib.sha256(texts.encode()).hexdigest()
        found = _read_kept(kept)
        if found is not None and found[0] == key and len(found[1]) == len(self.used):
            return torch.from_numpy(found[1]).to(device)
        vectors = self.task.encode(self.model, sentences, self.used)
        if kept is None or (found is None and os.path.lexists(kept)):
            return vectors
        try:
            with atomic_outputs(kept) as (temporary,), temporary.open("wb") as stream:
                np.savez(stream, key=np.array(key), vectors=vectors.cpu().numpy())
        except InputError as error:  # a folder that is closed to us can be read from
            print(f"{error}; the references are encoded each time", file=sys.stderr)
        return vectors

    @property
    def counts(self) -> bool:
        """Whether scores are counts of references, so that their shares say how sure a class is."""
        return self.rule in ("matches", "knn")

    def encode(self, texts: Sequence[str], side: str = "low") -> tuple[Tensor, np.ndarray]:
        """Unit vectors (N, d) of sentences as users write them, and the share (N,) of their n-grams that is known.

        Raises:
            InputError: a blank sentence; a language that the model does not know.
        """
        if isinstance(texts, str):
            raise TypeError("give a list of sentences, not one string")
        side = self.side_of(side)
        units = [self.task.directory.encode(text, side) for text in texts]
        for number, found in enumerate(units, start=1):
            if not len(found):
                raise InputError(f"sentence {number} is empty: leave it out, for it has no class")
        known = np.array([float((u != self.task.source_dictionary.unk()).float().mean()) for u in units])
        corpus = Corpus(list(texts), np.zeros(len(texts), dtype=np.int64), _InMemory(units))
        sentences = Sentences([corpus], self.task.source_dictionary.pad(), self.task.longest)
        return self.task.encode(self.model, sentences, np.arange(len(texts))), known

    def scores(self, vectors: Tensor) -> Tensor:
        """(draws, N, C) scores of unit vectors (N, d), by each draw of references alone."""
        found = []
        for draw in self.draws:
            rows = torch.from_numpy(np.searchsorted(self.used, draw)).to(vectors.device)
            found.append(
                reference_scores(
                    vectors,
                    self.vectors[rows],
                    self.labels[rows],
                    len(self.classes),
                    self.rule,
                    self.threshold,
                    self.voting.neighbours,
                )
            )
        return torch.stack(found)

    def fit_bias(self) -> None:
        """Give each class a bias that is fitted on the low-resource language's validation sentences.

        Raises:
            InputError: there are none.
        """
        sentences = self.task.sentences("valid", ("low",))
        scores = self.scores(self.task.encode(self.model, sentences, np.arange(len(sentences)))).mean(0)
        found = fit_bias(scores.double().cpu().numpy(), np.asarray(sentences.labels))
        self.bias = torch.from_numpy(found).to(scores)

    def predict(self, texts: Sequence[str], side: str = "low", neighbours: int = 3) -> list[Prediction]:
        """The classes of sentences, in order.

        Args:
            texts: raw text, one sentence each.
            side: their language: ``low``, ``high`` or its code.
            neighbours: how many of the nearest references each prediction has.

        Raises:
            InputError: a blank sentence; a language that the model does not know.
        """
        if not texts:
            return []
        vectors, known = self.encode(texts, side)
        by_draw = self.scores(vectors)
        total = by_draw.mean(0) + self.bias
        chosen = total.argmax(1)
        agreement = ((by_draw + self.bias).argmax(2) == chosen).float().mean(0)
        positive = total.clamp_min(torch.finfo(total.dtype).tiny)
        shares = positive / positive.sum(1, keepdim=True) if self.counts else total.softmax(1)
        near = (vectors @ self.vectors.t()).topk(min(neighbours, len(self.used)), dim=1)
        return [
            Prediction(
                self.classes[chosen[i]],
                {name: float(shares[i, c]) for c, name in enumerate(self.classes)},
                float(agreement[i]),
                float(known[i]),
                tuple(self._neighbour(int(n), float(c)) for n, c in zip(near.indices[i], near.values[i], strict=True)),
            )
            for i in range(len(texts))
        ]

    def record(self, split: str, name: str) -> Record:
        """Gold and predicted classes of a split of the low-resource language, by all draws and by each alone."""
        task = self.task
        sentences = task.sentences(split, ("low",))
        began = time.perf_counter()
        by_draw = self.scores(task.encode(self.model, sentences, np.arange(len(sentences))))
        seconds = time.perf_counter() - began
        gold, counts = sentences.labels.tolist(), task.directory.manifest["sentences"]
        return records.make(
            name,
            task.directory,
            split,
            gold,
            (by_draw.mean(0) + self.bias).argmax(1).tolist(),
            seed=task.cfg.seed,
            training_sentences={side: counts[side]["train"] for side in task.paired_sides},
            voting=asdict(self.voting),
            class_bias=self.bias.tolist(),
            macro_f1_of_each_draw=[
                macro_f1(confusion(gold, draw.tolist(), len(self.classes))) for draw in (by_draw + self.bias).argmax(2)
            ],
            sentences_per_second=len(gold) / seconds,
        )

    def side_of(self, language: str) -> str:
        """The side of a language code, or the side itself.

        Raises:
            InputError: neither.
        """
        languages = self.task.directory.manifest["languages"]
        for side, code in languages.items():
            if language in (side, code):
                return str(side)
        raise InputError(f"the model knows the languages {', '.join(languages.values())}, not {language!r}")

    def _neighbour(self, row: int, cosine: float) -> Neighbour:
        number = self.used[row]
        return Neighbour(self.corpus.texts[number], self.classes[self.corpus.labels[number]], cosine)


def _read_kept(path: Path | None) -> tuple[str, np.ndarray] | None:
    """What identifies the references and their vectors (R, d); None where there is no such file, or something else."""
    if path is None or not os.path.lexists(path):
        return None
    try:
        if not path.is_file():
            raise ValueError("it is no file")
        with np.load(path) as found:
            if set(found.files) != {"key", "vectors"}:
                raise ValueError(f"it holds {', '.join(found.files)}")
            return str(found["key"]), found["vectors"]
    except (OSError, EOFError, KeyError, ValueError, TypeError, BadZipFile, zlib.error) as error:
        print(
            f"{path} is not used and stays ({error}): remove it, and the references' vectors go there", file=sys.stderr
        )
        return None


class _InMemory(list[Tensor]):
    """A list of tensors with the sizes that an indexed dataset has."""

    @property
    def sizes(self) -> np.ndarray:
        return np.array([len(units) for units in self])
