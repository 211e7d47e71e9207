"""The moving average of a model's weights, ``--store-ema``."""

from __future__ import annotations

from typing import Any

from torch import nn

from fairseq_xl.compat.patching import Stock, replace


def average_weights_alone() -> None:
    """Copy what cannot be averaged, and what says that it must not be, into ``--store-ema``'s model.

    Broken: fairseq multiplies every tensor of a model by the decay. Where one is of whole numbers or of truth values,
    training ends at the first update. A frozen table would drift by rounding.
    """
    from fairseq.models.ema import EMA

    @replace(EMA, "__init__")
    def __init__(
        stock: Stock, self: Any, model: nn.Module, config: Any, device: Any = None, skip_keys: Any = None
    ) -> None:
        stock(self, model, config, device, {*(skip_keys or ()), *copied(model)})


def copied(model: nn.Module) -> set[str]:
    """Names in a model's state of whole numbers, of truth values, and of buffers of parts with ``frozen = True``."""
    whole = {name for name, tensor in model.state_dict().items() if not tensor.is_floating_point()}
    frozen = [name for name, part in model.named_modules() if getattr(part, "frozen", None) is True]
    return whole | {f"{part}.{name}" for part in frozen for name, _ in model.get_submodule(part).named_buffers()}
