"""What the fields of settings may be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import check, option


@dataclass
class Settings:
    share: float = option("a share", 0.5, low=0, high=1)
    least: int = option("a number", 0, low=0)
    kind: str = option("a kind", "a", choices=("a", "b"))
    sizes: list[int] = option("numbers", [1, 2], high=0x10)
    anything: float | None = option("not needed", None)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"share": -0.1}, "--share is -0.1: give a number from 0 to 1"),
        ({"share": float("nan")}, "--share is nan: give a finite number"),
        ({"least": -1}, "--least is -1: give a number from 0"),
        ({"kind": "c"}, "--kind is one of a, b, not 'c'"),
        ({"sizes": [1, 17]}, "--sizes is 17: give a number to 16"),
        ({"least": 10**400}, f"--least is {10**400}: give a number from {1 - 2**63} to {2**63 - 1}"),
        ({"anything": float("inf")}, "--anything is inf: give a finite number"),
    ],
)
def test_what_is_out_of_bounds_is_refused(values: dict[str, object], sentence: str) -> None:
    check(Settings())
    with pytest.raises(InputError) as error:
        check(Settings(**values))
    assert str(error.value) == sentence
    with pytest.raises(InputError, match=r"^align\."):
        check(Settings(**values), prefix="align.")
