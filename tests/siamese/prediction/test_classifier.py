"""What a trained encoder predicts by references, and which ones it uses."""

from __future__ import annotations

import in_process
import numpy as np
import parallel_text
import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.models.voting_options import ReferenceVoting
from fairseq_xl.siamese.prediction import classifier as classifier_module
from fairseq_xl.siamese.prediction.classifier import TextClassifier

pytestmark = pytest.mark.slow  # trains an encoder


@pytest.mark.parametrize("rule", ["matches", "mean", "knn", "centroid"])
def test_it_classifies_the_test_set(checkpoint, rule):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(rule=rule, references=20), device="cpu")
    record = classifier.record("test", "SSC")
    assert record["macro_f1"] > 0.9
    assert len(record["macro_f1_of_each_draw"]) == 5
    assert record["voting"]["reference_side"] == "high"
    assert record["training_sentences"] == {"low": 48, "high": 200}


def test_a_bias_of_classes_counts_in_records_and_predictions(checkpoint):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(rule="centroid", references=20), device="cpu")
    before = classifier.record("test", "SSC")
    classifier.fit_bias()
    assert classifier.record("test", "SSC")["macro_f1"] >= before["macro_f1"] - 0.1
    classifier.bias = torch.tensor([9.0, 0.0])
    record = classifier.record("test", "SSC")
    assert set(record["predicted"]) == {0}
    assert record["class_bias"] == [9.0, 0.0]
    assert {found.label for found in classifier.predict(["ఇది మంచి సినిమా", "ఇది చెడు సినిమా"])} == {classifier.classes[0]}


def test_predictions(checkpoint):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(references=20), device="cpu")
    good, bad, foreign = classifier.predict(["ఇది మంచి సినిమా", "ఇది చెడు సినిమా", "ζζζ ωωω"], neighbours=2)
    assert (good.label, bad.label) == ("pos", "neg")
    assert sum(good.scores.values()) == pytest.approx(1)
    assert good.known > 0.8
    assert foreign.known < 0.3
    assert [n.label for n in good.neighbours] == ["pos", "pos"]
    assert classifier.predict([]) == []
    with pytest.raises(InputError, match="sentence 2 is empty"):
        classifier.predict(["మంచి", "  "])
    assert [classifier.side_of(name) for name in ("te", "low", "en", "high")] == ["low", "low", "high", "high"]
    for unknown in (lambda: classifier.side_of("de"), lambda: classifier.predict(["మంచి"], "de")):
        with pytest.raises(InputError, match="the model knows the languages te, en, not 'de'"):
            unknown()
    with pytest.raises(TypeError, match="give a list of sentences, not one string"):
        classifier.predict("మంచి")


def test_a_path_as_text_is_enough(checkpoint):
    """References then decide as in the training's validation, and a value that is none is refused as in a command."""
    assert TextClassifier.load(str(checkpoint), device="cpu").rule == "matches"
    for wrong, message in (({"rule": "vote"}, "rule is one of matches, mean,"), ({"draws": 0}, "draws is 0: give a")):
        with pytest.raises(InputError, match=message):
            TextClassifier.load(checkpoint, ReferenceVoting(**wrong), device="cpu")


def test_references_decide_as_in_validation_unless_said_otherwise(checkpoint, capsys):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(), device="cpu")
    assert (classifier.voting.rule, classifier.voting.threshold, classifier.voting.references) == (
        "matches",
        0.5,
        20,
    )
    assert capsys.readouterr().err == ""
    cfg = classifier.task.cfg
    cfg.rule, cfg.match_threshold, cfg.references = "centroid", 0.3, 50
    trained = TextClassifier(classifier.model, classifier.task, ReferenceVoting(reference_side="low"))
    assert (trained.voting.rule, trained.voting.threshold, trained.voting.references) == ("centroid", 0.3, 50)
    assert "fewer than 50 references of neg 24, pos 24: all are taken\n" in capsys.readouterr().err
    voting = ReferenceVoting(rule="matches", threshold=0.1, references=7)
    chosen = TextClassifier(classifier.model, classifier.task, voting).voting
    assert (chosen.rule, chosen.threshold, chosen.references) == ("matches", 0.1, 7)
    for rule, given, reader in (("knn", {"threshold": 0.1}, "matches"), (None, {"neighbours": 3}, "knn")):
        with pytest.raises(InputError, match=f"is for the rule {reader}, and the rule is {rule or 'centroid'}: leave"):
            TextClassifier(classifier.model, classifier.task, ReferenceVoting(rule=rule, **given))


