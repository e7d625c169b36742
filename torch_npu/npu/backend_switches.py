"""Switches of backends: attention and linear algebra. Interfaces follow torch.backends.cuda."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torch_npu._core.warnings import warn


def flash_sdp_enabled() -> bool:
    """Whether ``scaled_dot_product_attention`` may use the fused attention operator."""
    return torch._C._get_flash_sdp_enabled()


def enable_flash_sdp(enabled: bool) -> None:
    """Allows or forbids the fused attention operator, which is npu's only fused one. The choice is the process's."""
    torch._C._set_sdp_use_flash(enabled)
    torch._C._set_sdp_use_overrideable(
        enabled
    )  # PyTorch's name for fused attention of other devices


def mem_efficient_sdp_enabled() -> bool:
    """The value of :func:`enable_mem_efficient_sdp`."""
    return torch._C._get_mem_efficient_sdp_enabled()


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Sets PyTorch's flag for memory-efficient attention, which CUDA has and npu does not."""
    torch._C._set_sdp_use_mem_efficient(enabled)


def math_sdp_enabled() -> bool:
    """Whether ``scaled_dot_product_attention`` may run as single operators."""
    return torch._C._get_math_sdp_enabled()


def enable_math_sdp(enabled: bool) -> None:
    """Sets PyTorch's flag for attention by single operators. Calls that no fused operator takes need it."""
    torch._C._set_sdp_use_math(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True
) -> Iterator[dict]:
    """Context manager that sets the three flags for its block."""
    setters = (enable_flash_sdp, enable_math_sdp, enable_mem_efficient_sdp)
    before = (flash_sdp_enabled(), math_sdp_enabled(), mem_efficient_sdp_enabled())
    wanted = (enable_flash, enable_math, enable_mem_efficient)
    try:
        for setter, value in zip(setters, wanted, strict=True):
            setter(value)
        yield {}
    finally:
        for setter, value in zip(setters, before, strict=True):
            setter(value)


def preferred_linalg_library(
    backend: str | torch._C._LinalgBackend | None = None,
) -> torch._C._LinalgBackend:
    """The library of linear algebra operators: npu has one, the default.

    Args:
        backend: a name or value of ``torch.backends.cuda.preferred_linalg_library``; all but the default warn.

    Raises:
        RuntimeError: there is no such library.
    """
    names = {"default", "cusolver", "magma"}
    default = torch._C._LinalgBackend.Default
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(
                f"Unknown input value. Choose from: {', '.join(sorted(names))}, but got {backend!r}."
            )
        is_default = backend == "default"
    elif backend is None or isinstance(backend, torch._C._LinalgBackend):
        is_default = backend in (None, default)
    else:
        raise RuntimeError(f"Unknown input value type: {type(backend).__name__}")
    if not is_default:
        warn(
            f"torch.npu.preferred_linalg_library: npu has one library; {backend} is not used",
            stacklevel=2,
        )
    return default
