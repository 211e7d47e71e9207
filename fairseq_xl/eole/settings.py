"""Section ``continuous`` of eole's configuration files: what predicts vectors, and how they become words."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import read_manifest
from fairseq_xl.io.packages import require
from fairseq_xl.io.settings import check, check_kind, option, read_yaml
from fairseq_xl.losses import LOSSES, SCORES
from fairseq_xl.vectors.targets import MISSING_POLICIES, SPECIAL_POLICIES

SECTION = "continuous"
FILE = "continuous.json"
VERSION = 1
OLDEST, FIRST_UNTRIED = (0, 6, 4), (0, 7)
SCORES_OF_EOLE = tuple(score for score in SCORES if score != "vmf_density")
"""eole normalises the scores of each step over the words, so that the density would be the posterior."""


@dataclass
class Continuous:
    """Section ``continuous``. What decoding needs of it is kept beside a model's weights, in ``continuous.json``."""

    target_vectors: str = option("file of target word vectors (.vec, .vec.gz, .bin, .npy with .vocab)")
    loss: str = option("the loss that trains the vectors", "syn_margin_proj", choices=tuple(LOSSES))
    loss_options: dict[str, Any] = field(
        default_factory=dict, metadata={"help": "options of the loss where its defaults do not suit: {margin: 0.4}"}
    )
    special_vectors: str = option(
        "vectors of </s> and <unk>: seeded random directions, or the file's", "random", choices=SPECIAL_POLICIES
    )
    missing_vectors: str = option(
        "words without a vector: a direction of their own, <unk>'s and never predicted, or refused",
        "random",
        choices=MISSING_POLICIES,
    )
    min_coverage: float = option(
        "refuse a vector file that covers a smaller share of the vocabulary", 0.5, low=0, high=1
    )
    decoder_input: str = option(
        "what the decoder reads: the frozen target vectors, or embeddings that are learnt",
        "targets",
        choices=("targets", "learnt"),
    )
    output_scale: float = option(
        "multiply predicted vectors by this constant; 100 for the plain likelihood of vmf", 1.0, low=1e-6
    )
    word_bias: bool = option("learn a number for each word that its score adds, for vmf_posterior", False)
    decode_score: str = option("how predicted vectors score words", "cosine", choices=SCORES_OF_EOLE)
    decode_scale: float = option("sharpness of decode_score cosine, for beam search", 20.0, low=1e-6)
    decode_csls_weight: float = option("weight of the correction for crowded regions (CSLS)", 0.0, low=0)
    decode_prior_weight: float = option("weight of each word's log relative frequency", 0.0, low=0)

    @classmethod
    def parse(cls, given: Any) -> Continuous:
        """The section as a YAML file has it.

        Raises:
            InputError: no section, a key that it does not have, a value that a key does not take.
        """
        if not isinstance(given, Mapping) or "target_vectors" not in given:
            raise InputError(
                f"the configuration has no section {SECTION!r} with target_vectors: it says what predicts vectors; "
                "without one, use eole's own commands"
            )
        made = cls("").changed(given)
        if made.word_bias and not LOSSES[made.loss].learns_bias:
            raise InputError(f"{SECTION}.word_bias is true, and the loss {made.loss} learns no biases: leave it out")
        return made

    def changed(self, given: Mapping[str, Any]) -> Continuous:
        """The same with some values changed. Raises: InputError: see :meth:`parse`."""
        known = {each.name: each for each in fields(self)}
        for key, value in given.items():
            if key not in known:
                raise InputError(f"{SECTION} has no key {key!r}: it has {', '.join(known)}")
            check_kind(f"{SECTION}.{key}", value, type(getattr(self, key)))
        made = replace(self, **given)
        check(made, f"{SECTION}.")
        return made

    def decoding(self, given: Mapping[str, Any]) -> Continuous:
        """The same with other options of decoding. Raises: InputError: an option of training; see :meth:`parse`."""
        for key in given:
            if not key.startswith("decode_"):
                raise InputError(f"{SECTION}.{key} is settled by training: only decode_… can be changed here")
        return self.changed(given)

    def write(self, path: Path, dim: int) -> None:
        """As ``continuous.json``, with the vectors' dimension."""
        write_json(path, {"version": VERSION, "dim": dim, SECTION: asdict(self)}, indent=2)


def saved(model: Path) -> tuple[Continuous, int]:
    """The settings and the vectors' dimension of a model's folder.

    Raises:
        InputError: no such folder, or one that eole's own training wrote.
    """
    if not model.is_dir():
        raise InputError(f"there is no model folder at {model}: give what training.model_path named, or a step_N in it")
    if not (model / FILE).is_file():
        raise InputError(f"{model} has no {FILE}: it predicts no vectors, so use eole's own commands with it")
    found = read_manifest(model / FILE, VERSION, "fairseq-xl eole train", dim=int, continuous=dict)
    return Continuous("").changed(found[SECTION]), found["dim"]


def read_config(path: Path) -> tuple[dict[str, Any], Any]:
    """A configuration file: eole's own keys, and our section, None where there is none.

    It is read as every YAML file here is: ``${oc.env:NAME}`` stands for an environment variable.

    Raises:
        InputError: a file that cannot be read, or is no mapping in YAML.
    """
    try:
        found = read_yaml(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no configuration: expected keys and values")
    return found, found.pop(SECTION, None)


def require_eole() -> None:
    """Whether eole is there, in a version that our classes extend.

    Raises:
        InputError: it is not.
    """
    require("eole", "eole", "fairseq-xl eole")
    version = importlib.metadata.version("eole")
    numbers = tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
    if not OLDEST <= numbers < FIRST_UNTRIED:
        oldest, first = (".".join(map(str, each)) for each in (OLDEST, FIRST_UNTRIED))
        raise InputError(f"eole {version} is installed, and this extends eole>={oldest},<{first}: install one of those")
