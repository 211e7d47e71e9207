"""Models of the packages sentence-transformers and transformers, by name or folder."""

from __future__ import annotations

from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

EXTRA = "pretrained"


def load_sentence_transformer(name: str) -> Any:
    """A ``SentenceTransformer``.

    Raises:
        InputError: the package is not installed, or it finds no such model.
    """
    package = require("sentence_transformers", EXTRA)
    try:
        return package.SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise _unknown("sentence-transformers", name, error) from None


def load_transformer(name: str) -> tuple[Any, Any]:
    """A tokeniser and its ``AutoModel``, in evaluation mode.

    Raises:
        InputError: the package is not installed, or it finds no such model.
    """
    package = require("transformers", EXTRA)
    try:
        return package.AutoTokenizer.from_pretrained(name), package.AutoModel.from_pretrained(name).eval()
    except (OSError, ValueError) as error:
        raise _unknown("transformers", name, error) from None


def _unknown(package: str, name: str, error: Exception) -> InputError:
    return InputError(f"{package} cannot load {name!r} ({error}): give a model's name or folder")
