"""Gradient scaling over the ranks of a process group: PyTorch's for FSDP, with npu as its device."""

import torch.distributed as dist
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

__all__: list[str] = []


class _ShardedGradScaler(ShardedGradScaler):
    """``torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler("npu", ...)``, with its arguments."""

    def __init__(
        self,
        device: str = "npu",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: dist.ProcessGroup | None = None,
    ) -> None:
        """The group of all ranks is used if ``process_group`` is None."""
        super().__init__(
            device,
            init_scale,
            backoff_factor,
            growth_factor,
            growth_interval,
            enabled,
            process_group if process_group is not None else dist.group.WORLD,
        )
