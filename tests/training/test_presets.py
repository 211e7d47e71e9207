"""Presets keep the help of what they change, and no option of training is without help."""

import argparse
import dataclasses

import pytest
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass import FairseqDataclass
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import ARCH_MODEL_NAME_REGISTRY, MODEL_DATACLASS_REGISTRY
from fairseq.optim import OPTIMIZER_DATACLASS_REGISTRY
from fairseq.tasks import TASK_DATACLASS_REGISTRY

import fairseq_xl  # noqa: F401 (registers)
from fairseq_xl.training.presets import preset

REGISTRIES = (
    MODEL_DATACLASS_REGISTRY,
    CRITERION_DATACLASS_REGISTRY,
    TASK_DATACLASS_REGISTRY,
    OPTIMIZER_DATACLASS_REGISTRY,
)
# A task and a criterion may share a name.
CONFIGURATIONS = sorted(
    (
        (name, made)
        for registry in REGISTRIES
        for name, made in registry.items()
        if made.__module__.startswith("fairseq_xl.")
    ),
    key=lambda found: (found[0], found[1].__name__),
)


@dataclasses.dataclass
class Whole(FairseqDataclass):
    width: int = dataclasses.field(default=8, metadata={"help": "units", "argparse_alias": "-w"})
    depth: int = dataclasses.field(default=2, metadata={"help": "layers"})


@preset
class Small(Whole):
    width: int = 4


@preset
class Smaller(Small):
    """Of a preset in turn."""

    width: int = 2
    depth: int = dataclasses.field(default=1, metadata={"help": "layers, at least one"})


def test_a_preset_has_its_own_defaults_and_the_others_help():
    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, Smaller())
    (width, depth) = (action for action in parser._actions if action.dest in ("width", "depth"))
    assert (width.default, width.help, depth.default, depth.help) == (2, "units", 1, "layers, at least one")
    assert "-w" in width.option_strings
    assert Whole().width == 8


def test_models_are_among_what_is_looked_at():
    names = [name for name, _ in CONFIGURATIONS]
    assert {"continuous_lstm_iwslt16", "ssc_bilstm_tiny", "upos_lstm", "syn_margin_proj"} <= set(names)
    assert set(names) >= {
        name for name in ARCH_MODEL_NAME_REGISTRY if name.startswith("continuous_") and name != "continuous_average"
    }  # which tests/continuous/models/test_adding.py registers


@pytest.mark.parametrize(("name", "made"), CONFIGURATIONS, ids=[name for name, _ in CONFIGURATIONS])
def test_every_option_of_training_has_help(name, made):
    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, made())
    assert [action.dest for action in parser._actions if not action.help] == []
