"""Made-up questions: what they ask about decides whether two mean the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

# Ways to say the same thing; the other words of a question mean nothing.
TOPICS = {
    "refund": ("reembolso", "devolución"),
    "card": ("tarjeta", "visa"),
    "parcel": ("paquete", "envío"),
    "seller": ("vendedor", "tienda"),
}
OTHERS = ("cómo", "puedo", "mi", "quiero", "cuándo", "el", "ver")


def question(draw: random.Random, topic: str) -> str:
    words = [*draw.choices(OTHERS, k=draw.randint(2, 4)), draw.choice(TOPICS[topic])]
    draw.shuffle(words)
    return "¿" + " ".join(words).capitalize() + "?"


def rows(count: int, seed: int) -> list[tuple[str, str, int]]:
    """Two questions and whether they are about one topic, which half of them are."""
    draw, found = random.Random(seed), []
    for place in range(count):
        topic = draw.choice(sorted(TOPICS))
        other = topic if place % 2 else draw.choice(sorted(set(TOPICS) - {topic}))
        found.append((question(draw, topic), question(draw, other), int(topic == other)))
    return found


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A folder with train.tsv (300 pairs), valid.tsv (60) and test.tsv (40, without labels)."""
    folder = tmp_path_factory.mktemp("pairs")
    for name, count, seed in (("train", 300, 1), ("valid", 60, 2), ("test", 40, 3)):
        lines = ["\t".join(map(str, row[: 2 if name == "test" else 3])) for row in rows(count, seed)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = sorted({*OTHERS, *(word for ways in TOPICS.values() for word in ways)})
    draw = random.Random(4)
    vectors = [" ".join([word, *(f"{draw.gauss(0, 1):.4f}" for _ in range(8))]) for word in words[1:]]
    (folder / "words.vec").write_text(f"{len(vectors)} 8\n" + "\n".join(vectors) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def prepared(files, tmp_path_factory) -> Path:
    """All three splits, with vectors of all words but one, in folds of single sentences."""
    from fairseq_xl.pairs.data.prepare import prepare
    from fairseq_xl.pairs.data.settings import Settings
    from fairseq_xl.pairs.data.source import PairSource

    folder = tmp_path_factory.mktemp("prepared") / "pairs"
    sources = [
        PairSource.parse(f"{files}/{split}.tsv,split={split}" + (",label=none" if split == "test" else ""))
        for split in ("train", "valid", "test")
    ]
    settings = Settings(vectors=files / "words.vec", folds=2, together="sentences", leaks="pairs")
    prepare(folder, sources, [], settings)
    return folder


@pytest.fixture(scope="session")
def train_classifier():
    """``train_classifier(DATA, DIR, "--arch esim --max-epoch 2")`` runs fairseq-train in this process."""
    import in_process

    def run(data: Path, folder: Path, line: str) -> None:
        fixed = (
            f"{data} --task pair_classification --criterion pair_classification --optimizer adam --lr 0.005 "
            "--batch-size 32 --required-batch-size-multiple 1 --log-format json --log-interval 1 --cpu "
            f"--num-workers 0 --no-epoch-checkpoints --best-checkpoint-metric log_loss --save-dir {folder} "
        )
        in_process.run("train", fixed + line)

    return run


@pytest.fixture(scope="session")
def checkpoint(prepared, train_classifier, tmp_path_factory) -> Path:
    """A siamese_conv that has learnt the topics."""
    folder = tmp_path_factory.mktemp("classifier")
    train_classifier(
        prepared,
        folder,
        "--arch siamese_conv --hidden-dim 16 --decide-dim 16 --difference absolute --max-epoch 12 --exchange "
        "--disable-validation --save-interval 12 --seed 1",
    )
    return folder / "checkpoint_last.pt"


@pytest.fixture
def valid(prepared):
    """The rows of the split for development."""
    from fairseq_xl.pairs.data.directory import DataDirectory

    return DataDirectory(prepared).rows("valid")


@pytest.fixture(scope="session")
def trained(prepared, train_classifier, tmp_path_factory):
    """A few updates of each architecture."""
    import registered

    folder = tmp_path_factory.mktemp("each")
    for name in registered.models("pairs"):
        train_classifier(prepared, folder / name, f"--arch {name} --hidden-dim 8 --max-update 3 --seed 5")
    return folder
