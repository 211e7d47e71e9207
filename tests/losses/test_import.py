"""The core by itself: imported without fairseq or any other dependency, and trained with in plain PyTorch."""

from __future__ import annotations

import inspect
import subprocess
import sys

import torch
import torch.nn.functional as F

import fairseq_xl.losses as xl

# Every installed package is blocked but torch and what torch itself needs.
ALONE = """
import importlib.machinery, re, sys, time
from importlib import metadata
import torch

known, wanted = {"fairseq-xl"}, ["torch", "numpy"]
while wanted:
    name = re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", wanted.pop()).group()).lower()
    if name not in known:
        known.add(name)
        try:
            wanted += [line for line in metadata.requires(name) or [] if "extra ==" not in line]
        except metadata.PackageNotFoundError:
            pass
blocked = {
    module
    for module, packages in metadata.packages_distributions().items()
    if not {re.sub("[-_.]+", "-", package).lower() for package in packages} & known
}
assert {"fairseq", "omegaconf", "hydra", "scipy", "tqdm"} <= blocked

find = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] in blocked else find(name, path, target)
)
before = set(sys.modules)
start = time.process_time()
import fairseq_xl.losses as xl
took = time.process_time() - start
new = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
assert new <= {"torch", "fairseq_xl"}, new
assert {name for name in sys.modules if name.startswith("fairseq_xl.") and ".losses" not in name} == set()
assert took < 0.5, took

targets = xl.FrozenTable(torch.eye(4))
pred = torch.ones(3, 4, requires_grad=True)
xl.VmfLoss()(pred, targets(torch.arange(3))).backward()
xl.InfoNCELoss()(pred, torch.arange(3), targets).backward()
assert xl.nearest(pred, targets)[1].shape == (3, 1)
print("done")
"""


def test_it_needs_torch_alone_and_is_there_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout == "done\n", done.stderr


def test_what_is_exported_is_there_and_nothing_else_is_public() -> None:
    public = {name for name, value in vars(xl).items() if not name.startswith("_") and callable(value)}
    assert public <= set(xl.__all__)
    assert all(hasattr(xl, name) for name in xl.__all__)


def test_every_loss_that_needs_a_table_and_targets_alone_has_a_name() -> None:
    exported = (getattr(xl, name) for name in xl.__all__)
    classes = {each for each in exported if inspect.isclass(each) and issubclass(each, xl.VectorLoss)}
    bases = {xl.VectorLoss, xl.TargetLoss, xl.ClosedFormLoss, xl.TableLoss, xl.TableMarginLoss}
    assert classes - bases - {xl.MarginLoss} == set(xl.LOSSES.values())


def test_a_plain_loop_learns() -> None:
    torch.manual_seed(0)
    targets = xl.FrozenTable(torch.randn(50, 16), target_norm="normalize")
    index = torch.arange(50).repeat(4)
    model, loss = torch.nn.Linear(50, 16), xl.SynMarginProjLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        loss(model(F.one_hot(index, 50).float()), targets(index)).backward()
        optimizer.step()
    found = xl.nearest(model(torch.eye(50)), targets)[1].squeeze(1)
    assert (found == torch.arange(50)).float().mean() > 0.95
