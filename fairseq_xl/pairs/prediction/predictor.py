"""A trained pair classifier as a judge of pairs of raw text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import utils
from fairseq.data import Dictionary
from scipy.special import expit
from torch import Tensor

import fairseq_xl
from fairseq_xl.encode.encoder import load_model
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.pairs.data.dataset import PairDataset
from fairseq_xl.pairs.data.directory import Row
from fairseq_xl.pairs.models.model import PairClassifier
from fairseq_xl.training.batches import batches
from fairseq_xl.training.device import usable
from fairseq_xl.vectors.table import read_vectors

MAX_TOKENS = 16_000
SIDES = ("left", "right")


class PairPredictor:
    """A pair classifier, its task and its dictionary.

    Args:
        task: as fairseq loads it.
        model: of that task.
        device: where the model runs.
    """

    def __init__(self, task: Any, model: Any, device: torch.device):
        self.task, self.device = task, device
        self.model = model.eval().to(device)
        self.dictionary: Dictionary = task.source_dictionary

    @classmethod
    def load(cls, checkpoint: str | Path, data: str | Path | None = None, device: str | None = None) -> PairPredictor:
        """From a checkpoint of fairseq-train; ``data`` where the data directory has moved.

        Raises:
            InputError: no such checkpoint or folder, another task's checkpoint, or a folder with other words.
        """
        fairseq_xl.register()
        task, model = load_model(Path(checkpoint), data)
        if not isinstance(model, PairClassifier):
            raise InputError(f"{checkpoint} is no pair classifier: give one trained with --task pair_classification")
        return cls(task, model, usable(device))

    def rows(self, pairs: Sequence[tuple[str, str]], languages: tuple[str, str] | None = None) -> list[Row]:
        """Pairs of raw sentences as rows of a data directory.

        Raises:
            InputError: languages that the folder does not have, or none where it has some; a blank sentence.
        """
        known = self.task.languages_of_words
        if languages and not known:
            raise InputError("the model's data directory has no languages: leave languages out")
        if known and not (languages and set(languages) <= set(known)):
            raise InputError(
                f"the model's data directory has the languages {' '.join(known)}: give the same with languages="
            )
        tokenizer = self.task.directory.tokenizer
        found = []
        for place, texts in enumerate(pairs):
            if isinstance(texts, str) or len(texts) != 2:
                raise TypeError(f"give a list of pairs of sentences: pair {place + 1} is {texts!r}")
            for side, text in zip(SIDES, texts, strict=True):
                if not text.strip():
                    raise InputError(f"pair {place + 1}: the {side} is empty: leave the pair out")
            left, right = (
                tokenizer.sentence(text, language)
                for text, language in zip(texts, languages or (None, None), strict=True)
            )
            found.append(Row(str(place), None, 0, (0, 0), left, right, *texts))
        return found

    @property
    def has_vectors(self) -> bool:
        """It has a vector of a single sentence."""
        return hasattr(self.model.classifier, "encode")

    def learn_words(self, rows: Sequence[Row], vectors: Path) -> int:
        """Give words that the dictionary lacks the vectors of a file; return how many there were.

        The file is the one that the folder was prepared with: vectors of another space mean nothing to the model.

        Raises:
            InputError: vectors of another size; a model whose own vectors were trained away from the file's.
        """
        if isinstance(self.model.embedding.table, torch.nn.Parameter):
            raise InputError("this model has trained its word vectors: those of a file do not fit it")
        words = {word for row in rows for word in (*row.left.split(), *row.right.split())}
        new = sorted(word for word in words if self.dictionary.index(word) == self.dictionary.unk())
        table: Tensor = self.model.embedding.table
        found = read_vectors(vectors, new, dim=table.shape[1], progress=False)
        extended = Dictionary()
        for word, count in zip(self.dictionary.symbols, self.dictionary.count, strict=True):
            extended.add_symbol(word, count)
        for word in found.words:
            extended.add_symbol(word, 0)
        self.dictionary = extended
        self.model.embedding.table = torch.cat([table, torch.from_numpy(found.matrix).to(table)])
        return len(found)

    @torch.inference_mode()
    def logits(self, rows: Sequence[Row], max_tokens: int = MAX_TOKENS, progress: bool = True) -> np.ndarray:
        """(N,) log p/(1 - p) that each pair means the same, in their order.

        Args:
            rows: of a data directory, or of :meth:`rows`.
            max_tokens: read at once, padding included.
            progress: show a bar.
        """
        found = np.empty(len(rows))
        for batch, sample in self._batches("matching", rows, max_tokens, progress):
            found[batch] = self.model(**sample).double().cpu().numpy()
        return found

    def judge(self, question: str, others: Sequence[str], languages: tuple[str, str] | None = None) -> list[float]:
        """The probability that a question means the same as each of others.

        Args:
            question: raw text.
            others: likewise.
            languages: of the question and of the others, where the model's data directory has several.

        Raises:
            InputError: as :meth:`rows`.
        """
        if isinstance(others, str):
            raise TypeError("give a list of sentences to compare with, not one string")
        rows = self.rows([(question, other) for other in others], languages)
        return expit(self.logits(rows, progress=False)).tolist()

    @torch.inference_mode()
    def vectors(
        self, rows: Sequence[Row], max_tokens: int = MAX_TOKENS, progress: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """(N, d) of the left and of the right sentences.

        Raises:
            InputError: an architecture that has no vector of a single sentence.
        """
        found = [
            (batch, *(self.model.encode_sentences(sample[f"{side}_tokens"]).cpu().numpy() for side in SIDES))
            for batch, sample in self._batches("encoding", rows, max_tokens, progress)
        ]
        order = np.argsort(np.concatenate([batch for batch, *_ in found]))
        left, right = (np.concatenate([each[side] for each in found])[order] for side in (1, 2))
        return left, right

    def _batches(
        self, what: str, rows: Sequence[Row], max_tokens: int, progress: bool
    ) -> Iterator[tuple[list[int], dict[str, Tensor]]]:
        """Places of rows of similar length, and their tokens on the model's device."""
        dataset = PairDataset(rows, self.dictionary)
        with progress_bar(what, progress, len(rows), " pairs") as bar:
            for batch in batches(dataset.sizes.tolist(), max_tokens // 2):
                sample = dataset.collater([dataset[place] for place in batch])["net_input"]
                if self.device.type == "cuda":
                    sample = utils.move_to_cuda(sample, self.device)
                yield batch, sample
                bar.update(len(batch))
