"""Tasks and models that can be copied and handed to other processes."""

from __future__ import annotations

import copyreg
from functools import cache
from typing import Any

from fairseq_xl.compat.patching import Stock, replace


def let_tasks_be_copied() -> None:
    """Let ``pickle`` and ``copy.deepcopy`` take a task, and a model with its configuration.

    Broken: a task's state looks for its own dictionary by a method that needs it, so copying never ends. A
    configuration holds kinds of choices that all have one name, under which no other process finds them. A model that
    is prepared for translating holds a function that has no name at all.
    """
    from fairseq.dataclass.constants import StrEnum, StrEnumMeta
    from fairseq.models import BaseFairseqModel
    from fairseq.tasks.fairseq_task import StatefulContainer

    @replace(StatefulContainer, "__getattr__")
    def __getattr__(stock: Stock, self: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return stock(self, name)

    def reduce(kind: Any) -> Any:
        return kind.__qualname__ if kind is StrEnum else (choices, tuple(each.value for each in kind))

    @replace(BaseFairseqModel, "make_generation_fast_")
    def make_generation_fast_(stock: Stock, self: Any, **kwargs: Any) -> None:
        stock(self, **kwargs)
        if "train" in vars(self):
            self.train = refuse_training

    copyreg.pickle(StrEnumMeta, reduce)


def refuse_training(mode: bool = True) -> None:
    """Replace ``train`` in a model that is prepared for translating, as fairseq does."""
    if mode:
        raise RuntimeError("cannot train after make_generation_fast")


@cache
def choices(*words: str) -> Any:
    """fairseq's kind of choice among these words, the same one each time."""
    from fairseq.dataclass.constants import ChoiceEnum

    return ChoiceEnum(list(words))
