"""Elements and numbers at the limits of data types, and how two results are compared."""

import math

import torch

from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import epsilon, is_inexact
from torch_npu.accuracy.elements import equal_elements, within

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
DTYPES = (*FLOATING, *INTEGRAL, torch.bool, torch.complex64)

# Midpoints between two float16 or bfloat16 numbers, numbers out of an integer's range, NaN and infinity.
NUMBERS = (
    0, 1, -1, 2, -3, 50, 255, 256, 300, -129, 70000, 2**31, 2**40, -(2**40), 2**63 - 1, 2**53 + 1, 0.0, -0.0, 0.5, -0.5,
    0.1, -0.1, 0.3, 1 / 3, 50.3, -50.3, 1e-8, 1e10, 1e300, 65520.0, 1e39, math.inf, -math.inf, math.nan, True, False,
    1.00048828125, 1.00146484375,
)  # fmt: skip

_REAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -3.0, 7.5, 50.3125, -50.3125, 100.125, 0.1, -0.1, 0.3, 1 / 3, 1000.0,
    1.0009765625, 0.0999755859375, -2.5, math.inf, -math.inf, math.nan,
)  # fmt: skip


def elements(dtype: torch.dtype) -> torch.Tensor:
    """Numbers of ``dtype``: two of the CPU's vectors and a remainder."""
    if dtype == torch.bool:
        return torch.tensor([True, False, False] * 13)
    if dtype.is_complex:
        return torch.tensor([1, 2.5, -3j, 1 + 2j, 50.3125, -0.1] * 6, dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(_REAL * 2, dtype=torch.float64).to(dtype)
    largest = torch.iinfo(dtype).max
    least = (
        0 if dtype == torch.uint8 else -largest
    )  # the smallest integer divided by -1 crashes the CPU's process
    real = (
        0,
        1,
        2,
        3,
        7,
        50,
        100,
        largest,
        largest - 1,
        least,
        least + 1,
        least + 3,
        largest // 2,
    )
    return torch.tensor(real * 3, dtype=dtype)


def attempt(call, x: torch.Tensor, number) -> object:
    """The result, or the error."""
    try:
        return call(x, number)
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        return error


def one_by_one(call, x: torch.Tensor, number) -> object:
    """The result element by element: the CPU's vectors and its remainder round differently."""
    results = [call(x[i : i + 1], number) for i in range(len(x))]
    if isinstance(results[0], torch.Tensor):
        return torch.cat(results)
    return [torch.cat(parts) for parts in zip(*results, strict=True)]


def tensors(result) -> list[torch.Tensor]:
    """The result as a list of tensors."""
    return [result] if isinstance(result, torch.Tensor) else list(result)


def same(expected: torch.Tensor, actual: torch.Tensor, roundings: int = 0) -> torch.Tensor:
    """Where two results agree, up to ``roundings`` of the type; the direction of complex infinities is ignored."""
    agree = equal_elements(expected, actual)
    if expected.is_complex():
        agree |= expected.isinf() & actual.isinf()
    if roundings == 0 or not is_inexact(expected.dtype):
        return agree
    tolerance = Tolerance(roundings * epsilon(expected.dtype))
    return agree | within(expected, actual, tolerance.bound(expected))


def near(reference: torch.Tensor, actual: torch.Tensor, roundings: int) -> torch.Tensor:
    """Where a result agrees with one in double precision, up to ``roundings`` of it, and one of 1 if terms cancel."""
    agree = same(reference.to(actual.dtype), actual, roundings)
    return agree | within(reference, actual, epsilon(actual.dtype))
