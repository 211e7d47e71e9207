"""``SentenceEncoder``: raw text in, one vector a sentence out.

    from fairseq_xl import SentenceEncoder
    encoder = SentenceEncoder.load("OUT/encoder")
    encoder.encode(["Ein Hund rennt.", "Two children play."])    # (2, d) float32

``fairseq-xl embed text`` does the same with files and pipes.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import checkpoint_utils, tasks
from omegaconf import OmegaConf
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from fairseq_xl import compat
from fairseq_xl.encode.folder import checked_model, write_folder
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.hub import local_folder
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.report.model_card import Card, CardOptions, Score
from fairseq_xl.training import checkpoints, packed
from fairseq_xl.training.batches import batches
from fairseq_xl.training.device import usable
from fairseq_xl.vectors.neighbours import unit_rows

# Whoever unpickles an object of this module imports it first, in a process where nobody has mended fairseq yet.
compat.apply()

logger = logging.getLogger(__name__)

MAX_TOKENS = 8000
_BLOCK = 20_000
"""sentences that are cut into tokens, sorted by length and encoded at a time"""


class SentenceEncoder:
    """A model with its text steps. A sentence's vector does not depend on which others are given with it, up to the
    rounding of sums."""

    def __init__(self, task: Any, model: Any, device: torch.device):
        """As :meth:`load` does it."""
        self.task = task
        self.model = model.eval().to(device)
        self.device = device
        self.longest = _longest(model)
        """tokens of a sentence, its end included"""
        example = torch.full((1, getattr(task, "tokens_of_a_place", 1)), task.source_dictionary.eos())
        self.dim: int = self._vectors([example[0]]).shape[1]

    @classmethod
    def load(
        cls, path: str | Path, device: str | torch.device | None = None, data: str | Path | None = None
    ) -> SentenceEncoder:
        """Load an encoder folder, or a checkpoint of fairseq-train.

        Args:
            path: see :mod:`fairseq_xl.encode.folder`; or the name of a folder on the Hugging Face Hub,
                ``OWNER/MODEL[@REVISION]``.
            device: such as ``cpu`` or ``cuda:1``; by default a GPU where there is one.
            data: of a checkpoint, the data directory that it was trained on; by default where it was in training.

        Raises:
            InputError: there is no such folder or checkpoint, or it is damaged. It was not trained on the data, the
                device cannot be used, or the model gives no sentence embeddings.
        """
        path = local_folder(path)
        if path.is_dir():
            if data is not None:
                raise InputError(f"{path} is an encoder folder, which has its data with it: leave --data out")
            task, model = _packed_model(checked_model(path))
        else:
            task, model = load_model(path, data)
        return cls(task, model, usable(device))

    def encode(
        self,
        sentences: Sequence[str],
        *,
        language: str | None = None,
        max_tokens: int = MAX_TOKENS,
        normalize: bool = False,
        progress: bool = True,
    ) -> np.ndarray:
        """One vector for each sentence, in their order.

        A sentence without words has zeros. Of one that is too long for the model the beginning is encoded, and a
        warning in the log tells how many there were.

        Args:
            sentences: raw text.
            language: theirs, for a pair classifier of several languages, which has words of its own for each.
            max_tokens: tokens encoded at once, padding included.
            normalize: scale each vector to length 1 (zeros stay zeros).
            progress: show a bar on stderr when it takes more than a second.

        Returns:
            (N, dim) float32.

        Raises:
            InputError: a language that the model does not have, or none where it has several.
        """
        if isinstance(sentences, str):
            raise TypeError("give a list of sentences, not one string")
        if max_tokens < 1:
            raise InputError(f"batches of {max_tokens} tokens hold nothing: give 1 or more")
        encode_text = self.task.encode_text
        if language is not None:
            if not hasattr(self.task, "languages_of_words"):
                raise InputError("this model reads all languages alike: leave language out")
            encode_text = partial(encode_text, language=language)
        vectors = np.zeros((len(sentences), self.dim), dtype=np.float32)
        cut = 0
        with progress_bar("encoding", progress, len(sentences), " sentences") as bar:
            for start in range(0, len(sentences), _BLOCK):
                block = sentences[start : start + _BLOCK]
                tokens = [encode_text(sentence) for sentence in block]
                cut += sum(len(row) > self.longest for row in tokens)
                filled = [place for place, row in enumerate(tokens) if len(row)]
                bar.update(len(block) - len(filled))
                lengths = [min(len(tokens[place]), self.longest) for place in filled]
                for batch in batches(lengths, max_tokens):
                    rows = [self._shortened(tokens[filled[i]]) for i in batch]
                    places = [start + filled[i] for i in batch]
                    vectors[places] = self._vectors(rows).float().cpu().numpy()
                    bar.update(len(batch))
        if cut:
            logger.warning("%d sentences have more than %d tokens and were cut", cut, self.longest)
        return unit_rows(vectors) if normalize else vectors

    def _shortened(self, row: Tensor) -> Tensor:
        """What the model can read of a sentence's tokens (T,): their beginning, and their end."""
        return row if len(row) <= self.longest else torch.cat([row[: self.longest - 1], row[-1:]])

    @torch.inference_mode()
    def _vectors(self, rows: list[Tensor]) -> Tensor:
        tokens = pad_sequence(rows, True, self.task.source_dictionary.pad()).to(self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return self.model.encode_sentences(tokens, lengths)


def load_task(path: Path, state: dict[str, Any], data: str | Path | None) -> Any:
    """The task of a checkpoint's contents, on ``data`` or on what it was trained on. Raises: InputError."""
    if not isinstance(state.get("cfg"), dict):
        raise InputError(f"the checkpoint {path} is older than fairseq 0.12, whose checkpoints alone can be used")
    checkpoints.refuse_unbuildable(path, state)
    cfg = OmegaConf.create(state["cfg"]).task
    if data is not None:
        cfg.data = str(data)
    task = tasks.setup_task(cfg, from_checkpoint=True)
    if not hasattr(task, "encode_text"):
        raise InputError(
            f"--task {cfg._name} gives no sentence embeddings: give a model of one that does, such as upos_translation"
        )
    return task


def load_model(path: Path, data: str | Path | None) -> tuple[Any, Any]:
    """The task and the model of a checkpoint. Raises: InputError: as :meth:`SentenceEncoder.load`."""
    task = load_task(path, checkpoints.read(path), data)
    with _other_sizes_told(path, task):
        (model,), _ = checkpoint_utils.load_model_ensemble([str(path)], task=task)
    return task, model


def _packed_model(path: Path) -> tuple[Any, Any]:
    """As :func:`load_model`, of the weights in an encoder folder."""
    state = packed.read(path)
    task = load_task(path, state, path.parent)
    with _other_sizes_told(path, task):
        model = packed.build_model(state, task)
    return task, model


@contextmanager
def _other_sizes_told(path: Path, task: Any) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # torch's word for weights of other sizes
        reason = str(error).splitlines()[-1].strip()
        raise InputError(
            f"{path} does not fit the data in {task.cfg.data}; it was trained on other ({reason})"
        ) from error


def _longest(model: Any) -> int:
    limit = model.max_positions()
    if limit is None:
        return sys.maxsize
    return int(limit[0] if isinstance(limit, tuple) else limit)


def pack(
    checkpoint: Path,
    output: Path,
    data: Path | None = None,
    about: CardOptions | None = None,
    scores: Sequence[Score] = (),
) -> None:
    """Write a checkpoint, without the optimiser's state, and the files that its task encodes text with.

    Args:
        checkpoint: of fairseq-train.
        output: folder that is new, empty or an encoder folder to replace.
        data: the data directory; by default where it was in training.
        about: for a model card; none is written without.
        scores: those that the card has.

    Raises:
        InputError: a checkpoint that cannot be read or does not fit the data; an output that cannot be written.
    """
    task, _ = load_model(checkpoint, data)
    state = checkpoints.read(checkpoint)
    checkpoints.refuse_nan(checkpoint, state)
    card = _card(task).text(about, scores) if about else ""
    write_folder(output, state, Path(task.cfg.data), task.text_files(), card)


def _card(task: Any) -> Card:
    return Card(
        title="Sentence encoder",
        task="feature-extraction",
        languages=sorted(getattr(task, "languages", ())),
        does="Turns raw text into vectors, one for each sentence, with fairseq_xl. The folder holds the weights as "
        "safetensors and all steps of the text. Loading it runs no code of its own.",
        loading="""
from fairseq_xl import SentenceEncoder
encoder = SentenceEncoder.load("OWNER/MODEL")  # this folder, or its name on the Hub
print(encoder.encode(["…"]).shape)
""",
    )


def pack_untrained(checkpoint: Path, output: Path, seed: int, data: Path | None = None) -> None:
    """As :func:`pack`, with weights drawn by ``seed``, also those that began from a file of vectors."""
    state = checkpoints.read(checkpoint)
    task = load_task(checkpoint, state, data)
    torch.manual_seed(seed)
    # As of a checkpoint: its architecture alone, without files that a model may begin from.
    model = task.build_model(OmegaConf.create(state["cfg"]).model, from_checkpoint=True)
    history = [{**state["optimizer_history"][-1], "num_updates": 0}]
    fresh = {**state, "model": model.state_dict(), "optimizer_history": history}
    write_folder(output, fresh, Path(task.cfg.data), task.text_files())
