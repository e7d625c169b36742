"""Autocast's state of the device npu, under the names that the official plug-in has for it."""

import torch


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that autocast may use on npu."""
    return [torch.float16, torch.bfloat16, torch.float32]


def is_autocast_enabled() -> bool:
    """Whether ``torch.autocast("npu")`` is active in this thread."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enable: bool) -> None:
    """Switches autocast for npu on or off in this thread, without a context manager."""
    torch.set_autocast_enabled("npu", enable)


def get_autocast_dtype() -> torch.dtype:
    """The dtype to which autocast casts on npu; float16 by default."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Sets the dtype of :func:`get_autocast_dtype` in this thread: float16 or bfloat16."""
    torch.set_autocast_dtype("npu", dtype)


__all__ = [
    "get_amp_supported_dtype",
    "get_autocast_dtype",
    "is_autocast_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]
