"""``fairseq-train`` with twins: pairs, resuming, validation, and what trained ones predict."""

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
from fairseq_xl.io.labelled import Source
from fairseq_xl.siamese.data.dataset import EpochPairs, Sentences
from fairseq_xl.siamese.data.folder import Prepared
from fairseq_xl.siamese.data.prepare import Settings, prepare
from fairseq_xl.siamese.models.task import pair_kinds
from fairseq_xl.siamese.prediction.classifier import Classifier, Rule
from fairseq_xl.siamese.prediction.unlabelled import Labelled, label_pairs


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--explain", "-1"), "--explain takes a number from 0, not -1"),
        (("--part", "test"), "name its file with --output"),
        (("--part", "test", "-o", "x", "--curve", "L", "many"), "a name and a number from 1, not 'many'"),
        (("-o", "."), "cannot write .: it is a folder"),
        (("-o", "/dev/null/x"), "/dev/null is a file"),
        (("--reference-seed", "-1"), "--reference-seed takes a number from 0"),
        (("--references", "0"), "--references takes a number from 1"),
        (("--threshold", "nan"), "--threshold is a cosine from -1 to 1, not nan"),
    ],
)
def test_mistakes_in_prediction_are_said_before_the_work(options, said, capsys):
    assert main(["classify", "predict", "nowhere.pt", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
class TestTrained:
    @pytest.mark.parametrize("rule", ["matches", "mean", "knn", "centroid"])
    def test_it_classifies_the_test_set(self, checkpoint, rule):
        from fairseq_xl.cli.classify.predict import part_record

        classifier = Classifier.load(checkpoint, None, Rule(rule, references=20), cpu=True)
        record = part_record(classifier, "test", "twin")
        assert record["macro_f1"] > 0.9
        assert len(record["macro_f1_of_each_draw"]) == 5
        assert record["rule"]["side"] == "rich"
        assert record["training_sentences"] == {"poor": 48, "rich": 200}

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

    def test_references_decide_as_in_validation_unless_said_otherwise(self, checkpoint, capsys):
        classifier = Classifier.load(checkpoint, None, Rule(), cpu=True)
        assert (classifier.rule.name, classifier.rule.threshold, classifier.rule.references) == ("matches", 0.5, 20)
        assert capsys.readouterr().err == ""
        cfg = classifier.task.cfg
        cfg.rule, cfg.match_threshold, cfg.references = "centroid", 0.3, 50
        trained = Classifier(classifier.model, classifier.task, Rule(side="poor"))
        assert (trained.rule.name, trained.rule.threshold, trained.rule.references) == ("centroid", 0.3, 50)
        assert "fewer than 50 references of neg 24, pos 24: all are taken\n" in capsys.readouterr().err
        chosen = Classifier(classifier.model, classifier.task, Rule("knn", 0.1, references=7)).rule
        assert (chosen.name, chosen.threshold, chosen.references) == ("knn", 0.1, 7)

    def test_another_folder_than_that_of_the_training_is_refused(self, checkpoint, prepared, tmp_path):
        for file in prepared.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        assert Classifier.load(checkpoint, tmp_path, Rule(), cpu=True).classes == ["neg", "pos"]
        lines = (tmp_path / "dict.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "dict.txt").write_text("".join(reversed(lines)), encoding="utf-8")
        with pytest.raises(InputError, match="has other n-grams or classes than the folder that the checkpoint was"):
            Classifier.load(checkpoint, tmp_path, Rule(), cpu=True)

    def test_new_text_by_the_command(self, checkpoint, tmp_path, capsys):
        text, out = tmp_path / "text", tmp_path / "out"
        text.write_text("మంచి\n\x00\n", encoding="utf-8")
        words = ["classify", "predict", str(checkpoint), str(text), "--cpu"]
        assert main([*words, "-o", str(out)]) == 2
        assert f"{text}, line 2 is empty" in capsys.readouterr().err
        assert not out.exists()

    def test_pairs_are_labelled_by_the_command(self, checkpoint, tmp_path, capsys):
        rich, poor, *out = (tmp_path / name for name in ("rich", "poor", "rich.tsv", "poor.tsv"))
        rich.write_text("మంచి సినిమా\nζζζ\n\x00\n", encoding="utf-8")
        poor.write_text("a\nb\nc\n")
        words = ["classify", "label", str(checkpoint), str(rich), str(poor), "--cpu", "-o", *map(str, out)]
        assert main(words) == 0
        assert out[1].read_text() == "pos\ta\n"
        said = "1 pairs labelled (pos 1), 0 left out as unsure, 1 as guesses, for they have no n-gram"
        assert said in (err := capsys.readouterr().err)
        assert err.endswith("that the training text has, 1 as empty\n")
        assert main([*words, "--least", "0.6", "--rule", "centroid"]) == 2
        assert "--least has no use with the rule centroid" in capsys.readouterr().err
        assert main([*words[:-1], str(out[0])]) == 2
        assert "rich.tsv twice" in capsys.readouterr().err

    def test_references_are_encoded_once(self, checkpoint, monkeypatch):
        rule = Rule(references=10, seed=5)
        first = Classifier.load(checkpoint, None, rule, cpu=True)
        (kept,) = checkpoint.parent.glob("checkpoint_last.references.*.npz")
        monkeypatch.setattr(type(first.task), "encode", lambda *_: pytest.fail("encoded again"))
        again = Classifier.load(checkpoint, None, rule, cpu=True)
        torch.testing.assert_close(first.vectors, again.vectors)
        monkeypatch.undo()
        kept.write_bytes(kept.read_bytes()[:-100])
        torch.testing.assert_close(first.vectors, Classifier.load(checkpoint, None, rule, cpu=True).vectors)
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

    @pytest.mark.parametrize("arch", registered.models("classify", presets=False))
    def test_every_architecture_resumes_validates_and_is_averaged(
        self, arch, prepared, assert_every_command_works, tmp_path
    ):
        assert_every_command_works(
            f"{prepared} --task siamese_contrastive --criterion contrastive --arch {arch} --embed-dim 8 "
            "--hidden-dim 8 --dropout 0.1 --references 10 --optimizer adam --lr 0.01 --batch-size 32",
            tmp_path,
        )

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
    """``fairseq-xl embed text`` with a twin."""

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
    said = assert_two_processes_do_as_one(
        f"{prepared} --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive --optimizer adam "
        "--lr 0.005 --batch-size 8 --required-batch-size-multiple 1 --num-workers 0 --max-epoch 2 --seed 1",
        tmp_path,
    )
    assert "macro_f1" in said
