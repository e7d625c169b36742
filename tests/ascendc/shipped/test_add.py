"""The kernel add, against float64."""

import random

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.ascendc.kernels import _operator, add

from .against import RTOL, assert_close, name_of


def _shapes() -> list[tuple[int, ...]]:
    """One element, none, fewer than a block, one tile and its neighbours, more than all local memories have."""
    draw = random.Random(1)
    drawn = [tuple(draw.randint(1, 60) for _ in range(draw.randint(1, 4))) for _ in range(6)]
    fixed = [(), (1,), (0,), (3, 0, 2), (7,), (1, 33), (4095,), (4096,), (4097,), (3, 700_001)]
    return [*fixed, *drawn]


def _inputs(shape: tuple[int, ...], dtype: torch.dtype, count: int = 2) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    return [(100 * torch.randn(shape, generator=generator)).to(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result(shape, dtype):
    x, y = _inputs(shape, dtype)
    assert_close(add(x.npu(), y.npu()), x.double() + y.double(), dtype)


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
def test_each_sum_is_rounded_once(dtype):
    x, y = _inputs((5, 1013), dtype)
    assert torch.equal(add(x.npu(), y.npu()).cpu(), x + y)


def test_values_without_a_finite_sum():
    x = torch.tensor([torch.inf, torch.inf, -torch.inf, torch.nan, 65504.0, -0.0], dtype=torch.half)
    y = torch.tensor([1.0, -torch.inf, -1.0, 1.0, 65504.0, -0.0], dtype=torch.half)
    z = add(x.npu(), y.npu()).cpu()
    accuracy.assert_close(z, x + y, Tolerance())
    assert z[-1].signbit()


def test_gradients():
    x, y, grad = _inputs((3, 37), torch.float32, 3)
    given = [value.npu().requires_grad_() for value in (x, y)]
    widened = [value.double().requires_grad_() for value in (x, y)]
    add(*given).backward(grad.npu())
    (widened[0] + widened[1]).backward(grad.double())
    for value, reference in zip(given, widened, strict=True):
        assert torch.equal(value.grad.cpu().double(), reference.grad)


def test_tensors_that_are_not_contiguous():
    x, y = (value.npu() for value in _inputs((6, 40, 24), torch.float32))
    expected = add(x, y)
    assert torch.equal(add(x.transpose(0, 2), y.transpose(0, 2)), expected.transpose(0, 2))
    assert torch.equal(add(x[:, ::3, 1:], y[:, ::3, 1:]), expected[:, ::3, 1:])
    row = x[:1].expand(6, 40, 24)
    assert torch.equal(add(row, y), add(row.contiguous(), y))


def test_meta_tensors():
    x = torch.empty(3, 5, dtype=torch.half, device="meta", requires_grad=True)
    z = add(x, torch.empty_like(x))
    assert (z.shape, z.dtype, z.device.type) == ((3, 5), torch.half, "meta")
    z.sum().backward()
    assert x.grad.shape == (3, 5)


def test_wrong_input():
    x = torch.ones(4, 6).npu()
    with pytest.raises(
        ValueError, match=r"x is \(4, 6\) and y \(6,\): they have to be of one shape"
    ):
        add(x, x[0])
    with pytest.raises(
        ValueError, match=r"y is torch\.float16 on npu:0, x torch\.float32 on npu:0"
    ):
        add(x, x.half())
    with pytest.raises(ValueError, match="x is int32; the kernel takes float32, float16, bfloat16"):
        add(x.int(), x.int())
    with pytest.raises(ValueError, match=r"x is on cpu: move it to the npu, x\.npu\(\)"):
        add(x.cpu(), x.cpu())


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="add: y has to be a tensor, not float"):
        add(torch.ones(3).npu(), 1.0)


def test_numbers_that_a_tiling_cannot_have_are_refused():
    with pytest.raises(OverflowError, match="tile is 4294967297"):
        _operator.tiling("add").pack(count=1, tile=2**32 + 1)
