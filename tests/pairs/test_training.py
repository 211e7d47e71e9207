"""``fairseq-train`` with each classifier, folds, resuming and prediction."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import registered
import torch
from scipy.special import expit

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.directory import DataDirectory
from fairseq_xl.pairs.evaluation.record import PairRecord
from fairseq_xl.pairs.models.task import PairClassificationTask, PairClassificationTaskConfig
from fairseq_xl.pairs.prediction.predictor import PairPredictor

ARCHITECTURES = registered.models("pairs")
ALONE = tuple(name for name in ARCHITECTURES if name not in ("esim", "decomposable_attention"))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_trains_and_judges(trained, valid, name):
    predictor = PairPredictor.load(trained / name / "checkpoint_last.pt", device="cpu")
    logits = predictor.logits(valid)
    assert len(set(logits.round(6))) > 5
    alone = np.concatenate([predictor.logits([row]) for row in valid])
    np.testing.assert_allclose(logits, alone, atol=1e-5)


def test_it_learns(checkpoint, valid):
    """The topics, of which training has seen 150 matching pairs, decide; the prior alone would cost 0.69."""
    p = expit(PairPredictor.load(checkpoint, device="cpu").logits(valid))
    gold = np.array([row.label for row in valid])
    loss = -np.log(np.where(gold == 1, p, 1 - p)).mean()
    assert loss < 0.45
    assert ((p > 0.5) == gold).mean() > 0.8


def test_the_mean_of_both_orders_is_symmetric(prepared, train_classifier, tmp_path, valid):
    train_classifier(prepared, tmp_path, "--arch esim --hidden-dim 8 --max-update 2 --symmetric")
    predictor = PairPredictor.load(tmp_path / "checkpoint_last.pt", device="cpu")
    there = predictor.rows([(row.left_text, row.right_text) for row in valid])
    back = predictor.rows([(row.right_text, row.left_text) for row in valid])
    np.testing.assert_allclose(predictor.logits(there), predictor.logits(back), atol=1e-5)


def test_vectors_are_kept_or_tuned(prepared, train_classifier, tmp_path):
    given = DataDirectory(prepared).vectors()
    for tuned in (False, True):
        folder = tmp_path / str(tuned)
        line = "--arch siamese_conv --hidden-dim 8 --max-update 3" + (" --tune-vectors" if tuned else "")
        train_classifier(prepared, folder, line)
        state = torch.load(folder / "checkpoint_last.pt", weights_only=True)["model"]
        words = state["embedding.table"][4:]
        assert torch.equal(words, given[4:]) != tuned


def test_a_schedule_that_halves_sees_the_trainers_gradients(prepared, train_classifier, tmp_path):
    line = "--arch infersent --hidden-dim 8 --max-update 6 --lr-scheduler halving --halve-above "
    for above, rate in (("0.000001", 0.005 / 2**6), ("1000000", 0.005)):
        train_classifier(prepared, tmp_path / above, line + above)
        state = torch.load(tmp_path / above / "checkpoint_last.pt", weights_only=True)
        assert state["optimizer_history"][-1]["lr_scheduler_state"]["lr"] == pytest.approx(rate)


def test_what_is_of_another_task_is_refused(prepared, train_classifier, tmp_path):
    for options, said in (
        ("--arch esim --criterion cross_entropy", "give --criterion pair_classification"),
        ("--arch esim --criterion contrastive", "--criterion contrastive is for another task than pair_classification"),
        ("--arch ssc_bilstm", "--arch ssc_bilstm is for another task than pair_classification: give --arch esim"),
    ):
        with pytest.raises(InputError, match=said):
            train_classifier(prepared, tmp_path, f"{options} --max-update 1")
    task = PairClassificationTask.setup_task(PairClassificationTaskConfig(data=str(prepared)))
    with pytest.raises(InputError, match="use fairseq-xl match predict"):
        task.build_generator([], None)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_resumes_validates_and_is_averaged(name, prepared, assert_every_command_works, tmp_path):
    assert_every_command_works(
        f"{prepared} --task pair_classification --criterion pair_classification --arch {name} --hidden-dim 8 "
        "--dropout 0.3 --exchange --optimizer adam --lr 0.005 --batch-size 100",
        tmp_path,
    )


def test_a_fold_is_held_out_and_recorded(prepared, train_classifier, tmp_path):
    train_classifier(prepared, tmp_path, "--arch siamese_conv --hidden-dim 8 --max-update 2 --fold 1 --seed 6")
    out = tmp_path / "record.json"
    line = ["match", "predict", str(tmp_path / "checkpoint_last.pt"), "--split", "fold", "--device", "cpu"]
    assert main([*line, "-o", str(out), "--name", "conv"]) == 0
    record = PairRecord.read(out)
    rows = DataDirectory(prepared).fold(1, held_out=True)
    assert (record.name, record.split, record.seed) == ("conv", "fold 1", 6)
    assert record.ids == [row.id for row in rows]
    assert record.gold == [row.label for row in rows]
    assert str(tmp_path) not in out.read_text(encoding="utf-8")
    # A split is whole, and another folder's need not have that fold.
    manifest = Path(shutil.copytree(prepared, tmp_path / "other")) / "manifest.json"
    said = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**said, "folds": 1}))
    line[line.index("fold")] = "train"
    assert main([*line, "-o", str(out), "--data", str(tmp_path / "other")]) == 0
    record = PairRecord.read(out)
    assert (record.split, record.ids) == ("train", [row.id for row in DataDirectory(prepared).rows("train")])


def test_raw_pairs_from_a_file_and_from_standard_input(checkpoint, files, valid, tmp_path, capsys, monkeypatch):
    rows = PairPredictor.load(checkpoint, device="cpu").logits(valid)
    line = ["match", "predict", str(checkpoint), "--device", "cpu"]
    assert main([*line, "--input", f"{files}/valid.tsv", "-o", str(tmp_path / "p.txt")]) == 0
    found = [float(p) for p in (tmp_path / "p.txt").read_text().split()]
    np.testing.assert_allclose(found, expit(rows), atol=2e-6)
    two = (files / "test.tsv").read_text(encoding="utf-8").split("\n")[:2]
    path = tmp_path / "stdin"
    path.write_text("\n".join(two) + "\n", encoding="utf-8")
    monkeypatch.setattr("fairseq_xl.cli.match.predict.STANDARD_INPUT", str(path))
    assert main(line) == 0
    assert len(capsys.readouterr().out.split()) == 2


def test_a_calibration_is_fitted_and_applied(trained, valid, tmp_path, capsys):
    checkpoint = trained / "siamese_conv" / "checkpoint_last.pt"  # hardly trained: some of it is wrong
    line = ["match", "predict", str(checkpoint), "--device", "cpu", "--split", "valid"]
    raw, scaled, file = (tmp_path / name for name in ("raw.json", "scaled.json", "calibration.json"))
    assert main([*line, "-o", str(raw)]) == 0
    assert main(["match", "calibrate", str(raw), "-o", str(file), "--prior", "0.2"]) == 0
    assert main([*line, "-o", str(scaled), "--calibration", str(file)]) == 0
    assert main(["match", "calibrate", str(scaled), "-o", str(tmp_path / "again.json")]) == 2
    assert "scaled.json is calibrated already" in capsys.readouterr().err
    before, after = (np.array(PairRecord.read(path).probability) for path in (raw, scaled))
    assert (np.argsort(before) == np.argsort(after)).all()
    calibration = json.loads(file.read_text())
    logit = np.log(before / (1 - before)) / calibration["temperature"]
    prior = np.mean([row.label for row in valid])
    assert calibration["development_prior"] == pytest.approx(prior)
    odds = np.exp(logit) * (0.2 / 0.8) / (prior / (1 - prior))
    np.testing.assert_allclose(after, odds / (1 + odds), atol=1e-9)


def test_a_model_is_tuned_on_other_pairs(files, prepared, checkpoint, train_classifier, tmp_path):
    """As MSRP after a corpus of its own: the folder is made like the first."""
    other = ["match", "prepare", "-o", str(tmp_path / "p"), f"{files}/valid.tsv", "--like", str(prepared)]
    assert main(other) == 0
    line = "--arch siamese_conv --hidden-dim 16 --decide-dim 16 --difference absolute --max-update 1 --lr 0.0 "
    train_classifier(tmp_path / "p", tmp_path, f"{line} --disable-validation --finetune-from-model {checkpoint}")
    states = [torch.load(path, weights_only=True)["model"] for path in (checkpoint, tmp_path / "checkpoint_last.pt")]
    for name, value in states[0].items():
        if "running" not in name and "num_batches" not in name:
            assert torch.equal(value, states[1][name]), name


def test_a_model_of_two_languages(files, train_classifier, tmp_path, capsys, monkeypatch):
    given = f"{files}/train.tsv,languages=es+pt"
    assert main(["match", "prepare", "-o", str(tmp_path / "p"), given, "--dim", "8", "--longest", "9"]) == 0
    train_classifier(tmp_path / "p", tmp_path, "--arch siamese_conv --tune-vectors --max-update 1 --disable-validation")
    line = ["match", "predict", str(tmp_path / "checkpoint_last.pt"), "--device", "cpu", "--input"]
    capsys.readouterr()
    assert main([*line, f"{files}/valid.tsv,languages=es+pt"]) == 0
    assert len(capsys.readouterr().out.split()) == 60
    for wrong in ("", ",languages=es+fr"):
        assert main([*line, f"{files}/valid.tsv{wrong}"]) == 2
        assert "has the languages es pt: give the same" in capsys.readouterr().err
    from fairseq_xl import SentenceEncoder

    encoder = SentenceEncoder.load(tmp_path / "checkpoint_last.pt", "cpu")
    spanish, portuguese = (encoder.encode(["ver mi tarjeta"], language=code, progress=False) for code in ("es", "pt"))
    assert spanish.any()
    assert not np.allclose(spanish, portuguese), "es:ver is another word than pt:ver"
    for language in (None, "fr"):
        with pytest.raises(InputError, match="has the languages es pt: give the text's own, by --languages of"):
            encoder.encode(["hola"], language=language, progress=False)
    corpus, index = tmp_path / "corpus.txt", ["--index", str(tmp_path / "index"), "--top", "1", "--device", "cpu"]
    corpus.write_text("ver mi tarjeta\n", encoding="utf-8")
    model = str(tmp_path / "checkpoint_last.pt")
    search = ["match", "search", str(corpus), "--encoder", model, "--rerank", model, *index]
    cosines = {}
    for languages in ("es+es", "pt+es", "es+pt"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ver mi tarjeta\n")))
        assert main([*search, "--languages", languages]) == 0
        cosines[languages] = json.loads(capsys.readouterr().out)["found"][0]["cosine"]
    assert cosines["es+es"] == pytest.approx(1, abs=1e-5)
    assert cosines["pt+es"] < 0.999
    assert cosines["es+pt"] == pytest.approx(cosines["pt+es"], abs=1e-5), "the corpus was encoded anew"
    assert main([*search, "--languages", "es"]) == 2
    assert "--languages are two codes, such as en+fr, not 'es'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ALONE)
def test_one_sentence_has_a_vector(trained, name):
    from fairseq_xl import SentenceEncoder

    encoder = SentenceEncoder.load(trained / name / "checkpoint_last.pt", "cpu")
    texts = ["¿Cómo puedo ver mi reembolso?", "El paquete", "…"]
    vectors = encoder.encode(texts, progress=False)
    np.testing.assert_allclose(vectors[1], encoder.encode(texts[1:2], progress=False)[0], atol=1e-6)
    assert not vectors[2].any()
    assert vectors[0].any()


def test_models_and_folders_that_do_not_fit(files, prepared, checkpoint, train_classifier, tmp_path, capsys):
    assert (
        main(["match", "prepare", "-o", str(tmp_path / "none"), f"{files}/train.tsv", f"{files}/valid.tsv,split=valid"])
        == 0
    )
    with pytest.raises(InputError, match="was prepared without --vectors"):
        train_classifier(tmp_path / "none", tmp_path / "run", "--arch siamese_conv --max-update 1")
    with pytest.raises(InputError, match="fold 9 of 2"):
        train_classifier(prepared, tmp_path / "run", "--arch siamese_conv --max-update 1 --fold 9")
    with pytest.raises(InputError, match="the two directions share 7 units"):
        train_classifier(prepared, tmp_path / "run", "--arch esim --hidden-dim 7 --max-update 1")
    capsys.readouterr()
    line = ["match", "predict", str(checkpoint), "--split", "valid", "-o", str(tmp_path / "r.json"), "--device", "cpu"]
    assert main([*line, "--data", str(tmp_path / "none")]) == 2
    assert "was prepared without --vectors" in capsys.readouterr().err
    other = ["match", "prepare", "-o", str(tmp_path / "other"), f"{files}/valid.tsv", "--vectors", f"{files}/words.vec"]
    assert main(other) == 0
    assert main([*line, "--data", str(tmp_path / "other")]) == 2
    assert "another dictionary" in capsys.readouterr().err
    assert main([*line[:-4], "--device", "cpu"]) == 2
    assert "name its file with --output" in capsys.readouterr().err
    assert not (tmp_path / "r.json").exists()


@pytest.mark.slow
def test_two_processes_do_as_one_with_batches_twice_as_many(prepared, assert_processes_do_as_one, tmp_path):
    said = assert_processes_do_as_one(
        f"{prepared} --task pair_classification --criterion pair_classification --arch siamese_lstm --hidden-dim 8 "
        "--dropout 0 --exchange --optimizer adam --lr 0.005 --batch-size 20 --required-batch-size-multiple 1 "
        "--num-workers 0 --max-epoch 2 --seed 1",
        tmp_path,
    )
    assert {"average_precision", "f1"} <= said.keys()


def test_the_checkpoint_is_chosen_on_another_fold_than_the_one_reported(prepared):
    directory = DataDirectory(prepared)
    task = PairClassificationTask.setup_task(
        PairClassificationTaskConfig(data=str(prepared), fold=1, valid_fold=0, seed=1)
    )
    task.load_dataset("valid")
    assert [row.id for row in task.datasets["valid"].rows] == [row.id for row in directory.fold(0, held_out=True)]
    assert task.rows("valid") == directory.fold(1, held_out=True)  # what `match predict --split fold` reports
    assert not any({0, 1} & set(row.folds) for row in task.rows("train"))
    for fold in (-1, 0):
        with pytest.raises(InputError, match="--valid-fold 0 is beside another --fold"):
            PairClassificationTask.setup_task(PairClassificationTaskConfig(data=str(prepared), fold=fold, valid_fold=0))
