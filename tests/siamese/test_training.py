"""``fairseq-train`` with Siamese encoders: pairs, resuming, validation, and what trained ones predict."""

from __future__ import annotations

import json

import numpy as np
import pytest
import registered
import torch

from fairseq_xl.cli.main import main
from fairseq_xl.encode.encoder import SentenceEncoder, pack
from fairseq_xl.encode.onnx_export import export
from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.dataset import EpochPairs, Sentences
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.data.prepare import prepare
from fairseq_xl.siamese.data.settings import Settings
from fairseq_xl.siamese.models.task import pair_kinds
from fairseq_xl.siamese.models.voting import ReferenceVoting
from fairseq_xl.siamese.prediction.classifier import Classifier
from fairseq_xl.siamese.prediction.unlabelled import Labelled, label_pairs


@pytest.fixture
def sentences(data_directory):
    folder = DataDirectory(data_directory)
    corpora = [folder.corpus("train", side) for side in ("low", "high")]
    return Sentences(corpora, folder.dictionary.pad(), 30)


def draw(sentences, epoch, kinds=("low-high",)):
    pairs = EpochPairs(sentences, kinds, 2, 2, True, seed=7)
    pairs.set_epoch(epoch)
    return pairs


def test_pairs_are_of_the_sides_they_are_called(sentences):
    low = len(sentences.corpora[0])
    pairs = draw(sentences, 1, ("low-high", "high-high")).pairs
    first = slice(0, 4 * low)
    assert (pairs.left[first] < low).all()
    assert (pairs.right >= low).all()
    assert (pairs.left[4 * low :] >= low).all()
    np.testing.assert_array_equal(sentences.labels[pairs.left] == sentences.labels[pairs.right], pairs.same)


def test_an_epochs_pairs_depend_on_seed_and_epoch_alone(sentences):
    one, again, other = draw(sentences, 3), draw(sentences, 9), draw(sentences, 4)
    again.set_epoch(3)
    np.testing.assert_array_equal(one.pairs.right, again.pairs.right)
    np.testing.assert_array_equal(one.ordered_indices(), again.ordered_indices())
    assert (one.pairs.right != other.pairs.right).any()


def test_processes_share_each_epoch(sentences, assert_processes_share_each_epoch):
    assert_processes_share_each_epoch(lambda: draw(sentences, 1))


def test_a_batch_holds_each_sentence_once(sentences):
    data = draw(sentences, 1)
    rows = [data[i] for i in range(20)] * 2
    batch = data.collater(rows)
    assert len(batch["net_input"]["src_tokens"]) == len(batch["target"]) < 40
    for side in ("left", "right"):
        for place, (_, left, right, _) in zip(batch[side].tolist(), rows, strict=True):
            _, units, label = sentences[left if side == "left" else right]
            length = batch["net_input"]["src_lengths"][place]
            assert batch["net_input"]["src_tokens"][place, :length].tolist() == units.tolist()
            assert batch["target"][place] == label
    assert data.collater([]) == {}


def test_long_sentences_are_cut(data_directory):
    folder = DataDirectory(data_directory)
    sentences = Sentences([folder.corpus("train", "low")], folder.dictionary.pad(), 5)
    assert max(len(sentences[i][1]) for i in range(len(sentences))) == sentences.sizes.max() == 5


def test_validation_leaves_no_sentence_out(sentences):
    batches = sentences.batch_by_size(sentences.ordered_indices()[-6:], None, 64, 8)
    assert sorted(np.concatenate(batches)) == sorted(sentences.ordered_indices()[-6:])


