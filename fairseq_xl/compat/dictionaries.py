"""A checkpoint says which dictionaries a translation model was trained with: its numbers mean their words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from fairseq_xl.compat.patching import Stock, replace
from fairseq_xl.io.errors import InputError
from fairseq_xl.training.checkpoints import WORDS, task_state


def fingerprint(symbols: Sequence[str]) -> int:
    """63 bits that tell one sequence of words from another."""
    digest = hashlib.sha256("\n".join(symbols).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def refuse_other_dictionaries() -> None:
    """Load a translation model with the dictionaries that it was trained with, and with no others.

    Broken: fairseq loads a model without a warning when another dictionary has the same size, or the same words in
    another order. The model then translates into garbage, or a resumed training unlearns everything. A table of target
    vectors has a fingerprint of its own, which a swapped vocabulary replaces. For such models only the source side is
    compared.
    """
    from fairseq import checkpoint_utils
    from fairseq.tasks.translation import TranslationTask
    from fairseq.trainer import Trainer

    @replace(Trainer, "save_checkpoint")
    def save_checkpoint(stock: Stock, self: Any, filename: str, extra_state: dict[str, Any]) -> Any:
        if isinstance(self.task, TranslationTask):
            words = _words(self.task)
            if getattr(getattr(self.get_model(), "decoder", None), "targets", None) is not None:
                del words["target"]
            extra_state = {**extra_state, WORDS: words}
        return stock(self, filename, extra_state)

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
        extra_state = stock(self, filename, *args, **kwargs)
        if isinstance(self.task, TranslationTask):
            _compare((extra_state or {}).get(WORDS), self.task)
        return extra_state

    @replace(checkpoint_utils, "load_checkpoint_to_cpu")
    def load_checkpoint_to_cpu(stock: Stock, *args: Any, **kwargs: Any) -> Any:
        state = stock(*args, **kwargs)
        if told := task_state(state):
            state["task_state"] = told
        return state

    @replace(TranslationTask, "load_state_dict")
    def load_state_dict(stock: Stock, self: Any, state_dict: dict[str, Any]) -> None:
        _compare(state_dict.get(WORDS), self)
        stock(self, {name: value for name, value in state_dict.items() if name != WORDS})


def _words(task: Any) -> dict[str, int]:
    sides = {"source": task.source_dictionary, "target": task.target_dictionary}
    return {side: fingerprint(dictionary.symbols) for side, dictionary in sides.items()}


def _compare(stored: Any, task: Any) -> None:
    here = _words(task)
    for side, words in stored.items() if isinstance(stored, dict) else ():
        if here.get(side, words) != words:
            raise InputError(
                f"the checkpoint was trained with another {side} dictionary than this data's: the words or their "
                "order differ. Use the data folder (dict.*.txt) that it was trained with"
            )
