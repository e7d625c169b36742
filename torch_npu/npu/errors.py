"""Exceptions of ``torch.npu``, under the names of ``torch.cuda``."""

import torch

#: Device memory could not be allocated; a :class:`RuntimeError`.
OutOfMemoryError = torch._C.OutOfMemoryError
#: Work on the device failed, or a call of its runtime; a :class:`RuntimeError`.
AcceleratorError = torch._C.AcceleratorError


class DeferredNpuCallError(RuntimeError):
    """A call that was stored until the device's initialisation failed there."""


__all__ = ["AcceleratorError", "DeferredNpuCallError", "OutOfMemoryError"]
