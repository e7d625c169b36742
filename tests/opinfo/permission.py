"""Convolutions with and without the permission of HF32: both have to be what the judge asks of float32."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def may_lose_digits(name: str) -> bool:
    """Whether the operator or module ``name`` runs convolutions, which the permission changes."""
    return "conv" in name.lower()


@contextmanager
def forbidden() -> Iterator[None]:
    """Convolutions keep float32's precision; the default behind it."""
    torch.npu.conv.allow_hf32 = False
    try:
        yield
    finally:
        torch.npu.conv.allow_hf32 = True
