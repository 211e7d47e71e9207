"""``--task pair_classification``: labelled pairs of sentences from a data directory.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.data import Dictionary
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask, register_task
from omegaconf import II
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.pairs.data.dataset import PairDataset, numbers
from fairseq_xl.pairs.data.directory import DataDirectory, Row
from fairseq_xl.pairs.models.criterion import PairClassificationCriterion
from fairseq_xl.pairs.models.model import PairClassifier
from fairseq_xl.training.own_parts import check_criterion, check_model


@dataclass
class PairClassificationTaskConfig(FairseqDataclass):
    data: Optional[str] = field(  # noqa: UP045
        default=None, metadata={"help": "folder made by `fairseq-xl match prepare`", "argparse_alias": None}
    )
    fold: int = option(
        "for cross-validation, hold this fold of the training pairs out, counted from 0, and validate on it. With -1, "
        "train on all of them and validate on the split valid",
        -1,
    )
    valid_fold: int = option(
        "with --fold, hold this fold out, too, and validate on it. The checkpoint is then not chosen on the fold that "
        "is reported. With -1, validate on --fold",
        -1,
    )
    exchange: bool = option(
        "exchange the two sentences of a training pair at random, anew in each epoch. It helps models that "
        "are not symmetric",
        False,
    )
    seed: int = II("common.seed")


@register_task("pair_classification", dataclass=PairClassificationTaskConfig)
class PairClassificationTask(FairseqTask):
    """Train and validate on pairs. Validation has no sentence of training if the folder was prepared so."""

    def __init__(self, cfg: PairClassificationTaskConfig, directory: DataDirectory):
        super().__init__(cfg)
        self.directory = directory

    @classmethod
    def setup_task(cls, cfg: PairClassificationTaskConfig, **kwargs: Any) -> "PairClassificationTask":
        """Raises: InputError: there is no data directory, or one fold has two purposes."""
        if cfg.valid_fold >= 0 and (cfg.fold < 0 or cfg.fold == cfg.valid_fold):
            raise InputError(f"--valid-fold {cfg.valid_fold} is beside another --fold: give that, from 0 on")
        if not cfg.data:
            raise InputError("name the folder that `fairseq-xl match prepare` made")
        return cls(cfg, DataDirectory(cfg.data))

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's. Raises: InputError: a model of another task."""
        check_model("pair_classification", cfg, PairClassifier, "esim, siamese_lstm or another pair classifier")
        return super().build_model(cfg, from_checkpoint)

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's. Raises: InputError: a criterion of another task."""
        check_criterion("pair_classification", cfg, PairClassificationCriterion, "pair_classification")
        return super().build_criterion(cfg, from_checkpoint)

    def build_generator(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: InputError: always, for this task generates no text."""
        raise InputError("a classifier of pairs generates no text: use fairseq-xl match predict")

    def load_dataset(self, split: str, combine: bool = False, **kwargs: Any) -> None:
        """Raises: InputError: there is no such split or fold. Pairs have no labels, or there are none."""
        rows = self.rows(split)
        if self.cfg.valid_fold >= 0 and split.startswith("valid"):
            rows = self.directory.fold(self.cfg.valid_fold, held_out=True)
        if not rows:
            raise InputError(f"{self.directory.folder}: the split {split} has no pairs")
        exchange = self.cfg.exchange and split == "train"
        self.datasets[split] = PairDataset(rows, self.source_dictionary, self.cfg.seed, exchange)

    def rows(self, split: str) -> list[Row]:
        """The pairs of a split: train, valid or test. The split valid has those of ``fold`` if one is held out."""
        split = "valid" if split.startswith("valid") else split
        if self.cfg.fold >= 0 and split != "test":
            rows = self.directory.fold(self.cfg.fold, held_out=split == "valid")
            return rows if split == "valid" else [row for row in rows if self.cfg.valid_fold not in row.folds]
        return self.directory.training() if split == "train" else self.directory.rows(split)

    @property
    def languages_of_words(self) -> list[str]:
        """The codes that stand before words, in en:chat and fr:chat; none where the folder has one language."""
        found: list[str] = self.directory.manifest["languages"]
        return found

    def encode_text(self, text: str, language: str | None = None) -> Tensor:
        """(T,) word numbers of a sentence as a user writes it: what ``fairseq_xl.encode`` asks of a task.

        Raises:
            InputError: a language that the folder does not have, or none where it has some.
        """
        known = self.languages_of_words
        if language and not known:
            raise InputError("the model's data directory has no languages: leave --languages (in Python language=) out")
        if known and language not in known:
            raise InputError(
                f"the model's data directory has the languages {' '.join(known)}: give the text's own, by --languages "
                "of `fairseq-xl match search` or language= in Python"
            )
        return numbers(self.directory.tokenizer.sentence(text, language).split(), self.source_dictionary)

    @property
    def source_dictionary(self) -> Dictionary:
        return self.directory.dictionary

    @property
    def target_dictionary(self) -> None:
        return None
