"""``fairseq-xl doctor``: what is installed, what is missing or too old, and the command that mends it.

Runs where torch or fairseq are absent: everything heavy is imported inside a check.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.machinery import PathFinder

from fairseq_xl import __version__

OLDEST_PYTHON, FIRST_UNTRIED_PYTHON = (3, 11), (3, 14)


@dataclass(frozen=True)
class Package:
    """A distribution of ``setup.py``, the module it gives, and what it is for."""

    distribution: str
    module: str
    bounds: str
    purpose: str
    extra: str | None = None
    required: bool = True


PACKAGES = (
    Package("torch", "torch", ">=2.6", "everything"),
    Package("fairseq-fixed", "fairseq", "==0.12.3.1", "training and translating"),
    Package("hydra-core", "hydra", "==1.3.2", "fairseq's configuration"),
    Package("omegaconf", "omegaconf", "==2.3.0", "fairseq's configuration"),
    Package("numpy", "numpy", ">=1.26,<3", "everything"),
    Package("scipy", "scipy", ">=1.11,<2", "statistics and special functions"),
    Package("sacrebleu", "sacrebleu", ">=2.4,<3", "scoring translations"),
    Package("sacremoses", "sacremoses", ">=0.1,<1", "tokenising and truecasing"),
    Package("sentencepiece", "sentencepiece", ">=0.2,<1", "subword vocabularies"),
    Package("regex", "regex", ">=2023.12", "characters as readers see them"),
    Package("tqdm", "tqdm", ">=4.60,<5", "progress bars"),
    Package(
        "fasttext-numpy2",
        "fasttext",
        ">=0.10.3,<0.11",
        "training word vectors and reading .bin files (needs g++ where it has no wheel)",
        required=False,
    ),
    Package("matplotlib", "matplotlib", ">=3.8,<4", "plots", "report", False),
    Package("jinja2", "jinja2", ">=3.1,<4", "pages of reports", "report", False),
    Package("submitit", "submitit", ">=1.5,<2", "experiments on a cluster", "cluster", False),
    Package("faiss-cpu", "faiss", ">=1.8,<2", "approximate nearest words", "index", False),
    Package("onnx", "onnx", ">=1.16,<2", "exporting encoders", "onnx", False),
    Package("onnxruntime", "onnxruntime", ">=1.18,<2", "exporting encoders", "onnx", False),
    Package("spacy", "spacy", ">=3.7,<4", "part-of-speech tagging, and training taggers", "syntactic", False),
    Package("stanza", "stanza", ">=1.8,<2", "part-of-speech tagging", "syntactic", False),
    Package("scikit-learn", "sklearn", ">=1.4,<2", "baselines of the Siamese classifier", "siamese", False),
    Package("gensim", "gensim", ">=4.3,<5", "baselines of the Siamese classifier", "siamese", False),
    Package("morfessor", "morfessor", ">=2.0.6,<3", "morphological segmentation", "siamese", False),
    Package("charset-normalizer", "charset_normalizer", ">=3.3,<4", "guessing encodings", "siamese", False),
    Package("scikit-learn", "sklearn", ">=1.4,<2", "baselines and ensembles of pair classifiers", "pairs", False),
    Package("networkx", "networkx", ">=3.2,<4", "folds of pairs by communities", "pairs", False),
    Package("rapidfuzz", "rapidfuzz", ">=3.6,<4", "repairing words", "pairs", False),
    Package("rank-bm25", "rank_bm25", ">=0.2.2,<0.3", "the baseline BM25", "pairs", False),
    Package("ray", "ray", ">=2.9,<3", "tagging on many machines", "ray", False),
    Package("umap-learn", "umap", ">=0.5,<1", "maps of embeddings by UMAP", "map", False),
    Package(
        "sentence-transformers", "sentence_transformers", ">=3,<6", "embeddings to compare with", "pretrained", False
    ),
    Package("transformers", "transformers", ">=4.40,<6", "embeddings to compare with", "pretrained", False),
    Package("scrapy", "scrapy", ">=2.19,<3", "crawling", "corpus", False),
    Package("inscriptis", "inscriptis", ">=2.5,<3", "text from HTML", "corpus", False),
    Package("trafilatura", "trafilatura", ">=2,<3", "main content of HTML", "corpus", False),
    Package("lxml", "lxml", ">=5,<7", "reading HTML", "corpus", False),
    Package("cssselect", "cssselect", ">=1.2,<2", "elements of HTML", "corpus", False),
    Package("w3lib", "w3lib", ">=2.2,<3", "addresses and encodings", "corpus", False),
    Package("charset-normalizer", "charset_normalizer", ">=3.3,<4", "guessing encodings", "corpus", False),
    Package("warcio", "warcio", ">=1.7,<2", "web archives", "corpus", False),
    Package("ctranslate2", "ctranslate2", ">=4.5,<5", "translating with OPUS-MT or NLLB", "corpus", False),
    Package("spacy", "spacy", ">=3.7,<4", "splitting sentences", "corpus", False),
    Package("gensim", "gensim", ">=4.3,<5", "topics of pages and their coherence", "corpus", False),
    Package("tomotopy", "tomotopy", ">=0.13,<1", "topics of pages, faster", "corpus", False),
    Package("faiss-cpu", "faiss", ">=1.8,<2", "negatives", "corpus", False),
    Package("scikit-learn", "sklearn", ">=1.4,<2", "what a corpus gives away", "corpus", False),
    Package("pyarrow", "pyarrow", ">=15,<27", "corpora as Parquet", "corpus", False),
    Package("matplotlib", "matplotlib", ">=3.8,<4", "the plot of coherence", "corpus", False),
    Package("pytest", "pytest", ">=9,<10", "the tests", "test", False),
    Package("pytest-xdist", "xdist", ">=3.6,<4", "the tests", "test", False),
    Package("hypothesis", "hypothesis", ">=6.90,<7", "the tests", "test", False),
    Package("ruff", "ruff", ">=0.9,<1", "the tests", "test", False),
    Package("mypy", "mypy", ">=1.13,<3", "the tests", "test", False),
    Package("mpmath", "mpmath", ">=1.3,<1.4", "the tests", "test", False),
)

# fairseq's compiled modules: what happens without them
COMPILED = {
    "fairseq.data.data_utils_fast": "fairseq_xl batches with numpy instead",
    "fairseq.data.token_block_utils_fast": "fairseq_xl makes text blocks with numpy instead",
    "fairseq.libbleu": "`--scoring bleu` does not work; `--scoring sacrebleu` does",
}


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
    version = platform.python_version()
    fits = OLDEST_PYTHON <= sys.version_info[:2] < FIRST_UNTRIED_PYTHON
    return Check(
        "Python",
        "ok" if fits else "outdated",
        True,
        version,
        sys.executable,
        None if fits else "bash scripts/setup.sh --python python3.12",
    )


def check_package(package: Package) -> Check:
    """Installed, new enough, and importable?"""
    needed = f"for {package.purpose}" + (f" (extra {package.extra!r})" if package.extra else "")
    try:
        version = importlib.metadata.version(package.distribution)
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is None and importlib.util.find_spec(package.module) is None:
        return Check(package.distribution, "missing", package.required, None, needed, _pip(package))
    if version is None:
        detail = f"another distribution provides the module {package.module!r}; {needed}"
        return Check(package.distribution, "outdated", package.required, None, detail, _pip(package))
    if not within(version, package.bounds):
        detail = f"{package.bounds} is needed {needed}"
        return Check(package.distribution, "outdated", package.required, version, detail, _pip(package))
    if package.extra != "test":  # ruff's module is of no use to us, and the others are slow
        try:
            importlib.import_module(package.module)
        except Exception as error:  # whatever an import raises is what the user must see
            detail = f"installed, but importing it fails: {type(error).__name__}: {error}"
            remedy = _pip(package).replace("pip install", "pip install --force-reinstall")
            return Check(package.distribution, "broken", package.required, version, detail, remedy)
    return Check(package.distribution, "ok", package.required, version, needed)


def check_cuda() -> Check:
    """Whether torch can use a GPU, and whether there is one that it cannot."""
    try:
        import torch
    except ImportError:
        return Check("CUDA", "limited", False, None, "unknown without torch")
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return Check("CUDA", "ok", False, torch.version.cuda, ", ".join(names))
    tool = shutil.which("nvidia-smi")
    if tool and "GPU" in subprocess.run([tool, "-L"], capture_output=True, text=True).stdout:
        reason = "is a CPU build" if torch.version.cuda is None else "cannot use its driver"
        return Check(
            "CUDA",
            "limited",
            False,
            torch.version.cuda,
            f"there is a GPU, but this torch {reason}",
            "bash scripts/setup.sh --torch cuda --venv .venv-cuda",
        )
    build = f"a build for CUDA {torch.version.cuda}" if torch.version.cuda else "a CPU build"
    detail = f"no GPU here: {os.cpu_count()} CPU cores are used (torch is {build})"
    return Check("CUDA", "ok", False, None, detail)


def check_compiled(name: str, without: str) -> Check:
    """Whether a compiled module of fairseq is there and loads, whatever stands in for it by now."""
    try:
        parent = importlib.import_module(name.rpartition(".")[0])
    except Exception:  # check_package has said why
        return Check(name, "limited", False, None, "unknown without fairseq")
    spec = PathFinder.find_spec(name, parent.__path__)
    if spec is None or spec.loader is None:
        return Check(name, "ok", False, None, f"not compiled: {without}")
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except Exception as error:
        return Check(name, "limited", False, None, f"does not load ({error}): {without}")
    return Check(name, "ok", False, None, "compiled")


def check_plugin() -> Check:
    """Whether the components really register with the fairseq that is installed."""
    import fairseq_xl

    try:
        fairseq_xl.register()
    except Exception as error:
        detail = f"loading it fails: {type(error).__name__}: {error}"
        return Check("plugin", "broken", True, __version__, detail, "mend the lines above first")
    return Check("plugin", "ok", True, __version__, os.path.dirname(fairseq_xl.__file__))


def examine() -> list[Check]:
    """Every check, in the order in which to mend what is wrong."""
    steps: list[Callable[[], Check]] = [check_python]
    steps += [partial(check_package, p) for p in PACKAGES if p.extra is None]
    steps += [check_cuda]
    steps += [partial(check_compiled, n, w) for n, w in COMPILED.items()]
    steps += [check_plugin]
    steps += [partial(check_package, p) for p in PACKAGES if p.extra is not None]
    return [step() for step in steps]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Print the report; status 1 where something required is missing, too old or broken."""
    logging.disable(logging.CRITICAL)  # fairseq's and matplotlib's imports log what is said below
    try:
        checks = examine()
    finally:
        logging.disable(logging.NOTSET)
    fatal = [check.name for check in checks if check.fatal]
    if args.json:
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
