"""A table of unit rows, a small model, and a split of random sentences."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from fairseq.data import LanguagePairDataset
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from tiny_models import wandering
from tiny_words import dictionary, write_vectors

from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.continuous.models.targets import TargetTable

LONGEST, WORDS, DIM = 12, 60, 8


def target_table(rows, seed=0, dim=6):
    """A table of unit rows; 0 and 1 are no words."""
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(rows, dim, generator=generator), dim=-1)
    banned = torch.zeros(rows, dtype=torch.bool)
    banned[:2] = True
    return TargetTable(table, banned, [f"w{i}" for i in range(rows)])


class Task(TranslationTask):
    """A split of random sentences in memory, one of them too long for the model."""

    def load_dataset(self, split, **_):
        if split != "valid":
            raise FileNotFoundError(split)
        draw = np.random.default_rng(5)
        lengths = [*draw.integers(1, LONGEST - 1, 17), LONGEST + 1]
        source, target = ([torch.tensor([*draw.integers(4, 34, n), 2]) for n in lengths] for _ in range(2))
        sizes = np.array(lengths) + 1
        self.datasets[split] = LanguagePairDataset(
            source, sizes, self.src_dict, target, sizes, self.tgt_dict, shuffle=False
        )


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    path = write_vectors(tmp_path_factory.mktemp("vectors") / "v.vec", WORDS, DIM)
    cfg = TranslationConfig(data="memory", source_lang="de", target_lang="en")
    task = Task(cfg, dictionary(30), dictionary(WORDS))
    torch.manual_seed(3)
    # The nearest word is the chosen one, which it is not under the correction for crowded regions.
    cfg = TinyConfig(target_vectors=path, max_target_positions=LONGEST, decode_csls_weight=0.0)
    return wandering(ContinuousLSTM.build_model(cfg, task)), task
