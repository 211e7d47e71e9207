"""A small language to translate, and a model of eole that learns it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import random_vectors
import yaml

WORDS = {f"s{number}": f"t{number}" for number in range(12)}
DIM = 16


def write_text(folder: Path, name: str, count: int, seed: int) -> None:
    """Sentences of two to four words, and their translations, word by word."""
    draw = random.Random(seed)
    lines = [draw.choices(list(WORDS), k=draw.randint(2, 4)) for _ in range(count)]
    (folder / f"{name}.src").write_text("".join(" ".join(line) + "\n" for line in lines))
    (folder / f"{name}.tgt").write_text("".join(" ".join(WORDS[w] for w in line) + "\n" for line in lines))


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train, valid and test text, vocabularies as fairseq-preprocess writes them, vectors."""
    folder = tmp_path_factory.mktemp("toy")
    for seed, (name, count) in enumerate({"train": 400, "valid": 40, "test": 40}.items()):
        write_text(folder, name, count, seed)
    for side, words in (("src", WORDS), ("tgt", WORDS.values())):
        lines = [f"{word} {100 - row}\n" for row, word in enumerate(words)]
        (folder / f"dict.{side}.txt").write_text("".join(lines) + "madeupword0000 0\n")
    random_vectors.write(folder / "target.vec", WORDS.values(), DIM)
    return folder


@pytest.fixture(scope="session")
def configuration(toy: Path):
    """``configuration(FOLDER, steps=20, **continuous)`` is eole's configuration of an LSTM, as a mapping."""

    def make(folder: Path, steps: int = 20, **continuous: Any) -> dict[str, Any]:
        return {
            "seed": 1,
            "report_every": 50,
            "data": {
                name: {"path_src": f"{toy}/{text}.src", "path_tgt": f"{toy}/{text}.tgt"}
                for name, text in (("corpus_1", "train"), ("valid", "valid"))
            },
            "src_vocab": f"{toy}/dict.src.txt",
            "tgt_vocab": f"{toy}/dict.tgt.txt",
            "src_words_min_frequency": 1,
            "tgt_words_min_frequency": 1,
            "model": {
                "architecture": "custom",
                "input_feed": 0,
                "hidden_size": 32,
                "layers": 1,
                "embeddings": {"src_word_vec_size": 16, "tgt_word_vec_size": DIM, "position_encoding_type": None},
                "encoder": {"encoder_type": "brnn"},
                "decoder": {"decoder_type": "rnn"},
            },
            "training": {
                "model_path": str(folder / "model"),
                "batch_size": 32,
                "batch_type": "sents",
                "normalization": "tokens",
                "bucket_size": 400,
                "num_workers": 0,
                "train_steps": steps,
                "valid_steps": steps,
                "save_checkpoint_steps": steps,
                "optim": "adam",
                "learning_rate": 0.01,
                "dropout": [0.0],
                "attention_dropout": [0.0],
                "max_grad_norm": 1,
                "use_amp": False,
            },
            "continuous": {"target_vectors": f"{toy}/target.vec", **continuous},
        }

    return make


@pytest.fixture(scope="session")
def write_config(configuration):
    """``write_config(FOLDER, …)`` writes :func:`configuration` to a file in it, whose path it returns."""

    def write(folder: Path, change=lambda config: None, **options: Any) -> Path:
        config = configuration(folder, **options)
        change(config)
        path = folder / "config.yaml"
        path.write_text(yaml.safe_dump(config))
        return path

    return write


@pytest.fixture(scope="session")
def trained(write_config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that has learnt the language."""
    from fairseq_xl.eole.training import train

    folder = tmp_path_factory.mktemp("trained")
    train(write_config(folder, steps=400))
    return folder / "model"


@pytest.fixture(scope="session")
def accuracy():
    """``accuracy(OUTPUT, REFERENCE)``: the share of words of the reference that stand in their places."""

    def measure(output: Path, reference: Path) -> float:
        found, wanted = output.read_text().splitlines(), reference.read_text().splitlines()
        assert len(found) == len(wanted)
        total = sum(len(line.split()) for line in wanted)
        pairs = zip(found, wanted, strict=True)
        return sum(a == b for line, other in pairs for a, b in zip(line.split(), other.split(), strict=False)) / total

    return measure
