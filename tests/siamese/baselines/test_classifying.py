"""The record of a baseline that learnt from a data directory."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("sklearn")
from fairseq_xl.siamese.baselines.classifying import classify
from fairseq_xl.siamese.baselines.settings import Settings


def test_a_record_says_what_the_baseline_learnt_from(data_directory):
    alone, beside = (
        classify(Settings(baseline="svm", data=data_directory, split="valid", seed=3, with_high_resource=both))
        for both in (False, True)
    )
    assert (alone["name"], beside["name"]) == ("TF-IDF char n-grams, SVM", "TF-IDF char n-grams, SVM, with en")
    assert beside["training_sentences"] == alone["training_sentences"] | {"high": 200}
    assert (beside["split"], beside["seed"], len(beside["predicted"])) == ("valid", 3, len(alone["gold"]))


@pytest.mark.parametrize(
    ("lexicon", "shuffled", "end"),
    [("translated", False, ", lexicon"), ("shuffled", True, ", shuffled lexicon, labels shuffled")],
)
def test_a_record_says_what_became_of_the_high_resource_text(data_directory, tmp_path, lexicon, shuffled, end):
    folder = shutil.copytree(data_directory, tmp_path / "data")
    manifest = json.loads((folder / "manifest.json").read_text())
    changed = {"lexicon": lexicon, "high_resource_labels_shuffled": shuffled}
    (folder / "manifest.json").write_text(json.dumps(manifest | changed))
    settings = Settings(baseline="mnb-h", data=folder, with_high_resource=True)
    assert classify(settings)["name"] == f"MNB-H, with en{end}"
