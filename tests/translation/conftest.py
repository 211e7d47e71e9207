"""Three tiny models of a toy language, trained and packed, and one that is not trained."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import in_process
import numpy as np
import parallel_text
import pytest
import random_vectors
import torch
from fairseq.data import LanguagePairDataset, ListDataset
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from tiny_models import wandering
from tiny_words import dictionary, write_vectors

from fairseq_xl import Translator
from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.text import moses
from fairseq_xl.translation.options import decoding
from fairseq_xl.translation.packing import Packing, pack
from fairseq_xl.vectors.dictionary import read_dictionary

WORDS = [("Hund", "dog"), ("Mann", "man"), ("Kind", "child"), ("Ball", "ball"), ("Vogel", "bird")]
DEEDS = [("sieht", "sees"), ("malt", "paints"), ("hört", "hears")]
COMMON = (
    "--optimizer adam --lr 0.02 --max-tokens 120 --num-workers 0 --seed 1 --cpu "
    "--required-batch-size-multiple 1 --disable-validation --no-epoch-checkpoints --no-progress-bar"
)
TINY = "--arch continuous_lstm_tiny --max-epoch 9 --target-vectors {}"
MODELS = {
    "continuous": f"{TINY} --criterion syn_margin_proj --decode-score vmf_posterior",
    "softmax": f"{TINY} --criterion cross_entropy --decoder-output softmax",
    "stock": "--arch lstm --max-epoch 14 --criterion cross_entropy --encoder-embed-dim 16 --encoder-hidden-size 16 "
    "--encoder-bidirectional --decoder-embed-dim 16 --decoder-hidden-size 16 --decoder-out-embed-dim 16",
}


def pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Raw sentences of five or ten words, with capitals and punctuation."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        parts = []
        for _ in range(draw.integers(1, 3)):
            (one, a), (two, b) = (WORDS[i] for i in draw.integers(0, len(WORDS), 2))
            does, deed = DEEDS[draw.integers(0, len(DEEDS))]
            parts.append((f"ein {one} {does} den {two}", f"a {a} {deed} the {b}"))
        source, target = (", ".join(part[side] for part in parts) for side in (0, 1))
        found.append((source[0].upper() + source[1:] + ".", target[0].upper() + target[1:] + "."))
    return found


@pytest.fixture(scope="session")
def work(tmp_path_factory) -> Path:
    """Raw and prepared text, a data directory, and MODEL/checkpoint_last.pt of each of MODELS."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("work")
    parallel_text.write(folder, train=pairs(250, 0), test=pairs(23, 1))
    for language in ("de", "en"):
        tokens, truecaser = folder / f"tok.train.{language}", folder / f"truecaser.{language}"
        for name in ("train", "test"):
            moses.map_file(
                moses.tokenize,
                folder / f"{name}.{language}",
                folder / f"tok.{name}.{language}",
                language=language,
            )
        moses.train_truecaser([tokens], truecaser)
        for name in ("train", "test"):
            moses.map_file(
                moses.truecase,
                folder / f"tok.{name}.{language}",
                folder / f"true.{name}.{language}",
                model=str(truecaser),
            )
    files = f"--trainpref {folder}/true.train --testpref {folder}/true.test"
    in_process.preprocess(f"-s de -t en {files} --destdir {folder}/bin --workers 1")
    vectors = random_vectors.write(folder / "en.vec", read_dictionary(folder / "bin/dict.en.txt"), 12)
    for name, line in MODELS.items():
        line = f"{line.format(vectors)} {COMMON}"
        in_process.run("train", f"{folder}/bin {line} --save-dir {folder}/{name}")
    return folder


@pytest.fixture(scope="session")
def packed(work) -> Path:
    """Model folders by the names of MODELS, and ``both``, an ensemble; what made them has moved away."""
    elsewhere = work / "packed"
    for name in MODELS:
        _pack(work, elsewhere / name, name)
    _pack(work, elsewhere / "both", "continuous", "stock")
    (work / "en.vec").rename(work / "moved.vec")
    return elsewhere


def _pack(work: Path, output: Path, *names: str, **settings) -> None:
    """Pack trained models under the names of MODELS; ``settings`` are those of :class:`Packing`, and ``options``."""
    options = decoding(settings.pop("options", {"beam": 5}))
    models = [work / name / "checkpoint_last.pt" for name in names]
    given = {"data": work / "bin", "truecaser": work / "truecaser.de", "source_lang": "de", "target_lang": "en"}
    pack(Packing(models=models, output=output, **{**given, **settings}), options)


@pytest.fixture(scope="session")
def pack_model(work):
    """``pack_model(FOLDER, "stock", …)`` packs trained models."""
    return partial(_pack, work)


@pytest.fixture(scope="session")
def raw(work) -> list[str]:
    return (work / "test.de").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="session")
def load(packed):
    """``load("stock", beam=3)``, on the CPU."""
    return lambda name, **given: Translator.load(packed / name, device="cpu", **given)


@pytest.fixture
def untrained(tmp_path):
    """A model whose predictions wander over the table, its task and a set of nine sentences."""
    source, target = dictionary(30), dictionary(40)
    task = TranslationTask(TranslationConfig(data="bin", source_lang="a", target_lang="b"), source, target)
    torch.manual_seed(1)
    table = write_vectors(tmp_path / "v.vec", 40, 8)
    cfg = TinyConfig(target_vectors=table, max_target_positions=16, decode_score="cosine", decode_csls_weight=0.0)
    model = wandering(ContinuousLSTM.build_model(cfg, task))
    draw = torch.Generator().manual_seed(4)
    lengths = [3, 5, 2, 7, 4, 6, 3, 2, 5]
    sides = [
        [torch.cat([torch.randint(4, top, (n,), generator=draw), torch.tensor([2])]) for n in lengths]
        for top in (34, 44)
    ]
    sides[1][0][0] = target.unk()
    sizes = [[len(line) for line in side] for side in sides]
    task.datasets["valid"] = LanguagePairDataset(
        ListDataset(sides[0], sizes[0]),
        sizes[0],
        source,
        ListDataset(sides[1], sizes[1]),
        sizes[1],
        target,
        shuffle=False,
    )
    task.load_dataset = lambda subset: task.datasets[subset]
    return model, task
