"""Float32 convolutions with and without the permission of HF32: both have to be what the judge asks of float32."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def may_lose_digits(name: str, dtype: torch.dtype | None) -> bool:
    """Whether the permission changes what the operator or module ``name`` computes from ``dtype``."""
    return "conv" in name.lower() and dtype in (torch.float32, torch.complex64)


@contextmanager
def hf32(*, convolutions: bool, products: bool = False) -> Iterator[None]:
    """HF32 allowed or forbidden; the defaults behind it: convolutions may, products may not."""
    torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = convolutions, products
    try:
        yield
    finally:
        torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = True, False
