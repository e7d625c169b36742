"""Shared state of the functions of ``torch.npu``: the native module, or the reason for its absence; device indices."""

from types import ModuleType

import torch

# A device argument: None and negative indices mean the current one.
Device = int | str | torch.device | None

_native: ModuleType | None = None
_reason: str = ""


def attach(native: ModuleType | None, reason: str) -> None:
    """Sets the native module, or the reason for its absence."""
    global _native, _reason
    _native, _reason = native, reason


def native() -> ModuleType:
    """The native module.

    Raises:
        RuntimeError: it could not be loaded; the text says why.
    """
    if _native is None:
        raise RuntimeError(f"torch_npu could not be loaded: {_reason}")
    return _native


def is_loaded() -> bool:
    """Whether the native module is loaded."""
    return _native is not None


def unavailable_reason() -> str:
    """Why ``torch.npu.is_available()`` is False; empty if it is True."""
    if _native is None:
        return _reason
    return "" if _native.device_count() > 0 else str(_native.device_count_error())


def device_index(device: Device = None, *, allow_cpu: bool = False) -> int:
    """An index from None (the current device), an int, a string or a torch.device.

    Raises:
        ValueError: ``device`` names another device type.
    """
    if device is None:
        return int(native().current_device())
    if isinstance(device, int):
        return int(native().current_device()) if device < 0 else device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type == "npu":
            return int(native().current_device()) if device.index is None else device.index
        if allow_cpu and device.type == "cpu":
            return -1
    from torch_npu.utils._error_code import ErrCode, pta_error  # it imports this module

    raise ValueError(f"Expected a npu device, but got: {device}" + pta_error(ErrCode.VALUE))
