"""A made-up low- and high-resource language with labelled sentences, prepared and trained on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

# Words of two scripts that tell the class, and words that do not.
TELLING = {"en": {"neg": ("bad", "awful"), "pos": ("good", "great")}, "te": {"neg": ("చెడు",), "pos": ("మంచి",)}}
OTHERS = {"en": ("film", "was", "the", "day"), "te": ("సినిమా", "రోజు", "ఇది")}


def sentences(language: str, count: int, seed: int) -> list[tuple[str, str]]:
    """Class and sentence, alternating; all different."""
    draw, found = random.Random(f"{language}{seed}"), {}
    while len(found) < count:
        label = ("neg", "pos")[len(found) % 2]
        words = [*draw.choices(OTHERS[language], k=draw.randint(3, 6)), draw.choice(TELLING[language][label])]
        draw.shuffle(words)
        found.setdefault(" ".join(words), label)
    return [(label, text) for text, label in found.items()]


@pytest.fixture(scope="session")
def labelled(tmp_path_factory) -> Path:
    """A folder with te.tsv (80 sentences) and en.tsv (200)."""
    folder = tmp_path_factory.mktemp("labelled")
    for language, count in (("te", 80), ("en", 200)):
        lines = [f"{label}\t{text}\n" for label, text in sentences(language, count, 1)]
        (folder / f"{language}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def data_directory(labelled, tmp_path_factory) -> Path:
    """Of both languages."""
    from fairseq_xl.siamese.data.prepare import prepare
    from fairseq_xl.siamese.data.settings import Settings

    folder = tmp_path_factory.mktemp("data")
    low, high = ([str(labelled / f"{language}.tsv")] for language in ("te", "en"))
    settings = Settings(low_resource=low, high_resource=high, languages=["te", "en"], valid_share=0.2, test_share=0.2)
    prepare(folder, settings)
    return folder


@pytest.fixture(scope="session")
def train_siamese():
    """``train_siamese(DATA, DIR, "--max-update 3")`` runs fairseq-train in this process."""
    import in_process

    def run(data: Path, folder: Path, line: str) -> None:
        fixed = (
            f"{data} --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive "
            f"--optimizer adam --lr 0.01 --batch-size 16 --required-batch-size-multiple 1 --log-format json "
            f"--log-interval 1 --cpu --num-workers 0 --no-epoch-checkpoints --best-checkpoint-metric macro_f1 "
            f"--maximize-best-checkpoint-metric --save-dir {folder} "
        )
        in_process.run("train", fixed + line)

    return run


@pytest.fixture(scope="session")
def checkpoint(data_directory, train_siamese, tmp_path_factory) -> Path:
    """A Siamese encoder that has learnt the two languages."""
    folder = tmp_path_factory.mktemp("siamese")
    train_siamese(
        data_directory,
        folder,
        "--max-epoch 12 --pooling max --all-pairs --class-head --class-weight 1 --margin 0 "
        "--seed 1 --pairs low-high+low-low --references 20 --disable-validation --save-interval 12",
    )
    return folder / "checkpoint_last.pt"
