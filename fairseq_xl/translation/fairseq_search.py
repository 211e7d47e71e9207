"""fairseq's own search over the checkpoints of a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.dataclass.configs import GenerationConfig
from omegaconf import OmegaConf
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from fairseq_xl import compat
from fairseq_xl.continuous.nearest.task import ContinuousTranslationConfig, ContinuousTranslationTask
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.pipeline import Pipeline
from fairseq_xl.training import checkpoints, packed
from fairseq_xl.training.device import usable
from fairseq_xl.translation.folder import ModelFolder, dictionary_name, read_config
from fairseq_xl.translation.options import Decoding, NearestWords, Search, VectorScores, decoding
from fairseq_xl.translation.translator import Found, Translator
from fairseq_xl.vectors.dictionary import is_filler

# Whoever unpickles an object of this module imports it first, in a process where nobody has mended fairseq yet.
compat.apply()

# What a model began with: files outside the folder, which its weights have made needless.
_NO_FILES = dict.fromkeys(
    ("encoder_embed_path", "decoder_embed_path", "embed_path", "encoder_from", "target_vectors", "swap_vectors")
)

States = Mapping[Path, dict[str, Any]]
"""What :func:`fairseq_xl.training.packed.read` gave of each file."""


class FairseqTranslator(Translator):
    """A model folder's checkpoints, one or an ensemble."""

    def __init__(
        self,
        pipeline: Pipeline,
        task: ContinuousTranslationTask,
        models: list[Any],
        options: Decoding,
        device: torch.device,
        max_tokens: int = 2000,
    ) -> None:
        """As :meth:`open` does it, which has given the task and the models their part of the options."""
        positions = [model.max_positions() for model in models]
        longest = int(utils.resolve_max_positions(task.max_positions(), *positions)[0])
        self.task = task
        self.device = device
        self.models = [model.to(device) for model in models]
        self.generator = _generator(task, self.models, options.given(Search))
        super().__init__(pipeline, options, self.generator.beam_size, longest, max_tokens)

    @classmethod
    def open(
        cls, folder: Path, device: str | None, max_tokens: int, options: Mapping[str, object]
    ) -> FairseqTranslator:
        """See :meth:`Translator.load`."""
        config = read_config(folder)
        chosen = decoding(options, config.options)
        states = {path: packed.read(path) for path in (folder / name for name in config.checkpoints)}
        task = _task(folder, config, states, chosen.given(NearestWords))
        models = _models(folder, states, task, chosen.given(VectorScores))
        return cls(config.pipeline(folder), task, models, chosen, usable(device), max_tokens)

    def source_words(self) -> list[str]:
        """See :meth:`Translator.source_words`."""
        dictionary = self.task.source_dictionary
        return [word for word in dictionary.symbols[dictionary.nspecial :] if not is_filler(word)]

    def seed(self, number: int) -> None:
        """See :meth:`Translator.seed`."""
        torch.manual_seed(number)

    def sample(self, sources: list[list[str]]) -> dict[str, Any]:
        """What fairseq reads of some sentences' tokens."""
        rows = [self._indices(source) for source in sources]
        # Padded at the end, where every model keeps the order of the words in its attention.
        padded = pad_sequence(rows, True, self.task.source_dictionary.pad()).to(self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return {"net_input": {"src_tokens": padded, "src_lengths": lengths}}

    def search(self, sources: list[list[str]], count: int) -> list[list[Found]]:
        """See :meth:`Translator.search`."""
        found = self.task.inference_step(self.generator, self.models, self.sample(sources))
        return [[self._found(one) for one in beam] for beam in found]

    def _indices(self, source: list[str]) -> Tensor:
        dictionary = self.task.source_dictionary
        # A special token that is spelled out in the text is a word like any other, an unknown one.
        indices = [dictionary.index(word) for word in source]
        words = [i if i >= dictionary.nspecial else dictionary.unk() for i in indices]
        return torch.tensor([*words, dictionary.eos()])

    def _found(self, hypothesis: dict[str, Tensor]) -> Found:
        dictionary = self.task.target_dictionary
        indices = hypothesis["tokens"].tolist()
        unspoken = (dictionary.eos(), dictionary.bos())
        spoken = [place for place, index in enumerate(indices) if index not in unspoken]
        attention = hypothesis["attention"]  # (S, T), empty for a model that has none
        weights = attention[:, spoken].float().T.cpu().numpy() if attention.numel() else None
        return Found([dictionary[indices[place]] for place in spoken], float(hypothesis["score"]), weights)


def task_settings(path: Path, checkpoint: dict[str, Any]) -> dict[str, Any]:
    """The task that a checkpoint was trained by. Raises: InputError: one that is no translation of fairseq 0.12."""
    task = (checkpoint.get("cfg") or {}).get("task")
    if isinstance(task, dict) and task.get("_name") in ("translation", "continuous_translation"):
        return task
    name = task.get("_name") if isinstance(task, dict) else type(task).__name__
    raise InputError(
        f"{path} was not trained by --task translation of fairseq 0.12 (but by {name}), which raw text needs"
    )


def _task(folder: Path, config: ModelFolder, states: States, nearest: dict[str, Any]) -> ContinuousTranslationTask:
    """fairseq's translation, as the first model was trained by it, with this folder's dictionaries."""
    trained = task_settings(*next(iter(states.items())))
    known = {entry.name for entry in fields(ContinuousTranslationConfig)} - {"_name", "data"}
    settings = {name: value for name, value in trained.items() if name in known}
    index = nearest.get("nearest_index")  # never that of the training
    settings |= {"eval_bleu": False, **nearest, "nearest_index": None if index is None else str(index)}
    cfg = OmegaConf.merge(OmegaConf.structured(ContinuousTranslationConfig), settings)
    dictionaries = [
        Dictionary.load(str(folder / dictionary_name(language)))
        for language in (config.source_lang, config.target_lang)
    ]
    return ContinuousTranslationTask(cfg, *dictionaries)


def _models(folder: Path, states: States, task: ContinuousTranslationTask, scores: dict[str, Any]) -> list[Any]:
    for path, state in states.items():
        checkpoints.refuse_unbuildable(path, state)
    try:
        models = [packed.build_model(state, task, {**_NO_FILES, **scores}) for state in states.values()]
    except RuntimeError as error:  # torch's word for weights of other sizes
        reason = str(error).splitlines()[-1].strip()
        raise InputError(
            f"the models in {folder} do not fit its dictionaries; they were trained with others ({reason})"
        ) from error
    if scores and any(getattr(model.decoder, "targets", None) is None for model in models):
        raise InputError(f"{', '.join(scores)}: for continuous outputs; the model in {folder} has a softmax")
    return models


def _generator(task: ContinuousTranslationTask, models: list[Any], search: dict[str, Any]) -> Any:
    """Raises: InputError: options that do not go together."""
    generation = OmegaConf.structured(GenerationConfig(**search))
    words = len(task.target_dictionary)
    if generation.sampling_topk > words:
        raise InputError(f"sampling_topk is {generation.sampling_topk}, and the target language has {words} words")
    # Attention is always wanted, which stock models drop unless an alignment is to be printed.
    prepared = OmegaConf.create({"generation": {**generation, "print_alignment": "hard"}})
    for model in models:
        model.prepare_for_inference_(prepared)
    try:
        generator = task.build_generator(models, generation)
    except (AssertionError, ValueError) as error:  # fairseq checks them by both
        raise InputError(str(error)) from error
    # What the shortest source, one word and its end, may become.
    longest = min(int(2 * generator.max_len_a + generator.max_len_b), generator.max_len - 1)
    if not generator.match_source_len and generator.min_len > longest:
        raise InputError(
            f"min_len is {generator.min_len}, but translations of one word may have {longest} tokens only: "
            "lower it, or raise max_len_b"
        )
    return generator
