"""--task continuous_translation: --nearest chooses the generator."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from fairseq_xl.continuous.nearest.task import ContinuousTranslationConfig, ContinuousTranslationTask
from fairseq_xl.io.errors import InputError


def test_the_task_chooses_the_generator(build, dictionary, tmp_path):
    model, words = build(decode_csls_weight=0.5)
    args = SimpleNamespace(beam=2)

    def generator(nearest, effort=1.0, **options):
        cfg = ContinuousTranslationConfig(nearest=nearest, nearest_effort=effort, nearest_index=str(tmp_path))
        task = ContinuousTranslationTask(cfg, dictionary(30), words)
        return task.build_generator([model], SimpleNamespace(**vars(args), **options))

    assert type(generator("dense")) is SequenceGenerator
    assert generator("top").model.index is None
    assert generator("hnsw").model.index.penalised
    assert [p.name[:5] for p in tmp_path.glob("*.faiss")] == ["hnsw."]
    model.decoder.targets.filled = False
    assert generator("flat").model.index is None, "nothing is found in a table that waits for its checkpoint"
    model.decoder.targets.filled = True
    with pytest.raises(InputError, match="--print-alignment"):
        generator("top", print_alignment=True)
    for kind in ("dense", "top", "flat"):
        with pytest.raises(InputError, match="--nearest-effort is how much hnsw and ivf search"):
            generator(kind, effort=2.0)
    assert generator("hnsw", effort=2.0).model.index is not None
    model.decoder.scorer.bonus = torch.zeros(len(words))
    with pytest.raises(InputError, match="finds words by their vectors alone"):
        generator("flat")
