"""Tasks and configurations that can be copied."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from fairseq.dataclass.constants import DDP_BACKEND_CHOICES, ChoiceEnum, StrEnum
from fairseq.models import BaseFairseqModel
from fairseq.tasks.fairseq_task import StatefulContainer
from omegaconf import OmegaConf

from fairseq_xl.continuous.nearest.task import ContinuousTranslationConfig


def test_a_kind_of_choice_is_known_elsewhere():
    kind = pickle.loads(pickle.dumps(ChoiceEnum(["a", "b"])))
    assert [each.value for each in kind] == ["a", "b"]
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert pickle.loads(pickle.dumps(StrEnum)) is StrEnum
    assert pickle.loads(pickle.dumps(next(iter(DDP_BACKEND_CHOICES)))) == next(iter(DDP_BACKEND_CHOICES))


def test_a_configuration_is_the_same_in_another_process():
    config = OmegaConf.structured(ContinuousTranslationConfig(data="bin"))
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).data)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(config), capture_output=True, check=True)
    assert done.stdout == b"bin\n"
    assert copy.deepcopy(config) == config


def test_the_state_of_a_task():
    state = StatefulContainer()
    state.add_factory("words", list)
    for again in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert again.words == []
        with pytest.raises(AttributeError, match="no factory"):
            _ = again.others


def test_a_model_for_translating_refuses_to_train():
    model = BaseFairseqModel()
    model.make_generation_fast_()
    for each in (model, pickle.loads(pickle.dumps(model))):
        with pytest.raises(RuntimeError, match="cannot train after"):
            each.train()
        each.eval()
