"""``fairseq-train`` with the losses beside the papers' and one of your own: they learn, and annealing resumes."""

import json
import random
from argparse import Namespace

import in_process
import parallel_text
import pytest
import torch
from fairseq import checkpoint_utils, utils

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

pytestmark = pytest.mark.slow

ANNEALED = "--criterion annealed --start-loss cosine --end-loss syn_margin_proj --end-options margin=0.3 "


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Sentences to be translated word by word, and random vectors for the words."""
    folder, draw = tmp_path_factory.mktemp("words"), random.Random(0)
    lines = [[draw.randrange(8) for _ in range(draw.randint(2, 4))] for _ in range(220)]
    pairs = [tuple(" ".join(f"{prefix}{i}" for i in line) for prefix in "wx") for line in lines]
    parallel_text.prepare(folder, train=pairs[:200], valid=pairs[200:])
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(8, 16, generator=generator).tolist()
    vectors = "".join(f"x{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows))
    (folder / "en.vec").write_text(f"8 16\n{vectors}")
    return folder


@pytest.fixture
def train(data, caplog, tmp_path, monkeypatch):
    """``train("--criterion …")`` returns what was logged: per kind, a dictionary per line."""
    monkeypatch.chdir(tmp_path)  # fairseq makes the folder checkpoints even with --no-save

    def run(line):
        fixed = (
            f"{data}/bin --task translation --arch continuous_lstm_tiny --target-vectors {data}/en.vec "
            "--optimizer adam --lr 0.01 --max-tokens 100 --required-batch-size-multiple 1 --seed 1 "
            "--log-format json --log-interval 1 --num-workers 0 --cpu "
        )
        caplog.clear()
        with caplog.at_level("INFO"):
            in_process.run("train", fixed + line)
        logged = {"train_inner": [], "valid": []}
        for record in caplog.records:
            if record.name in logged and record.getMessage().startswith("{"):
                logged[record.name].append(json.loads(record.getMessage()))
        return logged

    return run


@pytest.mark.parametrize(
    ("loss", "epochs", "accuracy"),
    [
        # a plain likelihood learns slowly, as von Mises-Fisher's does; how fast hangs on how a processor rounds
        ("--criterion power_spherical", 40, 60),
        ("--criterion in_batch_negative", 20, 95),
        ("--criterion info_nce", 20, 95),
        (ANNEALED + "--anneal-from 20 --anneal-to 100", 20, 95),
    ],
)
def test_a_loss_learns(train, loss, epochs, accuracy):
    valid = train(f"{loss} --max-epoch {epochs} --no-save")["valid"]
    assert float(valid[-1]["valid_accuracy"]) >= accuracy
    assert float(valid[-1]["valid_loss"]) < float(valid[0]["valid_loss"])
    assert {"valid_cosine", "valid_kappa"} <= set(valid[-1])


OWN = """
from dataclasses import dataclass, field

import torch.nn.functional as F

import fairseq_xl
from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.losses import TargetLoss


class AngleLoss(TargetLoss):
    def __init__(self, power=2.0, **settings):
        super().__init__(**settings)
        self.power = power

    def per_row(self, pred, target):
        cosine = (F.normalize(pred, dim=-1) * target).sum(-1)
        return cosine.clamp(-0.999999, 0.999999).acos() ** self.power


@dataclass
class AngleConfig(ContinuousCriterionConfig):
    power: float = field(default=2.0, metadata={"help": "larger: far targets count for more"})


@register("angle_of_mine", AngleConfig)
class Angle(ContinuousCriterion):
    def __init__(self, task, sentence_avg: bool, power: float):
        super().__init__(task, sentence_avg, AngleLoss(power))
"""


def test_a_loss_of_your_own_is_one_file(train, tmp_path):
    """Written anywhere, given as ``--user-dir``; it can be annealed to, too."""
    folder = tmp_path / "losses_of_mine"
    folder.mkdir()
    (folder / "__init__.py").write_text(OWN)
    utils.import_user_module(Namespace(user_dir=str(folder)))
    valid = train("--criterion angle_of_mine --power 1.5 --max-epoch 6 --no-save")["valid"]
    assert float(valid[-1]["valid_loss"]) < float(valid[0]["valid_loss"])
    assert float(valid[-1]["valid_accuracy"]) >= 30
    assert {"valid_cosine", "valid_kappa"} <= set(valid[-1])
    mixed = "--criterion annealed --start-loss cosine --end-loss angle_of_mine --end-options power=1 --anneal-to 4"
    assert train(f"{mixed} --max-update 6 --no-save")["train_inner"]


def test_a_resumed_annealing_goes_on_with_the_weight_it_had(train, tmp_path):
    line = ANNEALED + "--anneal-from 4 --anneal-to 24 --no-epoch-checkpoints "
    whole, first, second = (
        train(f"{line} --max-update {updates} --save-dir {tmp_path / folder}")["train_inner"]
        for folder, updates in (("whole", 16), ("parts", 9), ("parts", 16))
    )
    assert [int(step["num_updates"]) for step in first + second] == list(range(1, 17))
    for step, again in zip(whole, first + second, strict=True):
        # the n-th update is made after n − 1
        weight = max(0, (int(step["num_updates"]) - 1 - 4) / 20)
        assert float(step["end_weight"]) == pytest.approx(weight, abs=1e-4)
        assert again["end_weight"] == step["end_weight"]
    models = [checkpoints.read(tmp_path / folder / "checkpoint_last.pt")["model"] for folder in ("whole", "parts")]
    for name, tensor in models[0].items():
        assert torch.equal(tensor, models[1][name]), name

    # what fairseq-validate would weigh by
    last = str(tmp_path / "parts" / "checkpoint_last.pt")
    (model,), _ = checkpoint_utils.load_model_ensemble([last])
    assert model.decoder.targets.num_updates == 16


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("--anneal-to 0", "--anneal-from 0 --anneal-to 0"),
        ("--anneal-to 9 --start-options 'margin=1 x=2'", "the options of cosine are none"),
        ("--anneal-to 9 --start-loss hinge", "--start-loss is 'hinge'"),
    ],
)
def test_mistakes_are_told_before_training(train, mistake, message):
    with pytest.raises(InputError, match=message):
        train(f"{ANNEALED} {mistake} --no-save")
