"""What npu's float32 products and convolutions may lose, for the time of one work."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def hf32(*, convolutions: bool, products: bool = False) -> Iterator[None]:
    """HF32 allowed or forbidden; the defaults behind it: convolutions may, products may not."""
    torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = convolutions, products
    try:
        yield
    finally:
        torch.npu.conv.allow_hf32, torch.npu.matmul.allow_hf32 = True, False
