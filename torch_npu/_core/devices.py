"""Device arguments and their indices."""

import torch

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error

# A device argument: None and negative indices mean the current one.
Device = int | str | torch.device | None


def device_index(device: Device = None, *, allow_cpu: bool = False) -> int:
    """An index from None (the current device), an int, a string or a torch.device.

    Raises:
        ValueError: ``device`` names another device type.
    """
    if device is None:
        return int(state.native().current_device())
    if isinstance(device, int):
        return int(state.native().current_device()) if device < 0 else device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type == "npu":
            return int(state.native().current_device()) if device.index is None else device.index
        if allow_cpu and device.type == "cpu":
            return -1
    raise ValueError(f"Expected a npu device, but got: {device}" + pta_error(ErrCode.VALUE))
