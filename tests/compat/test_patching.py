"""Replacing a function: once, over others, and so that it pickles."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import fairseq_cli.train

from fairseq_xl.compat.patching import replace, stock


class Owner:
    def method(self, x: int) -> int:
        return x

    @staticmethod
    def static(x: int) -> int:
        return x


def twice(stock, *args):
    return 2 * stock(*args)


def one_more(stock, *args):
    return stock(*args) + 1


def test_replacements_follow_one_another_and_come_once() -> None:
    owner = SimpleNamespace(number=lambda: 5)
    first = owner.number
    for mended in (twice, one_more, twice, one_more):
        assert replace(owner, "number")(mended) is mended
    assert owner.number() == 11
    assert stock(owner.number) is first


def test_methods_and_static_methods() -> None:
    for name in ("method", "static"):
        replace(Owner, name)(twice)
    assert (Owner().method(1), Owner().static(1), Owner.static(1)) == (2, 2, 2)
    assert Owner.method.__qualname__ == "Owner.method"


def test_the_main_function_of_a_training_pickles() -> None:
    """fairseq-train sends it to the processes that it starts, one for each GPU."""
    assert stock(fairseq_cli.train.main) is not fairseq_cli.train.main
    assert pickle.loads(pickle.dumps(fairseq_cli.train.main)) is fairseq_cli.train.main
