"""``torch.npu.amp``: PyTorch's mixed precision for npu, under the names of ``torch.cuda.amp``."""

from torch_npu.npu.amp import autocast_mode, common, grad_scaler
from torch_npu.npu.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from torch_npu.npu.amp.grad_scaler import GradScaler


def __getattr__(name: str) -> object:
    # Loaded on use: it imports torch.distributed.fsdp.
    if name == "sharded_grad_scaler":
        from importlib import import_module

        return import_module("torch_npu.npu.amp.sharded_grad_scaler")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "GradScaler",
    "autocast",
    "autocast_mode",
    "common",
    "custom_bwd",
    "custom_fwd",
    "grad_scaler",
]
