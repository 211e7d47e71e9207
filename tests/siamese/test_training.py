"""``fairseq-train`` with Siamese encoders: resuming, validation, and text for trained ones."""

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
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.data.prepare import prepare
from fairseq_xl.siamese.data.settings import Settings


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
    def test_new_text_by_the_command(self, checkpoint, tmp_path, capsys):
        text, out = tmp_path / "text", tmp_path / "out"
        text.write_text("మంచి\n\x00\n", encoding="utf-8")
        words = ["classify", "predict", str(checkpoint), str(text), "--device", "cpu"]
        assert main([*words, "-o", str(out)]) == 2
        assert f"{text}, line 2 is empty" in capsys.readouterr().err
        assert not out.exists()

    def test_a_missing_text_is_told_before_references_are_kept(self, checkpoint, tmp_path, capsys):
        there = {path: path.stat().st_mtime_ns for path in checkpoint.parent.glob("*.npz")}
        words = ["classify", "predict", str(checkpoint), str(tmp_path / "nowhere"), "--device", "cpu", "--draws", "3"]
        assert main(words) == 2
        assert f"there is no file {tmp_path}/nowhere: check the name" in capsys.readouterr().err
        assert {path: path.stat().st_mtime_ns for path in checkpoint.parent.glob("*.npz")} == there

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
            ("--rule mean --match-threshold 0.3", "--match-threshold is for --rule matches, not for mean"),
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
def test_two_processes_do_as_one_with_batches_twice_as_many(data_directory, assert_processes_do_as_one, tmp_path):
    said = assert_processes_do_as_one(
        f"{data_directory} --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive --optimizer adam "
        "--lr 0.005 --batch-size 8 --required-batch-size-multiple 1 --num-workers 0 --max-epoch 2 --seed 1",
        tmp_path,
    )
    assert "macro_f1" in said
