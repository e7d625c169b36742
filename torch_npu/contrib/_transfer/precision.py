"""Backends' flags: TF32 of CUDA's products and convolutions is HF32 of npu's."""

from collections.abc import Callable

import torch


def matmul_getattr(original: Callable) -> Callable:
    """``torch.backends.cuda.matmul``: reads ``allow_tf32`` from ``torch.npu.matmul.allow_hf32``."""

    def __getattr__(self: object, name: str) -> object:  # noqa: N807
        return torch.npu.matmul.allow_hf32 if name == "allow_tf32" else original(self, name)

    return __getattr__


def matmul_setattr(original: Callable) -> Callable:
    """``torch.backends.cuda.matmul``: writes ``allow_tf32`` to ``torch.npu.matmul.allow_hf32``."""

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if name == "allow_tf32":
            torch.npu.matmul.allow_hf32 = value
        else:
            original(self, name, value)

    return __setattr__


def convolution_flag(_: object) -> property:
    """``torch.backends.cudnn.allow_tf32``: ``torch.npu.conv.allow_hf32``."""
    return property(
        lambda self: torch.npu.conv.allow_hf32,
        lambda self, value: setattr(torch.npu.conv, "allow_hf32", value),
    )
