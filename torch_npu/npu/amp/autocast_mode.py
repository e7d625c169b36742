"""Autocast for npu, and its decorators for custom autograd functions."""

from collections.abc import Callable
from types import TracebackType

import torch
from typing_extensions import deprecated


class autocast(torch.amp.autocast_mode.autocast):  # noqa: N801 - the name is torch.cuda.amp's
    """``torch.autocast("npu", ...)``.

    Args:
        enabled: whether operators are cast.
        dtype: the target dtype; float16 or bfloat16.
        cache_enabled: whether casts of parameters are cached until the block ends.
    """

    def __init__(
        self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
    ) -> None:
        """See the class for the arguments."""
        if torch._jit_internal.is_scripting():
            self._enabled = enabled
            self.device = "npu"
            self.fast_dtype = dtype
            return
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)

    def __enter__(self) -> "autocast":
        """Begins to cast."""
        if torch._jit_internal.is_scripting():
            return self
        super().__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Ends, and drops the cached casts with the outermost block."""
        if torch._jit_internal.is_scripting():
            return None
        return super().__exit__(exc_type, exc_val, exc_tb)

    def __call__(self, func: Callable) -> Callable:
        """Decorates ``func`` so that it runs under autocast."""
        if torch._jit_internal.is_scripting():
            return func
        return super().__call__(func)


@deprecated(
    "`torch_npu.npu.amp.custom_fwd(args...)` is deprecated. "
    "Please use `torch.amp.custom_fwd(args..., device_type='npu')` instead.",
    category=FutureWarning,
)
def custom_fwd(fwd: Callable | None = None, *, cast_inputs: torch.dtype | None = None) -> Callable:
    """``torch.amp.custom_fwd`` for npu, for the forward method of an autograd function.

    Args:
        fwd: the method; None gives a decorator.
        cast_inputs: floating npu tensors among the arguments are cast to it, and autocast is off in the method.
    """
    return torch.amp.custom_fwd(fwd, device_type="npu", cast_inputs=cast_inputs)


@deprecated(
    "`torch_npu.npu.amp.custom_bwd(args...)` is deprecated. "
    "Please use `torch.amp.custom_bwd(args..., device_type='npu')` instead.",
    category=FutureWarning,
)
def custom_bwd(bwd: Callable) -> Callable:
    """``torch.amp.custom_bwd`` for npu: the backward method runs under its forward method's autocast."""
    return torch.amp.custom_bwd(bwd, device_type="npu")


__all__ = ["autocast", "custom_bwd", "custom_fwd"]
