"""Tasks and models that can be copied and handed to other processes."""

from __future__ import annotations

import copyreg
from functools import cache
from typing import Any

from fairseq_xl.compat.patching import Stock, replace


def let_tasks_be_copied() -> None:
    """Let ``pickle`` and ``copy.deepcopy`` take a task.

    Broken: a task's state looks for its own dictionary by a method that needs it, so copying never ends.
    """
    from fairseq.tasks.fairseq_task import StatefulContainer

    @replace(StatefulContainer, "__getattr__")
    def __getattr__(stock: Stock, self: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return stock(self, name)


def let_configurations_be_copied() -> None:
    """Let ``pickle`` and ``copy.deepcopy`` take a configuration, and so a model that has one.

    Broken: a configuration holds kinds of choices that all have one name, under which no other process finds them.
    """
    from fairseq.dataclass.constants import StrEnum, StrEnumMeta

    def reduce(kind: Any) -> Any:
        return kind.__qualname__ if kind is StrEnum else (choices, tuple(each.value for each in kind))

    copyreg.pickle(StrEnumMeta, reduce)


def let_translating_models_be_copied() -> None:
    """Let ``pickle`` take a model that is prepared for translating.

    Broken: ``make_generation_fast_`` puts a function into it that has no name under which another process finds it.
    """
    from fairseq.models import BaseFairseqModel

    @replace(BaseFairseqModel, "make_generation_fast_")
    def make_generation_fast_(stock: Stock, self: Any, **kwargs: Any) -> None:
        stock(self, **kwargs)
        if "train" in vars(self):
            self.train = refuse_training


def refuse_training(mode: bool = True) -> None:
    """Replace ``train`` in a model that is prepared for translating, as fairseq does."""
    if mode:
        raise RuntimeError("cannot train after make_generation_fast")


@cache
def choices(*words: str) -> Any:
    """fairseq's kind of choice among these words, the same one each time."""
    from fairseq.dataclass.constants import ChoiceEnum

    return ChoiceEnum(list(words))
