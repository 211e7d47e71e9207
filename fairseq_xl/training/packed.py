"""The weights of a model folder as safetensors, with what the model is built from beside them in the same file.

Such a file holds numbers and text alone: nothing in it is unpickled. Tensors that share memory, as tied weights do, are
stored once, and are one again when the file is read.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from fairseq.dataclass.utils import overwrite_args_by_name
from omegaconf import OmegaConf
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from fairseq_xl.io.atomic import atomic_binary
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.training import checkpoints

SUFFIX = ".safetensors"
_ENTRY = "fairseq_xl"  # the one entry of the file's text: safetensors writes several in any order


def write(path: Path, state: Mapping[str, Any]) -> None:
    """Write what a checkpoint needs to be loaded, wholly or not at all; what only training needs is left out.

    Args:
        path: the file.
        state: a checkpoint of fairseq 0.12.

    Raises:
        InputError: the file cannot be written.
    """
    tensors, ties = _untied(state["model"])
    described = {
        "cfg": state.get("cfg"),
        "task_state": checkpoints.task_state(state),
        "updates": checkpoints.updates(state),
        "ties": ties,
    }
    text = json.dumps(described, default=checkpoints.json_value, ensure_ascii=False)
    with atomic_binary(path) as file:
        file.write(save(tensors, {_ENTRY: text}))  # save_file lets nobody but the file's owner read it


def read(path: Path) -> dict[str, Any]:
    """What :func:`write` wrote, as a checkpoint: ``cfg``, ``model``, ``task_state`` and how many updates it has seen.

    Raises:
        InputError: the file is missing, damaged or another one; its configuration asks for what the machine knows.
    """
    try:
        with safe_open(utf8_name(path), framework="pt") as file:
            described = loads((file.metadata() or {}).get(_ENTRY, ""))
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dictionary)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, ValueError):
        raise _damaged(path) from None
    kinds = {"cfg": dict, "task_state": dict, "updates": int, "ties": dict}
    if not isinstance(described, dict) or any(not isinstance(described.get(key), kinds[key]) for key in kinds):
        raise _damaged(path)
    for name, stored in described["ties"].items():
        if not isinstance(stored, str) or stored not in weights:
            raise _damaged(path)
        weights[name] = weights[stored]
    state = {
        "cfg": checkpoints.with_namespaces(described["cfg"]),
        "model": weights,
        "task_state": described["task_state"],
        "optimizer_history": [{"num_updates": described["updates"]}],
    }
    if (reason := checkpoints.why_state_refused(state)) is not None:
        raise InputError(f"the file {path} {reason}")
    return state


def build_model(state: Mapping[str, Any], task: Any, overrides: Mapping[str, Any] | None = None) -> Any:
    """The model of what :func:`read` gave, with its weights, on the CPU; as fairseq builds that of a checkpoint.

    Args:
        state: see there.
        task: of fairseq, with the data or dictionaries that the model was trained with.
        overrides: options of the model to change, by name.

    Raises:
        InputError: other dictionaries.
        RuntimeError: weights of other sizes, which is torch's word for them.
    """
    cfg = OmegaConf.create(state["cfg"], flags={"allow_objects": True})
    overwrite_args_by_name(cfg, dict(overrides or {}))
    task.load_state_dict(state["task_state"])
    model = task.build_model(cfg.model, from_checkpoint=True)
    model.set_num_updates(checkpoints.updates(state))
    model.load_state_dict(state["model"], strict=True, model_cfg=cfg.model)
    return model


def _untied(weights: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Weights that share no memory, and for each other name the one that it is tied to."""
    tensors: dict[str, Tensor] = {}
    ties: dict[str, str] = {}
    seen: dict[Hashable, str] = {}
    storages: set[int] = set()
    for name, tensor in weights.items():
        storage = tensor.untyped_storage().data_ptr()
        place = (storage, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        if tensor.numel() and place in seen:
            ties[name] = seen[place]
            continue
        seen[place] = name
        # Parts of one tensor, which are not tied as a whole, are told apart for good.
        tensors[name] = tensor.clone() if storage in storages else tensor
        tensors[name] = tensors[name].contiguous()
        storages.add(storage)
    return tensors, ties


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged, or no file of a packed model: copy the folder anew, or pack the model again")
