"""Training data's sentences as pieces, and what begins from vectors of them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from fairseq_xl import SentenceEncoder
from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.source_pieces import source_pieces
from fairseq_xl.syntactic.models.config import UposTranslationConfig
from fairseq_xl.syntactic.models.task import UposTranslationTask


def test_each_source_sentence_once(upos_run):
    data, _ = upos_run
    lines = list(source_pieces(data))
    task = UposTranslationTask.setup_task(UposTranslationConfig(data=str(data)))
    task.load_dataset("train")
    wanted = {
        (task.pairs[pair.number].source, " ".join(task.source_dictionary[n] for n in sentence[:-1].tolist()))
        for pair in task.datasets["train"].pairs
        for sentence in pair.source
    }
    assert sorted(lines) == sorted(text for _, text in wanted)
    assert len(wanted) < sum(len(pair.source) for pair in task.datasets["train"].pairs)  # English has two targets


def test_a_missing_file(upos_run, tmp_path):
    folder = shutil.copytree(upos_run[0], tmp_path / "data")
    (folder / "train.en-de.source.idx").unlink()
    with pytest.raises(InputError, match=r"train\.en-de\.source\.idx: prepare the data again"):
        list(source_pieces(folder))
    (folder / "dict.source.txt").write_bytes(b"\xff\n")
    with pytest.raises(InputError, match=r"dict\.source\.txt"):
        list(source_pieces(folder))


def test_a_damaged_file_is_explained_by_the_command(upos_run, forked_cli, tmp_path):
    folder = shutil.copytree(upos_run[0], tmp_path / "data")
    path = folder / "train.en-de.source.bin"
    path.write_bytes(path.read_bytes()[:7])
    # In a fork: other tests have registered the plugin, which explains damaged data.
    done = forked_cli("embed", "source-pieces", folder, "-o", tmp_path / "x.txt")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "train.en-de.source.bin" in done.stderr
    assert not (tmp_path / "x.txt").exists()


def test_from_pieces_to_an_encoder_that_needs_them_no_more(upos_run, fairseq_train, upos_training, tmp_path):
    data, _ = upos_run
    text, vectors = tmp_path / "pieces.txt", tmp_path / "pieces"
    assert main(["embed", "source-pieces", str(data), "-o", str(text)]) == 0
    trained = ["--dim", "16", "--epoch", "1", "--min-count", "1", "--buckets", "1000", "--threads", "1", "--quiet"]
    assert main(["vectors", "train", str(text), "-o", str(vectors), *trained]) == 0
    saved = tmp_path / "saved"
    fairseq_train(f"{data} {upos_training} --max-epoch 1 --save-dir {saved} --encoder-embed-path {vectors}.bin")
    for path in tmp_path.glob("pieces.*"):
        path.unlink()
    checkpoint = saved / "checkpoint_last.pt"
    encoder = SentenceEncoder.load(checkpoint)
    assert np.isfinite(encoder.encode(["a b"])).all()
    folder = tmp_path / "packed"
    assert main(["embed", "pack", str(checkpoint), "-o", str(folder)]) == 0
    np.testing.assert_allclose(SentenceEncoder.load(folder).encode(["a b"]), encoder.encode(["a b"]), atol=1e-6)
    assert main(["embed", "random", str(checkpoint), "-o", str(tmp_path / "random")]) == 0
