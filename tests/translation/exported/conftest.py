"""Tiny Transformers of the toy language, trained, packed and exported."""

from __future__ import annotations

from pathlib import Path

import in_process
import pytest

from fairseq_xl.cli import main as cli

pytest.importorskip("ctranslate2")

TINY = (
    "--arch continuous_transformer_tiny --target-vectors {} --optimizer adam --lr 0.005 --max-tokens 200 "
    "--num-workers 0 --seed 1 --cpu --required-batch-size-multiple 1 --disable-validation --no-epoch-checkpoints "
    "--no-progress-bar --max-epoch 12"
)
TRANSFORMERS = {
    # every difference between the two has its own place in CTranslate2's specification
    "vectors": "--criterion info_nce --decode-score vmf_posterior --decode-csls-weight 0 --output-scale 3 "
    "--encoder-normalize-before --decoder-normalize-before --layernorm-embedding --activation-fn gelu",
    "words": "--criterion cross_entropy --decoder-output softmax --decoder-layers 1 --decoder-attention-heads 4 "
    "--encoder-learned-pos --no-scale-embedding --max-source-positions 60",
}


@pytest.fixture(scope="session")
def transformers(work) -> Path:
    """NAME/checkpoint_last.pt of each of TRANSFORMERS."""
    vectors = next(path for name in ("en.vec", "moved.vec") if (path := work / name).is_file())
    for name, line in TRANSFORMERS.items():
        line = f"{TINY.format(vectors)} {line}"
        in_process.run("train", f"{work}/bin {line} --save-dir {work}/{name}")
    return work


@pytest.fixture(scope="session")
def folders(transformers, pack_model) -> Path:
    """Their model folders, by name."""
    for name in TRANSFORMERS:
        pack_model(transformers / "model" / name, name)
    return transformers / "model"


@pytest.fixture
def export(folders, capsys):
    """``export("vectors", FOLDER, "--beam", 1)`` runs the command; gives status, output and messages."""

    def run(name: str | Path, output: Path, *arguments: object) -> tuple[int, str, str]:
        words = ["translate", "export", folders / name, "--output", output, *arguments]
        capsys.readouterr()
        status = cli.main([str(word) for word in words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture(scope="session")
def exported(folders, work) -> Path:
    """Their exports, by name, compared by the test set."""
    for name in TRANSFORMERS:
        words = ["translate", "export", folders / name, "--output", work / "export" / name]
        assert cli.main([str(word) for word in [*words, "--sentences", work / "test.de"]]) == 0
    return work / "export"
