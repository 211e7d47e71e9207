"""``fairseq-xl doctor``: what is installed, what is missing or too old, and the command that mends it.

Runs where torch or fairseq are absent: everything heavy is imported inside a check.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from fairseq_xl import __version__
from fairseq_xl.io.settings import option

OLDEST_PYTHON, FIRST_UNTRIED_PYTHON = (3, 11), (3, 14)


REQUIREMENT = re.compile(r"""([\w.-]+)\s*([^;\s]*)(?:.*extra == ["']([\w-]+)["'])?""")
OTHER_MODULES = {
    "mkdocs-material": "material",
    "faiss-cpu": "faiss",
    "fairseq-fixed": "fairseq",
    "fasttext-numpy2": "fasttext",
    "hydra-core": "hydra",
    "scikit-learn": "sklearn",
    "umap-learn": "umap",
}
"""Modules that are not called as their distributions are."""
PURPOSES = {
    "index": "approximate nearest words",
    "report": "plots and pages of reports",
    "onnx": "exporting encoders, and translators of the kind continuous_lstm",
    "ctranslate2": "exporting translators, and translating with them",
    "cluster": "experiments on a cluster",
    "syntactic": "part-of-speech tagging, and training taggers",
    "map": "maps of embeddings by UMAP",
    "pretrained": "embeddings to compare with",
    "examples": "the examples with models of Hugging Face",
    "tensorboard": "curves of a training in TensorBoard",
    "hub": "models by their name on the Hugging Face Hub",
    "ray": "tagging on many machines",
    "siamese": "baselines and segmentation of the Siamese classifier",
    "pairs": "baselines and folds of sentence pairs",
    "corpus": "building corpora of sentence pairs",
    "eole": "training and translating in eole, in an environment of its own",
    "test": "the tests",
    "docs": "building the documentation's site",
    "browser": "the test that looks at a report's page",
}
"""What an extra is for."""
DISPENSABLE = {"fasttext-numpy2": "training word vectors and reading .bin files (needs g++ where it has no wheel)"}
"""Distributions that are always asked for, but that much works without."""


@dataclass(frozen=True)
class Package:
    """A distribution that fairseq_xl asks for; ``extras`` is empty where it always does."""

    distribution: str
    bounds: str
    extras: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return OTHER_MODULES.get(self.distribution, self.distribution.replace("-", "_"))

    @property
    def required(self) -> bool:
        return not self.extras and self.distribution not in DISPENSABLE

    @property
    def purpose(self) -> str:
        if not self.extras:
            return DISPENSABLE.get(self.distribution, "everything")
        return "; ".join(f"{PURPOSES.get(extra, extra)} (extra {extra!r})" for extra in self.extras)


def packages(requirements: Iterable[str]) -> list[Package]:
    """What the metadata of a distribution ask for, such as ``matplotlib<4,>=3.8; extra == "report"``."""
    found: dict[tuple[str, str], list[str]] = {}
    for requirement in requirements:
        match = REQUIREMENT.match(requirement)
        if match is not None and match[3] != "all":
            extras = found.setdefault((match[1], match[2]), [])
            extras += [match[3]] if match[3] else []
    return [Package(name, bounds, tuple(extras)) for (name, bounds), extras in found.items()]


@dataclass(frozen=True)
class Check:
    """One line of the report. ``status`` is ok, limited, missing, outdated or broken."""

    name: str
    status: str
    required: bool
    version: str | None
    detail: str
    remedy: str | None = None

    @property
    def fatal(self) -> bool:
        return self.required and self.status in ("missing", "outdated", "broken")


def _numbers(version: str) -> tuple[int, ...]:
    """``2.13.0+cpu`` -> (2, 13, 0): enough for the bounds above, without `packaging`."""
    numbers = []
    for part in version.partition("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    while numbers and numbers[-1] == 0:  # 1.3 and 1.3.0 are the same version
        numbers.pop()
    return tuple(numbers)


def within(version: str, bounds: str) -> bool:
    """Whether ``version`` satisfies ``bounds``, a comma-separated list of ``==``, ``>=`` and ``<``."""
    have = _numbers(version)
    for bound in bounds.split(","):
        wanted = _numbers(bound.lstrip("=<>"))
        if bound.startswith("==") and have != wanted:
            return False
        if bound.startswith(">=") and have < wanted:
            return False
        if bound.startswith("<") and have >= wanted:
            return False
    return True


def _pip(package: Package) -> str:
    requirement = f"'{package.distribution}{package.bounds}'"
    if package.module == "fairseq":
        # against the torch that is installed, without compiled parts, without torchaudio
        options = "--no-build-isolation --no-deps"
        return f"READTHEDOCS=1 {sys.executable} -m pip install {options} {requirement}"
    return f"{sys.executable} -m pip install {requirement}"


def check_python() -> Check:
    fits = OLDEST_PYTHON <= sys.version_info[:2] < FIRST_UNTRIED_PYTHON
    remedy = None if fits else "bash scripts/setup.sh --python python3.12"
    return Check("Python", "ok" if fits else "outdated", True, platform.python_version(), sys.executable, remedy)


def check_package(package: Package) -> Check:
    """Installed, new enough, and importable?"""
    status, detail, remedy = "ok", f"for {package.purpose}", _pip(package)
    try:
        version = importlib.metadata.version(package.distribution)
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is None and importlib.util.find_spec(package.module) is None:
        status = "missing"
    elif version is None:
        status = "outdated"
        detail = f"another distribution provides the module {package.module!r}; {detail}"
    elif not within(version, package.bounds):
        status, detail = "outdated", f"{package.bounds} is needed {detail}"
    elif package.extras != ("test",):  # ruff's module is of no use to us, and the others are slow
        try:
            importlib.import_module(package.module)
        except Exception as error:  # whatever an import raises is what the user must see
            status, detail = "broken", f"installed, but importing it fails: {type(error).__name__}: {error}"
            remedy = remedy.replace("pip install", "pip install --force-reinstall")
    return Check(package.distribution, status, package.required, version, detail, None if status == "ok" else remedy)


def check_cuda() -> Check:
    """Whether torch can use a GPU, and whether there is one that it cannot."""
    try:
        import torch
    except Exception:  # whatever an import raises: the line about torch has said it
        return Check("CUDA", "limited", False, None, "unknown without a torch that works")
    built = torch.version.cuda
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return Check("CUDA", "ok", False, built, ", ".join(names))
    tool = shutil.which("nvidia-smi")
    if tool and "GPU" in subprocess.run([tool, "-L"], capture_output=True, text=True).stdout:
        detail = f"there is a GPU, but this torch {'cannot use its driver' if built else 'is a CPU build'}"
        return Check("CUDA", "limited", False, built, detail, "bash scripts/setup.sh --torch cuda --venv .venv-cuda")
    build = f"a build for CUDA {built}" if built else "a CPU build"
    return Check("CUDA", "ok", False, None, f"no GPU here: {os.cpu_count()} CPU cores are used (torch is {build})")


def check_plugin() -> Check:
    """Whether the components really register with the fairseq that is installed."""
    import fairseq_xl

    try:
        fairseq_xl.register()
    except Exception as error:
        detail = f"loading it fails: {type(error).__name__}: {error}"
        return Check("plugin", "broken", True, __version__, detail, "mend the lines above first")
    return Check("plugin", "ok", True, __version__, f"--user-dir {os.path.dirname(fairseq_xl.__file__)}")


def examine() -> list[Check]:
    """Every check, in the order in which to mend what is wrong."""
    checks = [check_python()]
    try:
        asked = packages(importlib.metadata.requires("fairseq-xl") or [])
    except importlib.metadata.PackageNotFoundError:
        # The plugin says whether it works.
        asked = []
        detail = "used as it lies, without metadata of what it asks for"
        checks.append(Check("fairseq-xl", "limited", False, __version__, detail, "bash scripts/setup.sh"))
    checks += [check_package(package) for package in asked if not package.extras]
    checks.append(check_cuda())
    checks.append(check_plugin())
    return checks + [check_package(package) for package in asked if package.extras]


@dataclass
class Doctor:
    """Say what is installed, what is missing or too old, and the command that gets it."""

    json: bool = option("print JSON instead of text", False)

    def run(self) -> int:
        """Status 1 where something required is missing, too old or broken."""
        logging.disable(logging.CRITICAL)  # fairseq's and matplotlib's imports log what is said below
        try:
            checks = examine()
        finally:
            logging.disable(logging.NOTSET)
        fatal = [check.name for check in checks if check.fatal]
        if self.json:
            report = {
                "ok": not fatal,
                "fairseq_xl": __version__,
                "platform": platform.platform(),
                "checks": [asdict(check) for check in checks],
            }
            print(json.dumps(report, indent=1))
            return 1 if fatal else 0
        print(f"fairseq_xl {__version__} on {platform.platform()}")
        width = max(len(f"{c.name} {c.version or ''}") for c in checks)
        for check in checks:
            status = check.status.upper() if check.fatal else check.status
            title = f"{check.name} {check.version or ''}"
            print(f"  {status:8}  {title:{width}}  {check.detail}")
            if check.remedy:
                print(f"  {'':8}  get it: {check.remedy}")
        if fatal:
            print(f"\nnot ready: {', '.join(fatal)}; `bash scripts/setup.sh` in a clone mends all of it")
        else:
            print("\neverything that is required is there")
        return 1 if fatal else 0
