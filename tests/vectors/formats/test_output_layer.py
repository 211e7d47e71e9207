"""A softmax's output layer as word vectors."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import torch

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats.output_layer import read_output_layer
from fairseq_xl.vectors.table import read_vectors

ENTRIES = ["<s>", "<pad>", "</s>", "<unk>", "cat", "the", "madeupword0000"]


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    path = tmp_path / "dict.en.txt"
    path.write_text("cat 6\nthe 3\nmadeupword0000 0\n")
    return path


def checkpoint(folder: Path, **layers: torch.Tensor) -> Path:
    """A file like fairseq's, with weights of the decoder alone."""
    model = {f"decoder.{name.replace('__', '.')}": layer for name, layer in layers.items()}
    torch.save({"model": model, "args": argparse.Namespace(arch="lstm")}, folder / "checkpoint.pt")
    return folder / "checkpoint.pt"


def layer(rows: int = len(ENTRIES), start: float = 1.0) -> torch.Tensor:
    return start + torch.arange(rows * 3.0).view(rows, 3)


@pytest.mark.parametrize(
    "others",
    [
        {"softmax_weight": layer(), "embed_tokens__weight": layer(start=100), "output_projection__weight": layer(3)},
        {"output_projection__weight": layer(), "embed_tokens__weight": layer(start=100)},
        {"fc_out__weight": layer(), "embed_tokens__weight": layer(start=100)},
        {"fc3__weight": layer(), "embed_tokens__weight": layer(start=100)},
        {"embed_tokens__weight": layer(), "additional_fc__weight": layer(3)},
    ],
    ids=["ours", "Transformer", "LSTM", "convolutions", "shared"],
)
def test_the_rows_of_the_words_are_found_in_every_kind_of_model(tmp_path: Path, dictionary: Path, others) -> None:
    found = read_output_layer(checkpoint(tmp_path, **others), dictionary, ["the", "dog", "</s>", "cat", "the"])
    assert found.words == ["the", "</s>", "cat"]
    assert torch.equal(torch.from_numpy(found.matrix), layer()[[5, 2, 4]])


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ({"targets__table": layer(), "embed_tokens__weight": layer()}, "has no output layer of its own"),
        ({"embed_tokens__weight": layer(9)}, "layer for the 7 entries of .*dict.en.txt .its layers have 9."),
        ({"adaptive_softmax__head__weight": layer(), "embed_tokens__weight": layer()}, "no output layer for the 7"),
        ({"softmax_weight": layer() * torch.nan}, "row 4 of the output layer: the vector of 'cat' holds NaN"),
    ],
)
def test_what_has_no_such_layer_gets_a_sentence(tmp_path: Path, dictionary: Path, layers, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        read_output_layer(checkpoint(tmp_path, **layers), dictionary, ["cat"])


def test_a_file_that_is_no_checkpoint_gets_a_sentence(tmp_path: Path, dictionary: Path) -> None:
    (tmp_path / "checkpoint.pt").write_text("cat 1 2 3\n")
    with pytest.raises(InputError, match="is torn or is no checkpoint"):
        read_output_layer(tmp_path / "checkpoint.pt", dictionary, ["cat"])


def test_convert_writes_them_with_the_specials(tmp_path: Path, dictionary: Path) -> None:
    source, target = checkpoint(tmp_path, fc_out__weight=layer()), tmp_path / "out.vec"
    arguments = ["vectors", "convert", str(source), "--output", str(target), "--quiet", "--dict", str(dictionary)]
    assert main([*arguments, "--specials", "--normalize"]) == 0
    found = read_vectors(target, progress=False)
    assert found.words == ["cat", "the", "</s>", "<unk>"]
    expected = torch.nn.functional.normalize(layer()[[4, 5, 2, 3]], dim=1)
    torch.testing.assert_close(torch.from_numpy(found.matrix), expected)


def test_convert_says_what_it_needs(tmp_path: Path, dictionary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = checkpoint(tmp_path, fc_out__weight=layer()), tmp_path / "out.vec"
    for options, sentence in (
        ([], "need its target dictionary: give --dict"),
        (["--dict", str(dictionary), "--dim", "4"], "of dimension 3, but dimension 4 is needed"),
    ):
        assert main(["vectors", "convert", str(source), "--output", str(target), *options]) == 2
        assert sentence in capsys.readouterr().err
        assert not target.exists()