def test_kinds_of_pairs(data_directory, labelled, tmp_path):
    folder = DataDirectory(data_directory)
    assert pair_kinds(None, folder) == ["low-high"]
    assert pair_kinds("high-low+low-low", folder) == ["high-low", "low-low"]
    with pytest.raises(InputError, match="'low' is none of low-low, low-high"):
        pair_kinds("low", folder)
    for stale in data_directory.glob("train.low.*"):
        (tmp_path / stale.name).write_bytes(stale.read_bytes())
    (tmp_path / "manifest.json").write_bytes((data_directory / "manifest.json").read_bytes())
    assert pair_kinds(None, DataDirectory(tmp_path)) == ["low-low"]
    with pytest.raises(InputError, match="has no high-resource language"):
        pair_kinds("low-high", DataDirectory(tmp_path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--explain", "-1"), "--explain is -1: give a number from 0"),
        (("--split", "test"), "name its file with --output"),
        (("--split", "test", "-o", "x", "--curve", "L", "many"), "a name and a number from 1, not 'many'"),
        (("-o", "."), "cannot write .: it is a directory"),
        (("-o", "/dev/null/x"), "cannot make the folder of /dev/null/x"),
        (("--reference-seed", "-1"), "--reference-seed is -1: give a number from 0"),
        (("--references", "0"), "--references is 0: give a number from 1"),
        (("--threshold", "nan"), "--threshold is nan: give a finite number"),
    ],
)
def test_mistakes_in_prediction_are_said_before_the_work(options, said, capsys):
    assert main(["classify", "predict", "nowhere.pt", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
class TestTrained:
    @pytest.mark.parametrize("rule", ["matches", "mean", "knn", "centroid"])
    def test_it_classifies_the_test_set(self, checkpoint, rule):
        classifier = Classifier.load(checkpoint, ReferenceVoting(rule=rule, references=20), device="cpu")
        record = classifier.record("test", "SSC")
        assert record["macro_f1"] > 0.9
        assert len(record["macro_f1_of_each_draw"]) == 5
        assert record["voting"]["reference_side"] == "high"
        assert record["training_sentences"] == {"low": 48, "high": 200}

    def test_predictions(self, checkpoint):
        classifier = Classifier.load(checkpoint, ReferenceVoting(references=20), device="cpu")
        good, bad, foreign = classifier.predict(["ఇది మంచి సినిమా", "ఇది చెడు సినిమా", "ζζζ ωωω"], neighbours=2)
        assert (good.label, bad.label) == ("pos", "neg")
        assert sum(good.scores.values()) == pytest.approx(1)
        assert good.known > 0.8
        assert foreign.known < 0.3
        assert [n.label for n in good.neighbours] == ["pos", "pos"]
        assert classifier.predict([]) == []
        with pytest.raises(InputError, match="sentence 2 is empty"):
            classifier.predict(["మంచి", "  "])

    def test_references_decide_as_in_validation_unless_said_otherwise(self, checkpoint, capsys):
        classifier = Classifier.load(checkpoint, ReferenceVoting(), device="cpu")
        assert (classifier.voting.rule, classifier.voting.threshold, classifier.voting.references) == (
            "matches",
            0.5,
            20,
        )
        assert capsys.readouterr().err == ""
        cfg = classifier.task.cfg
        cfg.rule, cfg.match_threshold, cfg.references = "centroid", 0.3, 50
        trained = Classifier(classifier.model, classifier.task, ReferenceVoting(reference_side="low"))
        assert (trained.voting.rule, trained.voting.threshold, trained.voting.references) == ("centroid", 0.3, 50)
        assert "fewer than 50 references of neg 24, pos 24: all are taken\n" in capsys.readouterr().err
        chosen = Classifier(
            classifier.model, classifier.task, ReferenceVoting(rule="knn", threshold=0.1, references=7)
        ).voting
        assert (chosen.rule, chosen.threshold, chosen.references) == ("knn", 0.1, 7)

    def test_another_folder_than_that_of_the_training_is_refused(self, checkpoint, data_directory, tmp_path):
        for file in data_directory.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        assert Classifier.load(checkpoint, ReferenceVoting(), tmp_path, "cpu").classes == ["neg", "pos"]
        lines = (tmp_path / "dict.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "dict.txt").write_text("".join(reversed(lines)), encoding="utf-8")
        with pytest.raises(InputError, match="has other n-grams or classes than the data that the checkpoint was"):
            Classifier.load(checkpoint, ReferenceVoting(), tmp_path, "cpu")

    def test_new_text_by_the_command(self, checkpoint, tmp_path, capsys):
        text, out = tmp_path / "text", tmp_path / "out"
        text.write_text("మంచి\n\x00\n", encoding="utf-8")
        words = ["classify", "predict", str(checkpoint), str(text), "--device", "cpu"]
        assert main([*words, "-o", str(out)]) == 2
        assert f"{text}, line 2 is empty" in capsys.readouterr().err
        assert not out.exists()

    def test_pairs_are_labelled_by_the_command(self, checkpoint, tmp_path, capsys):
        high, low, *out = (tmp_path / name for name in ("high", "low", "high.tsv", "low.tsv"))
        high.write_text("మంచి సినిమా\nζζζ\n\x00\n", encoding="utf-8")
        low.write_text("a\nb\nc\n")
        words = ["classify", "label", str(checkpoint), str(high), str(low), "--device", "cpu", "-o", *map(str, out)]
        assert main(words) == 0
        assert out[1].read_text() == "pos\ta\n"
        said = "1 pairs labelled (pos 1), 0 left out as unsure, 1 as guesses, for they have no n-gram"
        assert said in (err := capsys.readouterr().err)
        assert err.endswith("that the training text has, 1 as empty\n")
        assert main([*words, "--least", "0.6", "--rule", "centroid"]) == 2
        assert "--least has no use with the rule centroid" in capsys.readouterr().err
        assert main([*words[:-1], str(out[0])]) == 2
        assert "high.tsv twice" in capsys.readouterr().err

    def test_references_are_encoded_once(self, checkpoint, monkeypatch):
        voting = ReferenceVoting(references=10, reference_seed=5)
        first = Classifier.load(checkpoint, voting, device="cpu")
        (kept,) = checkpoint.parent.glob("checkpoint_last.references.*.npz")
        monkeypatch.setattr(type(first.task), "encode", lambda *_: pytest.fail("encoded again"))
        again = Classifier.load(checkpoint, voting, device="cpu")
        torch.testing.assert_close(first.vectors, again.vectors)
        monkeypatch.undo()
        kept.write_bytes(kept.read_bytes()[:-100])
        torch.testing.assert_close(first.vectors, Classifier.load(checkpoint, voting, device="cpu").vectors)
        kept.unlink()

    def test_a_class_with_few_sentences_gives_all(self, checkpoint):
        classifier = Classifier.load(checkpoint, ReferenceVoting(references=10_000, reference_side="low"), device="cpu")
        assert len(classifier.used) == len(classifier.corpus)

    def test_unlabelled_pairs_take_the_class_of_the_high_resource_side(self, checkpoint):
        classifier = Classifier.load(checkpoint, ReferenceVoting(references=20), device="cpu")
        pairs = [("the film was great", "సినిమా"), ("the day was awful", "రోజు")]
        count = Labelled()
        found = list(label_pairs(pairs, lambda texts: classifier.predict(texts, "high", 0), 0.5, count))
        assert [row[0] for row in found] == ["pos", "neg"]
        assert str(count) == "2 pairs labelled (neg 1, pos 1), 0 left out as unsure"
        assert not list(label_pairs(pairs, lambda texts: classifier.predict(texts, "high", 0), 1.01, count))

    @pytest.mark.parametrize("arch", registered.models("siamese", presets=False))
    def test_every_architecture_resumes_validates_and_is_averaged(
        self, arch, data_directory, assert_every_command_works, tmp_path
    ):
        assert_every_command_works(
            f"{data_directory} --task siamese_contrastive --criterion contrastive --arch {arch} --embed-dim 8 "
            "--hidden-dim 8 --dropout 0.1 --references 10 --optimizer adam --lr 0.01 --batch-size 32",
            tmp_path,
        )

    def test_workers_draw_the_same_pairs(self, data_directory, train_siamese, tmp_path):
        fixed = "--max-epoch 2 --seed 3 --references 10 --disable-validation --save-interval 2 "
        train_siamese(data_directory, tmp_path / "none", fixed)
        train_siamese(data_directory, tmp_path / "two", fixed + "--num-workers 2")
        none, two = (torch.load(tmp_path / name / "checkpoint_last.pt")["model"] for name in ("none", "two"))
        for name, value in none.items():
            torch.testing.assert_close(value, two[name], rtol=0, atol=0, msg=name)

    def test_validation_reports_macro_f1(self, data_directory, train_siamese, tmp_path, caplog):
        with caplog.at_level("INFO"):
            train_siamese(data_directory, tmp_path, "--max-epoch 1 --references 10 --rule centroid")
        lines = [json.loads(r.getMessage()) for r in caplog.records if r.name == "valid" and r.getMessage()[0] == "{"]
        assert 0 <= float(lines[0]["valid_macro_f1"]) <= 100
        assert 0 <= float(lines[0]["valid_accuracy"]) <= 100
        assert (tmp_path / "checkpoint_best.pt").is_file()

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ("--margin 2", "--margin is a cosine from 0 to 1, not 2.0"),
            ("--class-weight 1", "--class-weight needs a model with --class-head"),
            ("--encoder-kind cnn", "has no last state"),
            ("--references 0", "--references takes a number from 1"),
            ("--pairs low", "is none of"),
        ],
    )
    def test_mistakes(self, data_directory, train_siamese, tmp_path, options, said):
        with pytest.raises(InputError) as error:
            train_siamese(data_directory, tmp_path, f"--max-update 1 {options}")
        assert said in str(error.value)


class TestEncodingText:
    """``fairseq-xl embed text`` with a Siamese encoder."""

    def test_a_packed_encoder_needs_no_data(self, checkpoint, data_directory, tmp_path):
        """Its folder has no text to pair, and gives the vectors of the task."""
        pack(checkpoint, tmp_path / "packed")
        assert not [*(tmp_path / "packed").glob("*.tsv")]
        texts = ["the film was good", "", "మంచి సినిమా", "day " * 999]
        encoder = SentenceEncoder.load(tmp_path / "packed", "cpu")
        found = encoder.encode(texts, normalize=True)
        assert found.shape == (4, encoder.dim) == (4, 16)
        assert not found[1].any()
        folder, units = DataDirectory(data_directory), encoder.task.longest
        for row, text in zip(found[[0, 2, 3]], [texts[0], *texts[2:]], strict=True):
            tokens = folder.encode(text)[None, :units]
            expected = encoder.model.encode_sentences(tokens, torch.tensor([tokens.shape[1]]))[0]
            np.testing.assert_allclose(row, (expected / expected.norm()).detach(), atol=1e-6)

    def test_it_cannot_be_onnx(self, checkpoint, tmp_path):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("onnx")
        with pytest.raises(InputError, match="a model of this kind cannot be written as ONNX"):
            export(SentenceEncoder.load(checkpoint, "cpu"), tmp_path / "x.onnx")
        assert not [*tmp_path.iterdir()]

    def test_several_orders_of_ngrams(self, labelled, train_siamese, tmp_path):
        """They stand together, so that a sentence's number of tokens is a multiple of their number."""
        prepare(tmp_path / "data", Settings(low_resource=[str(labelled / "te.tsv")], ngrams=[3, 2]))
        train_siamese(tmp_path / "data", tmp_path / "run", "--max-update 1 --disable-validation --pooling max")
        encoder = SentenceEncoder.load(tmp_path / "run" / "checkpoint_last.pt", "cpu")
        assert encoder.encode(["మంచి సినిమా", "రోజు"]).shape == (2, 16)


@pytest.mark.slow
def test_two_processes_do_as_one_with_batches_twice_as_many(data_directory, assert_two_processes_do_as_one, tmp_path):
    said = assert_two_processes_do_as_one(
        f"{data_directory} --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive --optimizer adam "
        "--lr 0.005 --batch-size 8 --required-batch-size-multiple 1 --num-workers 0 --max-epoch 2 --seed 1",
        tmp_path,
    )
    assert "macro_f1" in said
