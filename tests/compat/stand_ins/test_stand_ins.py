"""Stand-ins come in where compiled modules are absent or broken, and nowhere else."""

import importlib
import sys

import pytest

from fairseq_xl.compat import stand_ins
from fairseq_xl.compat.stand_ins import batching, token_blocks


def test_stand_ins_yield_to_compiled_modules(monkeypatch):
    built = type(sys)("fairseq.data.data_utils_fast")
    monkeypatch.setitem(sys.modules, "fairseq.data.data_utils_fast", built)
    stand_ins.stand_in_for_compiled_modules()
    assert sys.modules["fairseq.data.data_utils_fast"] is built


@pytest.mark.parametrize("failure", [ImportError("absent"), ValueError("numpy.dtype size changed")])
def test_stand_ins_come_in_where_compiled_modules_cannot_be_imported(monkeypatch, failure):
    for name in stand_ins._STAND_INS:
        monkeypatch.delitem(sys.modules, name, raising=False)

    def fail(name):
        raise failure

    monkeypatch.setattr(importlib, "import_module", fail)
    stand_ins.stand_in_for_compiled_modules()
    assert sys.modules["fairseq.data.data_utils_fast"] is batching
    assert sys.modules["fairseq.data.token_block_utils_fast"] is token_blocks
