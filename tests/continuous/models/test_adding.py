"""A model of one's own: one file, and one line that imports it, outside the package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import parallel_text
import pytest
import tiny_words

from fairseq_xl.continuous.diagnostics.nearest import nearest_while_translating
from fairseq_xl.continuous.models.loading import load_continuous_model


@pytest.fixture(scope="module")
def trained(tmp_path_factory, fairseq_train) -> Path:
    """A folder with the package ``my_models``, a data directory ``bin`` of ten sentences, and a model in ``out``."""
    folder = tmp_path_factory.mktemp("trained")
    pairs = [(f"w{i % 5} w{i % 3}",) * 2 for i in range(10)]
    parallel_text.prepare(folder, train=pairs, valid=pairs)
    tiny_words.write_vectors(folder / "en.vec", 5, 8)
    plugin = folder / "my_models"
    plugin.mkdir()
    shutil.copy(Path(__file__).with_name("average_model.py"), plugin)
    (plugin / "__init__.py").write_text("from my_models import average_model\n")
    fairseq_train(
        f"{folder}/bin --user-dir {plugin} --task translation --arch continuous_average --width 16 --criterion vmf "
        f"--target-vectors {folder}/en.vec --optimizer adam --lr 0.01 --max-tokens 50 --max-update 2 --num-workers 0 "
        f"--cpu --no-epoch-checkpoints --no-progress-bar --save-dir {folder}/out"
    )
    return folder


def test_a_file_and_a_line_make_a_model(trained):
    model, task = load_continuous_model(trained / "out" / "checkpoint_last.pt", trained / "bin", "cpu")
    assert model.encoder.embed_tokens.embedding_dim == 16
    assert len(nearest_while_translating(model, task, "w1 w2", k=2, max_length=3)[0].neighbours) == 2


def test_commands_and_python_load_it_where_they_are_told_of_it(trained, forked_cli, run_cli):
    """In processes of their own, which know no more than they are told; Python's has not imported fairseq either."""
    own = ("--user-dir", trained / "my_models")
    checkpoint, folder = trained / "out" / "checkpoint_last.pt", trained / "packed"
    pack = ("translate", "pack", checkpoint, "--data", trained / "bin", "-s", "de", "-t", "en", "-o", folder)
    refused = forked_cli(*pack)
    assert refused.returncode == 2
    assert "continuous_average, which is not registered" in refused.stderr.splitlines()[-1]
    assert forked_cli(*pack, *own).returncode == 0
    said = run_cli("translate", "text", folder, *own, "--device", "cpu", input="w1 w2\n")
    assert (said.returncode, len(said.stdout.splitlines())) == (0, 1)
    code = (
        f"import my_models, fairseq_xl; print(*fairseq_xl.Translator.load({str(folder)!r}, 'cpu').translate(['w1 w2']))"
    )
    from_python = subprocess.run([sys.executable, "-c", code], cwd=trained, capture_output=True, text=True, check=True)
    assert from_python.stdout == said.stdout
