"""The tuned settings are the same everywhere: recipes/lib/translation.sh has them, and what follows compares with that.

``multi30k.sh --dry-run`` is asked for them; the YAML files, the options' defaults and the pages' commands must agree.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import pairwise

import pytest
import yaml
from doc_pages import PAGES, ROOT, blocks

from fairseq_xl.continuous.models.config import ContinuousLSTMConfig

TRAINING = (
    *("--lr", "--max-tokens", "--clip-norm", "--lr-scheduler", "--warmup-updates", "--force-anneal", "--lr-shrink"),
    *("--max-epoch", "--optimizer"),
)


@cache
def recipe() -> tuple[dict[str, str], list[str]]:
    """What the recipe trains with by default, and the transformation of its target vectors."""
    command = ["bash", str(ROOT / "recipes" / "multi30k.sh"), "--dry-run", "--out", "OUT"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    train = shlex.split(next(line for line in shown if line.startswith("fairseq-train")))
    convert = shlex.split(next(line for line in shown if line.startswith("fairseq-xl vectors convert")))
    return options(train), convert[convert.index("--dict") + 2 :]


def same(one: object, other: object) -> bool:
    try:
        return float(str(one)) == float(str(other))
    except ValueError:
        return str(one) == str(other)


@pytest.mark.parametrize(
    ("section", "name", "option"),
    [
        *(
            ("optimization", name, option)
            for name, option in (("max_epoch", "--max-epoch"), ("clip_norm", "--clip-norm"))
        ),
        *(
            ("lr_scheduler", name, f"--{name.replace('_', '-')}")
            for name in ("force_anneal", "lr_shrink", "warmup_updates")
        ),
        *(("lr_scheduler", "_name", "--lr-scheduler"), ("criterion", "_name", "--criterion")),
        *(
            ("optimizer", "_name", "--optimizer"),
            ("model", "_name", "--arch"),
            ("dataset", "max_tokens", "--max-tokens"),
        ),
        *(("model", name, f"--{name.replace('_', '-')}") for name in ("dropout", "decode_score", "decode_csls_weight")),
        ("checkpoint", "best_checkpoint_metric", "--best-checkpoint-metric"),
        ("dataset", "required_batch_size_multiple", "--required-batch-size-multiple"),
    ],
)
def test_yaml_for_hydra(section: str, name: str, option: str) -> None:
    config = yaml.safe_load((ROOT / "recipes" / "config" / "translation.yaml").read_text())
    assert same(config[section][name], recipe()[0][option])


def test_yaml_for_hydra_has_the_learning_rate() -> None:
    config = yaml.safe_load((ROOT / "recipes" / "config" / "translation.yaml").read_text())
    assert same(config["optimization"]["lr"][0], recipe()[0]["--lr"])
    assert config["checkpoint"]["maximize_best_checkpoint_metric"] is True


def test_yaml_for_hydra_of_the_siamese_classifier() -> None:
    command = ["bash", str(ROOT / "recipes" / "sentiment.sh"), "--dry-run", "--out", "OUT", "--low-resource", "es"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    words = shlex.split(next(line for line in shown if line.startswith("fairseq-train")))[2:]
    given = {
        name: True if value.startswith("--") else value
        for name, value in pairwise([*words, "--"])
        if name.startswith("--")
    }
    config = yaml.safe_load((ROOT / "recipes" / "config" / "siamese.yaml").read_text())
    del config["defaults"], config["hydra"], config["lr_scheduler"], config["task"]["data"]  # fixed is fairseq's own
    named = {"model": "--arch"}
    found = {
        named.get(section, f"--{section}") if name == "_name" else f"--{name.replace('_', '-')}": value
        for section, values in config.items()
        for name, value in values.items()
    }
    left_out = {"--seed", "--save-dir", "--dense-order"}  # which the user gives, or which is the default
    assert found.keys() - {"--user-dir"} == given.keys() - {"--user-dir"} - left_out
    for name in found.keys() - {"--user-dir"}:
        value = found[name][0] if isinstance(found[name], list) else found[name]
        assert same(value, given[name]), name


def test_yaml_for_eole() -> None:
    config = yaml.safe_load((ROOT / "recipes" / "config" / "eole.yaml").read_text())
    tuned, training, continuous = recipe()[0], config["training"], config["continuous"]
    assert same(training["learning_rate"], tuned["--lr"])
    assert same(training["batch_size"], tuned["--max-tokens"])
    assert same(training["max_grad_norm"], tuned["--clip-norm"])
    assert same(training["learning_rate_decay"], tuned["--lr-shrink"])
    assert all(same(value, tuned["--dropout"]) for value in (*training["dropout"], *training["attention_dropout"]))
    assert (continuous["loss"], continuous["decode_score"]) == (tuned["--criterion"], tuned["--decode-score"])
    assert same(continuous["decode_csls_weight"], tuned["--decode-csls-weight"])
    epochs = training["train_steps"] / training["decay_steps"]
    assert same(epochs, tuned["--max-epoch"])
    assert same(training["start_decay_steps"] / training["decay_steps"], tuned["--force-anneal"])


@pytest.mark.parametrize("name", ["dropout", "decode_score", "decode_csls_weight"])
def test_defaults_of_options(name: str) -> None:
    default = next(field.default for field in fields(ContinuousLSTMConfig) if field.name == name)
    assert same(getattr(default, "value", default), recipe()[0][f"--{name.replace('_', '-')}"])


def commands(start: str, wanted: Callable[[list[str]], bool]) -> list:
    """The wanted ones of the commands in the pages' blocks that begin so, without comments."""
    found = []
    for page in PAGES:
        for block in blocks(page):
            text = block.text.replace("\\\n", " ")
            text = re.sub(
                r"training=\((.*?)\)$",
                lambda list_: f"fairseq-train {' '.join(list_[1].split())}",
                text,
                flags=re.DOTALL | re.MULTILINE,
            )
            for line in text.splitlines():
                if line.strip().startswith(start) and "…" not in line:
                    words = shlex.split(line, comments=True)
                    if wanted(words):
                        found.append(pytest.param(words, id=f"{block.where}: {line.strip()[:40]}"))
    return found


def options(words: list[str]) -> dict[str, str]:
    return {name: value for name, value in pairwise(words) if name.startswith("--")}


def of_the_tuned_model(words: list[str]) -> bool:
    """Others have settings of their own."""
    given = options(words)
    return (given.get("--arch"), given.get("--criterion")) == ("continuous_lstm", "syn_margin_proj")


@pytest.mark.parametrize("words", commands("fairseq-train", of_the_tuned_model))
def test_trainings_on_pages(words: list[str]) -> None:
    given, tuned = options(words), recipe()[0]
    names = ("--arch", "--criterion", *TRAINING)
    assert {name: given.get(name) for name in names} == {name: tuned[name] for name in names}


def of_trained_vectors(words: list[str]) -> bool:
    """Those of fastText, that is: a softmax's are taken as they are."""
    return words[3].endswith(".bin") and "--dict" in words


@pytest.mark.parametrize("words", commands("fairseq-xl vectors convert", of_trained_vectors))
def test_target_vectors_on_pages(words: list[str]) -> None:
    assert words[words.index("--dict") + 2 :] == recipe()[1]
