"""Workarounds for PyTorch releases that mishandle a renamed device. Each names its release and is then removable."""

from collections.abc import Callable, Sequence
from functools import wraps

import torch

from torch_npu.npu import comm


def name_npu_in_dlpack() -> None:
    """``Tensor.__dlpack_device__`` compares with "privateuse1" and so rejects a renamed device.

    The C++ side exports npu tensors as kDLExtDev already; this does the same in Python.
    """
    original = torch.Tensor.__dlpack_device__

    @wraps(original)
    def dlpack_device(self: torch.Tensor) -> tuple:
        if self.device.type != "npu":
            return original(self)
        from torch.utils.dlpack import DLDeviceType

        return (DLDeviceType.kDLExtDev, self.device.index)

    torch.Tensor.__dlpack_device__ = dlpack_device


def _or_original(
    own: Callable[..., object], original: Callable[..., object] | None
) -> Callable[..., object]:
    """``own`` for npu tensors and wherever there is no GPU; ``original`` (of builds with CUDA) for the rest."""
    if original is None:
        return own

    @wraps(original)
    def copy(
        tensors: torch.Tensor | Sequence[torch.Tensor], *args: object, **named: object
    ) -> object:
        first = tensors if isinstance(tensors, torch.Tensor) else tensors[0]
        is_own = first.device.type == "npu" or not torch.cuda.is_available()
        return (own if is_own else original)(tensors, *args, **named)

    return copy


def give_data_parallel_its_copies() -> None:
    """The copies of ``torch.nn.DataParallel`` are in C++, only in builds with CUDA, and only for GPUs."""
    for name in (
        "broadcast",
        "broadcast_coalesced",
        "broadcast_out",
        "gather",
        "gather_out",
        "scatter",
        "scatter_out",
    ):
        original = getattr(torch._C, f"_{name}", None)
        setattr(torch._C, f"_{name}", _or_original(getattr(comm, name), original))


def patch_lazy_modules() -> None:
    """``UninitializedParameter`` can be moved only by ``cuda()`` and ``cpu()``."""
    allowed = torch.nn.parameter.UninitializedTensorMixin._allowed_methods
    if torch.Tensor.npu not in allowed:
        allowed.append(torch.Tensor.npu)


def apply() -> None:
    """Applies all workarounds, once."""
    patch_lazy_modules()
    name_npu_in_dlpack()
    give_data_parallel_its_copies()
