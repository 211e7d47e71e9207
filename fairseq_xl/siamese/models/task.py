"""``--task siamese_contrastive``: pairs to train on, and references to classify the development set by.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import FairseqTask, register_task
from omegaconf import II
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.siamese.data.dataset import EpochPairs, Sentences
from fairseq_xl.siamese.data.directory import DICTIONARY, MANIFEST, DataDirectory
from fairseq_xl.siamese.data.sampling import sample_references
from fairseq_xl.siamese.data.settings import SIDES
from fairseq_xl.siamese.models.contrastive import unit
from fairseq_xl.siamese.models.criterion import ContrastiveCriterion
from fairseq_xl.siamese.models.model import SiameseModel
from fairseq_xl.siamese.models.voting_options import RULES
from fairseq_xl.training.own_parts import check_criterion, check_model

ENCODED_AT_ONCE = 128


@dataclass
class SiameseContrastiveConfig(FairseqDataclass):
    data: Optional[str] = option("data directory made by `fairseq-xl classify prepare`", None)  # noqa: UP045
    pairs: Optional[str] = option(  # noqa: UP045
        "which languages are paired. The default is low-high where the data have a high-resource language, and low-low "
        "where they have none. You can also give high-low, high-high, or several joined by +, such as "
        "low-high+low-low. For each sentence of the first side, some of the second are drawn",
        None,
    )
    pairs_per_sentence: int = option(
        "pairs of the same class for each sentence in an epoch, and as many of other classes. Raise it where the "
        "low-resource language has few sentences",
        1,
    )
    natural_classes: bool = option(
        "take each sentence once an epoch. By default rare classes are repeated and frequent ones thinned, so that "
        "all are equally frequent",
        False,
    )
    max_units: int = option("longer sentences are cut to so many places: lower it to bound the time of a batch", 256)
    references: int = option(
        "reference sentences of each class to classify with (the paper's: 100); fewer where a class has not so many",
        100,
    )
    reference_side: ChoiceEnum(["auto", *SIDES]) = option(  # type: ignore[valid-type]
        "language of the references. The default auto takes the larger corpus of the pairs, as the paper does. Choose "
        "the low-resource language where the languages stay apart",
        "auto",
    )
    rule: ChoiceEnum(list(RULES)) = option(  # type: ignore[valid-type]
        "how references decide in validation. The paper's matches counts those with a cosine above the threshold. "
        "Choose mean to average cosines, knn to ask the nearest, or centroid to compare with class means",
        "matches",
    )
    match_threshold: float = option("cosine above which a reference matches; usually the margin", 0.5)
    seed: int = II("common.seed")


@register_task("siamese_contrastive", dataclass=SiameseContrastiveConfig)
class SiameseContrastiveTask(FairseqTask):
    """Train on pairs, and validate by the macro-F1 of classifying single sentences of the low-resource language."""

    def __init__(self, cfg: SiameseContrastiveConfig, directory: DataDirectory):
        super().__init__(cfg)
        self.directory = directory
        self._encoded: tuple[Tensor, Tensor] | None = None

    @classmethod
    def setup_task(cls, cfg: SiameseContrastiveConfig, **kwargs: Any) -> "SiameseContrastiveTask":
        """Raises: InputError: there is no data directory, or options make no sense."""
        if not cfg.data:
            raise InputError("name the data directory that `fairseq-xl classify prepare` made")
        for name in ("pairs_per_sentence", "max_units", "references"):
            if getattr(cfg, name) < 1:
                raise InputError(f"--{name.replace('_', '-')} takes a number from 1, not {getattr(cfg, name)}")
        task = cls(cfg, DataDirectory(cfg.data))
        if not kwargs.get("from_checkpoint"):
            pair_kinds(cfg.pairs, task.directory)
            if cfg.match_threshold != 0.5 and str(cfg.rule) != "matches":
                raise InputError(f"--match-threshold is for --rule matches, not for {cfg.rule}: leave it out")
            if not task.directory.has("train", task.reference_side):
                raise InputError(
                    f"--reference-side {task.reference_side} takes sentences of a language that {cfg.data} has not: "
                    "leave it out"
                )
        return task

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's. With ``--embed-dim 0`` training begins at the data's vectors; a checkpoint has its own weights.

        Raises:
            InputError: the data have no vectors, or the model is of another task.
        """
        check_model("siamese_contrastive", cfg, SiameseModel, "ssc_bilstm")
        model = super().build_model(cfg, from_checkpoint)
        if not from_checkpoint and getattr(cfg, "embed_dim", None) == 0:
            model.encoder.begin_with(torch.from_numpy(self.directory.vectors()))
        return model

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's. Raises: InputError: a criterion of another task."""
        check_criterion("siamese_contrastive", cfg, ContrastiveCriterion, "contrastive")
        return super().build_criterion(cfg, from_checkpoint)

    def build_generator(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: InputError: always, for this task generates no text."""
        raise InputError("a classifier generates no text: use fairseq-xl classify predict")

    @property
    def kinds(self) -> list[str]:
        """The kinds of pairs. The folder of a packed encoder has no text for them."""
        return pair_kinds(self.cfg.pairs, self.directory)

    def load_dataset(self, split: str, combine: bool = False, **kwargs: Any) -> None:
        """Raises: InputError: there is no such split, or classes cannot be paired."""
        if split == "train":
            sides = SIDES if self.directory.has("train", "high") else SIDES[:1]
            self.datasets[split] = EpochPairs(
                self.sentences("train", sides),
                self.kinds,
                len(self.directory.classes),
                self.cfg.pairs_per_sentence,
                not self.cfg.natural_classes,
                self.cfg.seed,
            )
        else:
            self.datasets[split] = self.sentences("valid" if split.startswith("valid") else split, SIDES[:1])

    def sentences(self, split: str, sides: tuple[str, ...]) -> Sentences:
        corpora = [self.directory.corpus(split, side) for side in sides]
        return Sentences(corpora, self.source_dictionary.pad(), self.longest)

    @property
    def longest(self) -> int:
        """Units to which a sentence is cut."""
        return self.cfg.max_units * len(self.directory.orders)

    @property
    def paired_sides(self) -> list[str]:
        """The sides that are learnt from."""
        paired = {side for kind in self.kinds for side in kind.split("-")}
        return [side for side in SIDES if side in paired]

    @property
    def reference_side(self) -> str:
        """The larger of the corpora in the pairs, unless the user has chosen."""
        if str(self.cfg.reference_side) != "auto":
            return str(self.cfg.reference_side)
        return max(self.paired_sides, key=lambda side: self.directory.manifest["sentences"][side]["train"])

    @torch.no_grad()
    def encode(self, model: Any, sentences: Sentences, numbers: np.ndarray) -> Tensor:
        """(N, d) unit vectors of some sentences, in their order. Batches hold sentences of similar length."""
        device = next(model.parameters()).device
        order = np.argsort(sentences.sizes[numbers], kind="stable")
        found = []
        for start in range(0, len(order), ENCODED_AT_ONCE):
            batch = sentences.collater([sentences[n] for n in numbers[order[start : start + ENCODED_AT_ONCE]]])
            inputs = utils.move_to_cuda(batch["net_input"], device) if device.type == "cuda" else batch["net_input"]
            found.append(unit(model.encode_sentences(inputs["src_tokens"], inputs["src_lengths"])))
        return torch.cat(found)[torch.from_numpy(np.argsort(order)).to(device)]

    # --- what fairseq_xl.encode asks of a task ---

    @property
    def tokens_of_a_place(self) -> int:
        """n-grams that begin at one character. A sentence's number of tokens is a multiple of it."""
        return len(self.directory.orders)

    def encode_text(self, sentence: str) -> Tensor:
        """(T,) unit numbers of a raw sentence, cut as in training. Empty for a blank one.

        Where words are cut into morphemes, the sentence is of the low-resource language.
        """
        return self.directory.encode(sentence)[: self.longest]

    def text_files(self) -> list[str]:
        """Names of the files of the data directory that encoding text needs."""
        return [MANIFEST, DICTIONARY, *(f"morphemes.{side}.txt" for side in self.directory.manifest["morphemes"])]

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Forget the references' vectors: training has changed the model since."""
        self._encoded = None

    def references(self, model: Any) -> tuple[Tensor, Tensor]:
        """Unit vectors (R, d) and classes (R,) of the validation's references, encoded once per validation."""
        if self._encoded is None:
            sentences = self.sentences("train", (self.reference_side,))
            random = np.random.default_rng([self.cfg.seed, 0])
            numbers = sample_references(sentences.labels, len(self.directory.classes), self.cfg.references, random)
            vectors = self.encode(model, sentences, numbers)
            self._encoded = vectors, torch.from_numpy(sentences.labels[numbers]).to(vectors.device)
        return self._encoded

    def valid_step(self, sample: dict[str, Any], model: Any, criterion: Any) -> Any:
        model.eval()
        vectors, labels = self.references(model)
        rule = {"rule": str(self.cfg.rule), "threshold": self.cfg.match_threshold}
        references = {"vectors": vectors, "labels": labels, "classes": len(self.directory.classes), **rule}
        return super().valid_step({**sample, "references": references}, model, criterion)

    def state_dict(self) -> dict[str, Any]:
        """What checkpoints hold of the task."""
        return {"data": self.directory.fingerprint}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Raises: InputError: the checkpoint is of data with other n-grams or classes."""
        own = self.directory.fingerprint
        if state_dict.get("data", own) != own:
            raise InputError(
                f"{self.directory.path} has other n-grams or classes than the data that the checkpoint was trained "
                "on: name those with --data"
            )

    @property
    def source_dictionary(self) -> Dictionary:
        return self.directory.dictionary

    @property
    def target_dictionary(self) -> None:
        return None


def pair_kinds(given: str | None, directory: DataDirectory) -> list[str]:
    """The kinds of pairs to draw.

    Raises:
        InputError: a kind is unknown, or has a high-resource language where the data have none.
    """
    has_high = directory.has("train", "high")
    kinds = (given or ("low-high" if has_high else "low-low")).split("+")
    known = [f"{first}-{second}" for first in SIDES for second in SIDES]
    for kind in kinds:
        if kind not in known:
            raise InputError(f"--pairs {given}: {kind!r} is none of {', '.join(known)}")
        if "high" in kind and not has_high:
            raise InputError(
                f"--pairs {given}: {directory.path} has no high-resource language; prepare it with --high-resource"
            )
    return kinds
