"""``fairseq-train`` with twins: pairs, resuming, validation, and what trained ones predict."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from fairseq_xl.encode.encoder import SentenceEncoder
from fairseq_xl.encode.onnx_export import export
from fairseq_xl.encode.packing import pack
from fairseq_xl.errors import InputError
from fairseq_xl.siamese.classifier import Classifier, Rule
from fairseq_xl.siamese.dataset import EpochPairs, Sentences
from fairseq_xl.siamese.folder import Prepared
from fairseq_xl.siamese.prepare import Settings, prepare
from fairseq_xl.siamese.task import pair_kinds
from fairseq_xl.siamese.unlabelled import Labelled, label_pairs
from fairseq_xl.text.labelled import Source


@pytest.fixture
def sentences(prepared):
    folder = Prepared(prepared)
    corpora = [folder.corpus("train", side) for side in ("poor", "rich")]
    return Sentences(corpora, folder.dictionary.pad(), 30)


def draw(sentences, epoch, kinds=("poor-rich",)):
    pairs = EpochPairs(sentences, kinds, 2, 2, True, seed=7)
    pairs.set_epoch(epoch)
    return pairs


def test_pairs_are_of_the_sides_they_are_called(sentences):
    poor = len(sentences.corpora[0])
    pairs = draw(sentences, 1, ("poor-rich", "rich-rich")).pairs
    first = slice(0, 4 * poor)
    assert (pairs.left[first] < poor).all()
    assert (pairs.right >= poor).all()
    assert (pairs.left[4 * poor :] >= poor).all()
    np.testing.assert_array_equal(sentences.labels[pairs.left] == sentences.labels[pairs.right], pairs.same)


def test_an_epochs_pairs_depend_on_seed_and_epoch_alone(sentences):
    one, again, other = draw(sentences, 3), draw(sentences, 9), draw(sentences, 4)
    again.set_epoch(3)
    np.testing.assert_array_equal(one.pairs.right, again.pairs.right)
    np.testing.assert_array_equal(one.ordered_indices(), again.ordered_indices())
    assert (one.pairs.right != other.pairs.right).any()


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


def test_long_sentences_are_cut(prepared):
    folder = Prepared(prepared)
    sentences = Sentences([folder.corpus("train", "poor")], folder.dictionary.pad(), 5)
    assert max(len(sentences[i][1]) for i in range(len(sentences))) == sentences.sizes.max() == 5


def test_validation_leaves_no_sentence_out(sentences):
    batches = sentences.batch_by_size(sentences.ordered_indices()[-6:], None, 64, 8)
    assert sorted(np.concatenate(batches)) == sorted(sentences.ordered_indices()[-6:])


def test_kinds_of_pairs(prepared, labelled, tmp_path):
    folder = Prepared(prepared)
    assert pair_kinds(None, folder) == ["poor-rich"]
    assert pair_kinds("rich-poor+poor-poor", folder) == ["rich-poor", "poor-poor"]
    with pytest.raises(InputError, match="'poor' is none of poor-poor, poor-rich"):
        pair_kinds("poor", folder)
    for stale in prepared.glob("train.poor.*"):
        (tmp_path / stale.name).write_bytes(stale.read_bytes())
    (tmp_path / "manifest.json").write_bytes((prepared / "manifest.json").read_bytes())
    assert pair_kinds(None, Prepared(tmp_path)) == ["poor-poor"]
    with pytest.raises(InputError, match="has no rich language"):
        pair_kinds("poor-rich", Prepared(tmp_path))


@pytest.mark.slow
class TestTrained:
    @pytest.mark.parametrize("rule", ["matches", "mean", "knn", "centroid"])
    def test_it_classifies_the_test_set(self, checkpoint, rule):
        from fairseq_xl.siamese.predict_command import part_record

        classifier = Classifier.load(checkpoint, None, Rule(rule, references=20), cpu=True)
        record = part_record(classifier, "test", "twin")
        assert record["macro_f1"] > 0.9
        assert len(record["macro_f1_of_each_draw"]) == 5
        assert record["rule"]["side"] == "rich"

    def test_predictions(self, checkpoint):
        classifier = Classifier.load(checkpoint, None, Rule(references=20), cpu=True)
        good, bad, foreign = classifier.predict(["ఇది మంచి సినిమా", "ఇది చెడు సినిమా", "ζζζ ωωω"], neighbours=2)
        assert (good.label, bad.label) == ("pos", "neg")
        assert sum(good.scores.values()) == pytest.approx(1)
        assert good.known > 0.8
        assert foreign.known < 0.3
        assert [n.label for n in good.neighbours] == ["pos", "pos"]
        assert classifier.predict([]) == []
        with pytest.raises(InputError, match="sentence 2 is empty"):
            classifier.predict(["మంచి", "  "])

    def test_references_are_encoded_once(self, checkpoint, monkeypatch):
        rule = Rule(references=10, seed=5)
        first = Classifier.load(checkpoint, None, rule, cpu=True)
        (kept,) = checkpoint.parent.glob("checkpoint_last.references.*.npz")
        monkeypatch.setattr(type(first.task), "encode", lambda *_: pytest.fail("encoded again"))
        again = Classifier.load(checkpoint, None, rule, cpu=True)
        torch.testing.assert_close(first.vectors, again.vectors)
        kept.unlink()

    def test_a_class_with_few_sentences_gives_all(self, checkpoint):
        classifier = Classifier.load(checkpoint, None, Rule(references=10_000, side="poor"), cpu=True)
        assert len(classifier.used) == len(classifier.corpus)

    def test_unlabelled_pairs_take_the_rich_sides_class(self, checkpoint):
        classifier = Classifier.load(checkpoint, None, Rule(references=20), cpu=True)
        pairs = [("the film was great", "సినిమా"), ("the day was awful", "రోజు")]
        count = Labelled()
        found = list(label_pairs(pairs, lambda texts: classifier.predict(texts, "rich", 0), 0.5, count))
        assert [row[0] for row in found] == ["pos", "neg"]
        assert str(count) == "2 pairs labelled (neg 1, pos 1), 0 left out as unsure"
        assert not list(label_pairs(pairs, lambda texts: classifier.predict(texts, "rich", 0), 1.01, count))

    def test_resuming_gives_the_uninterrupted_runs_weights(self, prepared, train_twin, tmp_path):
        fixed = "--max-epoch 3 --seed 3 --dropout 0.1 --references 10 --save-interval 1 "
        train_twin(prepared, tmp_path / "whole", fixed)
        train_twin(prepared, tmp_path / "parts", fixed.replace("epoch 3", "epoch 3 --max-update 7"))
        train_twin(prepared, tmp_path / "parts", fixed)
        whole, parts = (
            torch.load(tmp_path / name / "checkpoint_last.pt")["model"] for name in ("whole", "parts")
        )
        for name, value in whole.items():
            torch.testing.assert_close(value, parts[name], rtol=0, atol=0, msg=name)

    def test_workers_draw_the_same_pairs(self, prepared, train_twin, tmp_path):
        fixed = "--max-epoch 2 --seed 3 --references 10 --disable-validation --save-interval 2 "
        train_twin(prepared, tmp_path / "none", fixed)
        train_twin(prepared, tmp_path / "two", fixed + "--num-workers 2")
        none, two = (torch.load(tmp_path / name / "checkpoint_last.pt")["model"] for name in ("none", "two"))
        for name, value in none.items():
            torch.testing.assert_close(value, two[name], rtol=0, atol=0, msg=name)

    def test_validation_reports_macro_f1(self, prepared, train_twin, tmp_path, caplog):
        with caplog.at_level("INFO"):
            train_twin(prepared, tmp_path, "--max-epoch 1 --references 10 --rule centroid")
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
            ("--pairs poor", "is none of"),
        ],
    )
    def test_mistakes(self, prepared, train_twin, tmp_path, options, said):
        with pytest.raises(InputError) as error:
            train_twin(prepared, tmp_path, f"--max-update 1 {options}")
        assert said in str(error.value)


class TestEncodingText:
    """``fairseq-xl encode`` with a twin."""

    def test_a_packed_twin_needs_no_data(self, checkpoint, prepared, tmp_path):
        """Its folder has no text to pair, and gives the vectors of the task."""
        pack(checkpoint, tmp_path / "twin")
        assert not [*(tmp_path / "twin").glob("*.tsv")]
        texts = ["the film was good", "", "మంచి సినిమా", "day " * 999]
        encoder = SentenceEncoder.load(tmp_path / "twin", "cpu")
        found = encoder.encode(texts, normalize=True)
        assert found.shape == (4, encoder.dim) == (4, 16)
        assert not found[1].any()
        folder, units = Prepared(prepared), encoder.task.longest
        for row, text in zip(found[[0, 2, 3]], [texts[0], *texts[2:]], strict=True):
            tokens = folder.encode(text)[None, :units]
            expected = encoder.model.encode_sentences(tokens, torch.tensor([tokens.shape[1]]))[0]
            np.testing.assert_allclose(row, (expected / expected.norm()).detach(), atol=1e-6)

    def test_a_twin_cannot_be_onnx(self, checkpoint, tmp_path):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("onnx")
        with pytest.raises(InputError, match="a model of this kind cannot be written as ONNX"):
            export(SentenceEncoder.load(checkpoint, "cpu"), tmp_path / "x.onnx")
        assert not [*tmp_path.iterdir()]

    def test_several_orders_of_ngrams(self, labelled, train_twin, tmp_path):
        """They stand together, so that a sentence's number of tokens is a multiple of their number."""
        source = [Source.parse(str(labelled / "te.tsv"))]
        prepare(tmp_path / "data", source, [], Settings(("te",), orders=(3, 2)))
        train_twin(tmp_path / "data", tmp_path / "run", "--max-update 1 --disable-validation --pooling max")
        encoder = SentenceEncoder.load(tmp_path / "run" / "checkpoint_last.pt", "cpu")
        assert encoder.encode(["మంచి సినిమా", "రోజు"]).shape == (2, 16)


@pytest.mark.slow
def test_two_processes_do_as_one_with_batches_twice_as_many(prepared, assert_two_processes_do_as_one, tmp_path):
    assert_two_processes_do_as_one(
        f"{prepared} --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive --optimizer adam "
        "--lr 0.005 --batch-size 8 --required-batch-size-multiple 1 --num-workers 0 --max-epoch 2 --seed 1",
        tmp_path,
    )
