"""Packages that only some steps need."""

from __future__ import annotations

import json

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require


def test_a_package_that_is_there() -> None:
    assert require("json", "corpus") is json


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(
        InputError, match=r"^the crawl needs the package no_such: bash scripts/setup.sh --extras corpus brings it$"
    ):
        require("no_such.part", "corpus", "the crawl")
