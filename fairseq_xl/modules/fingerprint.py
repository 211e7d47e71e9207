"""What the numbers of a checkpoint stand for, kept in the checkpoint beside them.

A row of an embedding means what the data's dictionary or language list says. That of other data may say something else,
and at the same size nobody would notice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from fairseq_xl.io.errors import InputError


class Fingerprint(nn.Module):
    """The checksum of a vocabulary, as a buffer that only loads into a model of the same vocabulary.

    Args:
        symbols: the vocabulary in its order.
        what: what to call it in the message.

    Raises:
        InputError: on loading, where the checkpoint's vocabulary is another one.
    """

    digest: Tensor

    def __init__(self, symbols: Iterable[str], what: str):
        super().__init__()
        digest = hashlib.sha256("\n".join(symbols).encode()).digest()
        self.register_buffer("digest", _bytes(digest))
        self.what = what
        self.register_load_state_dict_pre_hook(_refuse_another)


class NamedEmbedding(nn.Embedding):
    """An embedding whose rows have names: a checkpoint's row goes to the row of the same name.

    A checkpoint may have more names, fewer, or another order. A name that it does not have keeps its fresh row.

    Args:
        names: of the rows; none holds a line break.
        dim: size of a row.
    """

    row_names: Tensor

    def __init__(self, names: Sequence[str], dim: int):
        super().__init__(len(names), dim)
        self.names = tuple(names)
        self.register_buffer("row_names", _bytes("\n".join(names).encode()))
        self.register_load_state_dict_pre_hook(_rows_by_name)


def _bytes(content: bytes) -> Tensor:
    return torch.tensor(list(content), dtype=torch.uint8)


def _refuse_another(module: Fingerprint, state: dict[str, Any], prefix: str, *_: Any) -> None:
    stored = state.get(prefix + "digest")
    if stored is not None and not torch.equal(stored.cpu(), module.digest.cpu()):
        raise InputError(
            f"the checkpoint was trained with another {module.what} than this data's: prepare the data with the "
            "dictionary that the checkpoint was trained with"
        )


def _rows_by_name(module: NamedEmbedding, state: dict[str, Any], prefix: str, *_: Any) -> None:
    stored = state.get(prefix + "row_names")
    if stored is None or torch.equal(stored.cpu(), module.row_names.cpu()):
        return
    old = bytes(stored.tolist()).decode().split("\n")
    rows = module.weight.detach().clone()
    for row, name in enumerate(module.names):
        if name in old:
            rows[row] = state[prefix + "weight"][old.index(name)]
    state[prefix + "weight"] = rows
    state[prefix + "row_names"] = module.row_names
