"""What the tests of products share: the bound of their sums."""

import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

from .against import RTOL


def assert_sums_close(
    actual: torch.Tensor, expected: torch.Tensor, size: torch.Tensor, depth: int, steps: int = 1
) -> None:
    """Compares sums of ``depth`` terms in float32, rounded to ``actual``'s type, with float64.

    Args:
        actual: of the kernel, on the npu.
        expected: in float64.
        size: the sums of the terms' absolute values.
        depth: each term is rounded once, and each addition.
        steps: how many such sums are in turn.
    """
    assert actual.device.type == "npu"
    lost = (
        steps * (depth + 4) * torch.finfo(torch.float32).eps * size
        + torch.finfo(actual.dtype).smallest_normal
    )
    accuracy.assert_close(actual, expected, Tolerance(RTOL[actual.dtype], lost))
