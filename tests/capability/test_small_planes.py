"""Pooling, interpolation and padding of many small planes, which one table computes (softnpu/ops/planes)."""

import pytest
import torch
import torch.nn.functional as F

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

# Numbers of planes that fill steps of several planes, and that do not.
COUNTS = (7, 8, 9, 31, 32, 33, 257, 5000)
# The source's values, from one vector to more than two.
SIZES = ((1, 1), (1, 4), (2, 3), (4, 4), (3, 7), (5, 6), (9, 9), (16, 16))


def planes(count: int, size: tuple[int, ...]) -> torch.Tensor:
    """Random planes, some of whose values are no numbers or infinite."""
    x = torch.randn(count, 1, *size, generator=torch.Generator().manual_seed(count))
    x.view(-1)[::41] = float("nan")
    x.view(-1)[1::43] = float("inf")
    return x


def compare(work, x: torch.Tensor) -> None:
    """``work`` and its gradient on npu and on the CPU; sums are of at most 256 float32 values."""
    cpu, npu = x.clone().requires_grad_(), x.npu().requires_grad_()
    expected, result = work(cpu), work(npu)
    terms = 256 * torch.finfo(torch.float32).eps
    accuracy.assert_close(result, expected, Tolerance(terms, terms))
    grad = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1))
    expected.backward(grad)
    result.backward(grad.npu())
    accuracy.assert_close(npu.grad, cpu.grad, Tolerance(terms, terms))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_windows(count: int, size: tuple[int, ...]) -> None:
    x = planes(count, size)
    for output in ((1, 1), (2, 2), size, (3, 5)):
        compare(lambda x, output=output: F.adaptive_avg_pool2d(x, output), x)
        compare(lambda x, output=output: F.adaptive_max_pool2d(x, output), x)
    if min(size) >= 3:
        compare(lambda x: F.avg_pool2d(x, 3, 2, 1, True, False), x)
        compare(lambda x: F.avg_pool2d(x, 2, 1, 1, False, True, 3), x)
        compare(lambda x: F.max_pool2d(x, 3, 2, 1, 1, True), x)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_indices_of_maxima(count: int, size: tuple[int, ...]) -> None:
    x = planes(count, size)
    expected = F.adaptive_max_pool2d(x, (2, 3), return_indices=True)
    result = F.adaptive_max_pool2d(x.npu(), (2, 3), return_indices=True)
    for npu, cpu in zip(result, expected, strict=True):
        accuracy.assert_close(npu, cpu, Tolerance())


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_interpolation(count: int, size: tuple[int, ...], mode: str) -> None:
    # Weights of 0 make infinite values NaN, in another order of operations others.
    x = planes(count, size).nan_to_num(0, 1, 1) if "bi" in mode else planes(count, size)
    for output in ((1, 1), (3, 2), (7, 9)):
        compare(lambda x, output=output: F.interpolate(x, output, mode=mode), x)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_padding(count: int, size: tuple[int, ...]) -> None:
    x = planes(count, size)
    for padding in ((1, 2, 0, 3), (0, 0, 1, 0), (4, 4, 4, 4)):
        compare(lambda x, padding=padding: F.pad(x, padding, "replicate"), x)
        if max(padding) < min(size):
            compare(lambda x, padding=padding: F.pad(x, padding, "reflect"), x)
    if min(size) > 2:
        compare(lambda x: F.pad(x, (1, -1, -2, 3), "replicate"), x)
