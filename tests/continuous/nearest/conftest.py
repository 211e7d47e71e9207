"""Untrained models whose predictions wander over the table."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from tiny_models import wandering

from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM

DIM = 8


@pytest.fixture
def build(write_vectors, dictionary):
    """``build(seed=1, **options)``: an untrained model and its target dictionary."""
    path = write_vectors(60, DIM)

    def make(seed=1, **options):
        task = SimpleNamespace(source_dictionary=dictionary(30), target_dictionary=dictionary(60))
        cfg = TinyConfig(target_vectors=path)
        for name, value in options.items():
            setattr(cfg, name, value)
        torch.manual_seed(seed)
        return wandering(ContinuousLSTM.build_model(cfg, task)), task.target_dictionary

    return make
