"""Float32 convolutions with and without HF32 allowed: both must meet the judge's bounds for float32."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def may_lose_digits(name: str, dtype: torch.dtype | None) -> bool:
    """Whether HF32 changes the result of the operator or module ``name`` for ``dtype``."""
    return "conv" in name.lower() and dtype in (torch.float32, torch.complex64)


@contextmanager
def hf32(*, convolutions: bool, products: bool = False) -> Iterator[None]:
    """HF32 allowed or forbidden; afterwards the defaults: allowed for convolutions, forbidden for products."""
    torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = convolutions, products
    try:
        yield
    finally:
        torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = True, False
