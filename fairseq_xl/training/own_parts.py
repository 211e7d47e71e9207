"""Refuses a model or a criterion of another task. It would fail in its first batch, or learn nonsense."""

from __future__ import annotations

from typing import Any

from fairseq_xl.io.errors import InputError


def check_model(task: str, cfg: Any, own: type, names: str) -> None:
    """As :func:`check_criterion`, of the model that ``--arch`` chose."""
    from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY

    _check(ARCH_MODEL_REGISTRY.get(cfg._name) or MODEL_REGISTRY.get(cfg._name), own, task, "--arch", cfg._name, names)


def check_criterion(task: str, cfg: Any, own: type, names: str) -> None:
    """Refuse a criterion that is not an ``own`` one. A plugin of the user's may have others.

    Args:
        task: name of the task that trains by it.
        cfg: settings of the criterion.
        own: class of those that the task trains by.
        names: what to give for ``--criterion``.

    Raises:
        InputError: it is fairseq's, or of another task of this suite.
    """
    from fairseq.criterions import CRITERION_REGISTRY

    _check(CRITERION_REGISTRY.get(cfg._name), own, task, "--criterion", cfg._name, names)


def _check(found: type | None, own: type, task: str, option: str, name: str, names: str) -> None:
    if found is None or issubclass(found, own):
        return
    if found.__module__.partition(".")[0] in ("fairseq", "fairseq_xl"):
        raise InputError(f"{option} {name} is for another task than {task}: give {option} {names}")
