"""A model of one's own: one file, and one line that imports it, outside the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import parallel_text
import pytest
import tiny_words

from fairseq_xl.continuous.diagnostics.nearest import nearest_while_translating
from fairseq_xl.continuous.models.loading import load_continuous_model


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a data directory ``bin`` of ten sentences, and vectors for their words."""
    pairs = [(f"w{i % 5} w{i % 3}",) * 2 for i in range(10)]
    parallel_text.prepare(tmp_path, train=pairs, valid=pairs)
    tiny_words.write_vectors(tmp_path / "en.vec", 5, 8)
    return tmp_path


def test_a_file_and_a_line_make_a_model(data, fairseq_train):
    plugin = data / "my_models"
    plugin.mkdir()
    shutil.copy(Path(__file__).with_name("average_model.py"), plugin)
    (plugin / "__init__.py").write_text("from my_models import average_model\n")
    fairseq_train(
        f"{data}/bin --user-dir {plugin} --task translation --arch continuous_average --width 16 --criterion vmf "
        f"--target-vectors {data}/en.vec --optimizer adam --lr 0.01 --max-tokens 50 --max-update 2 --num-workers 0 "
        f"--cpu --no-epoch-checkpoints --no-progress-bar --save-dir {data}/out"
    )
    model, task = load_continuous_model(data / "out" / "checkpoint_last.pt", data / "bin", "cpu")
    assert model.encoder.embed_tokens.embedding_dim == 16
    assert len(nearest_while_translating(model, task, "w1 w2", k=2, max_length=3)[0].neighbours) == 2
