"""What fairseq 0.12.3 lacks on current Python, torch and numpy."""

from __future__ import annotations

import argparse
import sys
import types

import numpy as np
import torch

from fairseq_xl.errors import show_input_errors_without_traceback


def apply() -> None:
    """Mend what is broken on this stack; may be called any number of times."""
    show_input_errors_without_traceback()
    _trust_plain_types_in_checkpoints()
    _supply_batching()


def _trust_plain_types_in_checkpoints() -> None:
    """Let ``torch.load(weights_only=True)`` read what fairseq writes into a checkpoint."""
    dtypes = [type(np.dtype(name)) for name in ("float64", "float32", "int64", "int32", "bool")]
    torch.serialization.add_safe_globals(
        [
            argparse.Namespace,
            np._core.multiarray._reconstruct,
            np._core.multiarray.scalar,
            np.ndarray,
            np.dtype,
            *dtypes,
        ]
    )


def _supply_batching() -> None:
    """Stand in for the compiled ``data_utils_fast`` where it was not built."""
    try:
        import fairseq.data.data_utils_fast  # noqa: F401
    except ImportError:
        module = types.ModuleType("fairseq.data.data_utils_fast")
        module.batch_by_size_vec = _batch_by_size_vec
        module.batch_by_size_fn = lambda indices, fn, *rest: _batch_by_size_vec(
            indices, np.array([fn(i) for i in indices], dtype=np.int64), *rest
        )
        module.batch_fixed_shapes_fast = None
        sys.modules["fairseq.data.data_utils_fast"] = module


def _batch_by_size_vec(
    indices: np.ndarray, sizes: np.ndarray, max_tokens: int, max_sentences: int, multiple: int
) -> list[np.ndarray]:
    batches: list[np.ndarray] = []
    start, longest = 0, 0
    for end in range(len(indices)):
        longest_with = max(longest, int(sizes[end]))
        count = end - start + 1
        if count > 1 and (
            (max_tokens > 0 and count * longest_with > max_tokens)
            or (0 < max_sentences < count)
        ):
            full = count - 1
            keep = full - full % multiple if full >= multiple else full
            batches.append(indices[start : start + keep])
            start += keep
            longest_with = int(sizes[start : end + 1].max())
        longest = longest_with
    if start < len(indices):
        batches.append(indices[start:])
    return batches