def test_another_folder_than_that_of_the_training_is_refused(checkpoint, data_directory, tmp_path):
    for file in data_directory.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert TextClassifier.load(checkpoint, ReferenceVoting(), tmp_path, "cpu").classes == ["neg", "pos"]
    lines = (tmp_path / "dict.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "dict.txt").write_text("".join(reversed(lines)), encoding="utf-8")
    with pytest.raises(InputError, match="has other n-grams or classes than the data that the checkpoint was"):
        TextClassifier.load(checkpoint, ReferenceVoting(), tmp_path, "cpu")


def test_a_checkpoint_of_another_task_is_refused(tmp_path):
    data = parallel_text.prepare(tmp_path, train=[("eins zwei drei", "eins zwei drei")] * 9)
    in_process.run(
        "train",
        f"{data} --arch lstm_wiseman_iwslt_de_en --optimizer sgd --lr 0 --max-tokens 99 --max-update 1 "
        f"--disable-validation --num-workers 0 --cpu --save-dir {tmp_path}",
    )
    with pytest.raises(InputError, match=r"checkpoint_last\.pt was not trained with --task siamese_contrastive"):
        TextClassifier.load(tmp_path / "checkpoint_last.pt", ReferenceVoting(), device="cpu")


def test_references_are_encoded_once(checkpoint, monkeypatch):
    voting = ReferenceVoting(references=10, reference_seed=5)
    first = TextClassifier.load(checkpoint, voting, device="cpu")
    (kept,) = checkpoint.parent.glob("checkpoint_last.references.*.npz")
    monkeypatch.setattr(type(first.task), "encode", lambda *_: pytest.fail("encoded again"))
    again = TextClassifier.load(checkpoint, voting, device="cpu")
    torch.testing.assert_close(first.vectors, again.vectors)
    monkeypatch.undo()
    kept.unlink()


def torn(path):
    path.write_bytes(path.read_bytes()[:-100])


def an_array(path):
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))


def other_arrays(path):
    np.savez(path, other=np.zeros(3))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (torn, ""),
        (an_array, ""),
        (other_arrays, "it holds other)"),
        (lambda path: path.write_bytes(b"mine"), ""),
        (lambda path: [path.unlink(), path.mkdir()], "it is no file)"),
    ],
    ids=["torn", "an array", "other arrays", "text", "a folder"],
)
def test_what_is_not_the_references_stays(checkpoint, spoil, why, capsys):
    voting = ReferenceVoting(references=10, reference_seed=5)
    first = TextClassifier.load(checkpoint, voting, device="cpu")
    (kept,) = checkpoint.parent.glob("checkpoint_last.references.*.npz")
    spoil(kept)
    before = kept.read_bytes() if kept.is_file() else None
    capsys.readouterr()
    torch.testing.assert_close(first.vectors, TextClassifier.load(checkpoint, voting, device="cpu").vectors)
    assert f"{kept} is not used and stays ({why}" in capsys.readouterr().err
    assert before == (kept.read_bytes() if kept.is_file() else None)
    if kept.is_dir():
        kept.rmdir()
    else:
        kept.unlink()


def test_references_beside_a_checkpoint_that_cannot_be_written_to(checkpoint, monkeypatch, capsys):
    def closed(*_):
        raise InputError("cannot write it: Permission denied")

    monkeypatch.setattr(classifier_module, "atomic_outputs", closed)
    assert len(TextClassifier.load(checkpoint, ReferenceVoting(references=10), device="cpu").used)
    assert "Permission denied; the references are encoded each time" in capsys.readouterr().err
    assert not list(checkpoint.parent.glob("checkpoint_last.references.*.npz"))


def test_a_class_with_few_sentences_gives_all(checkpoint):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(references=10_000, reference_side="low"), device="cpu")
    assert len(classifier.used) == len(classifier.corpus)
