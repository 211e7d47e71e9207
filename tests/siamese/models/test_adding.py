"""A model of one's own, as the tutorial shows it."""

from __future__ import annotations

import importlib
from argparse import Namespace
from pathlib import Path

from doc_pages import DOCS, blocks
from fairseq import utils

from fairseq_xl.siamese.models.voting_options import ReferenceVoting
from fairseq_xl.siamese.prediction.classifier import TextClassifier

(EXAMPLE,) = [
    block.text
    for block in blocks(DOCS / "tutorials" / "classifier.md")
    if block.kind == "python" and "class MeanEncoder(" in block.text
]


def test_the_model_of_the_tutorial_trains_and_classifies(
    data_directory, train_siamese, forked_cli, monkeypatch, tmp_path: Path
):
    plugin = tmp_path / "encoders_of_mine"
    plugin.mkdir()
    (plugin / "__init__.py").write_text(EXAMPLE)
    utils.import_user_module(Namespace(user_dir=str(plugin)))
    model = importlib.import_module(plugin.name).MeanModel
    # The task looks at its own package's models, where the page puts this one.
    monkeypatch.setattr(model, "__module__", "fairseq_xl.siamese.models.mean")
    train_siamese(
        data_directory,
        tmp_path / "out",
        "--arch ssc_mean --sentence-dim 8 --max-update 20 --margin 0 --all-pairs --references 20 --seed 1",
    )
    voting = ReferenceVoting(rule="centroid", references=10, draws=1)
    classifier = TextClassifier.load(tmp_path / "out" / "checkpoint_last.pt", voting, data_directory, "cpu")
    assert isinstance(classifier.model, model)
    assert classifier.model.encoder.embed.embedding_dim == 8
    assert classifier.vectors.shape[1] == 8
    predict = ("classify", "predict", tmp_path / "out" / "checkpoint_last.pt", "--rule", "centroid", "--labels-only")
    said = forked_cli(*predict, "--user-dir", plugin, "--device", "cpu", input="good\nbad\n")
    assert (said.returncode, len(said.stdout.split())) == (0, 2), said.stderr
