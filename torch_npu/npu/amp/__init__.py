"""``torch.npu.amp``: PyTorch's mixed precision for npu, under the names of ``torch.cuda.amp``."""

import functools

import torch


class autocast(torch.autocast):  # noqa: N801 - the name is torch.cuda.amp's
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
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler("npu", ...)``, with its arguments."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        """See the class for the arguments."""
        super().__init__(
            "npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled=enabled
        )


custom_fwd = functools.partial(torch.amp.custom_fwd, device_type="npu")
custom_bwd = functools.partial(torch.amp.custom_bwd, device_type="npu")

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
