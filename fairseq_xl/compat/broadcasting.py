"""What one process of a training sends to the others, such as the checkpoint that all go on from."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch

from fairseq_xl.compat.patching import replace


def receive_what_was_broadcast() -> None:
    """Let the other processes of a training read what the first one sends.

    Broken: only the first process reads the checkpoint and sends it on; since 2.6 ``torch.load`` refuses the
    configuration in it, so that no training in several processes could go on after an interruption. What is
    read here comes from the training's own first process, never from a file.
    """
    from fairseq.distributed import utils

    def mend(stock: Callable[..., Any]) -> Callable[..., Any]:
        def _broadcast_object_slow(obj: Any, src_rank: int, group: Any, dist_device: torch.device) -> Any:
            if utils.get_rank(group) == src_rank:
                return stock(obj, src_rank, group, dist_device)
            length = torch.zeros(1, dtype=torch.long, device=dist_device)
            utils.broadcast(length, src=src_rank, group=group)
            received = torch.empty(int(length), dtype=torch.uint8, device=dist_device)
            utils.broadcast(received, src=src_rank, group=group)
            return torch.load(io.BytesIO(received.cpu().numpy().tobytes()), map_location="cpu", weights_only=False)

        return _broadcast_object_slow

    replace(utils, "_broadcast_object_slow", mend)
