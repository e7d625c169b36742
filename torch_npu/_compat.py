"""Workarounds for PyTorch releases that mishandle a renamed device. Each names its release and is then removable."""

from functools import wraps

import torch

from torch_npu.npu import comm


def name_npu_in_dlpack() -> None:
    """Torch 2.13's ``Tensor.__dlpack_device__`` compares with "privateuse1" and so rejects a renamed device.

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


def give_data_parallel_its_copies() -> None:
    """Torch 2.13 has the copies of ``torch.nn.DataParallel`` in C++, and only in builds with CUDA."""
    for name in (
        "broadcast",
        "broadcast_coalesced",
        "broadcast_out",
        "gather",
        "gather_out",
        "scatter",
        "scatter_out",
    ):
        if not hasattr(torch._C, f"_{name}"):
            setattr(torch._C, f"_{name}", getattr(comm, name))


def let_lazy_modules_move() -> None:
    """Torch 2.13's ``UninitializedParameter`` can be moved only by ``cuda()`` and ``cpu()``."""
    allowed = torch.nn.parameter.UninitializedTensorMixin._allowed_methods
    if torch.Tensor.npu not in allowed:
        allowed.append(torch.Tensor.npu)


def apply() -> None:
    """Applies all workarounds, once."""
    let_lazy_modules_move()
    name_npu_in_dlpack()
    give_data_parallel_its_copies()
