"""Devices by name."""

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training.device import usable


def test_devices() -> None:
    assert usable("cpu") == torch.device("cpu")
    assert usable(None).type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "meta", "hpu", "vulkan", "privateuseone"])
def test_a_device_that_is_not_there(name: str) -> None:
    with pytest.raises(InputError, match=f"the device '{name}' cannot be used: "):
        usable(name)
