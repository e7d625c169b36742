"""What the tests of this folder share: types with their tolerances, and the comparison with float64."""

import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

RTOL = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 1e-2}


def name_of(value: object) -> str:
    """For the names of tests: a shape or a type."""
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    return "x".join(map(str, value)) or "scalar" if isinstance(value, tuple) else str(value)


def assert_close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    dtype: torch.dtype,
    terms: torch.Tensor | float = 0.0,
) -> None:
    """Compares a result with float64.

    Args:
        actual: of the kernel, on the npu.
        expected: in float64.
        dtype: that the result has to have. It is rounded once: ``RTOL`` of the value, and what a subnormal loses.
        terms: the size of what is added, where terms cancel: they are rounded to float32 before.
    """
    assert actual.dtype == dtype
    assert actual.device.type == "npu"
    numbers = torch.finfo(dtype)
    terms = torch.as_tensor(terms, dtype=torch.float64)
    lost = numbers.smallest_normal * numbers.eps + 8 * torch.finfo(torch.float32).eps * terms
    accuracy.assert_close(actual, expected, Tolerance(RTOL[dtype], lost))
