"""Where a model runs."""

from __future__ import annotations

import torch

from fairseq_xl.io.errors import InputError


def usable(device: str | torch.device | None) -> torch.device:
    """The device of that name, such as ``cpu`` or ``cuda:1``; None for a GPU where there is one.

    Raises:
        InputError: a device that torch does not know or does not see.
    """
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        sent = torch.zeros(1, device=wanted)
        sent.tolist()  # the device `meta` takes numbers and gives none back
        return sent.device
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]
        raise InputError(f"the device {str(wanted)!r} cannot be used: {reason}") from None
