"""The kernel softmax, against float64."""

import random

import pytest
import torch

from torch_npu.ascendc.kernels import softmax

from .against import RTOL, assert_close, name_of

WIDENED = 20_003  # columns: more than local memory takes, in several tiles


def _shapes() -> list[tuple[int, ...]]:
    """No rows, no columns, one element, few and many columns, more rows than a tile has, a tile's limits."""
    draw = random.Random(3)
    drawn = [tuple(draw.randint(1, 70) for _ in range(draw.randint(1, 4))) for _ in range(6)]
    edges = [(5, 64), (5, 65), (2, 4096), (2, 11_072), (2, 11_073), (3, WIDENED)]
    return [(0, 8), (3, 0), (1,), (1, 1), (500, 1), (1000, 7), (300, 33), (70, 130), *edges, *drawn]


def _reference(x: torch.Tensor) -> torch.Tensor:
    powers = torch.exp(x - x.amax(-1, keepdim=True)) if x.numel() else x
    return powers / powers.sum(-1, keepdim=True)


def _input(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return (3 * torch.randn(shape, generator=torch.Generator().manual_seed(4))).to(dtype)


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result(shape, dtype):
    x = _input(shape, dtype)
    assert_close(softmax(x.npu()), _reference(x.double()), dtype)


@pytest.mark.parametrize("columns", [1, 9, 64, 200, WIDENED])
def test_gradient(columns):
    x, grad = _input((4, columns), torch.float32), torch.randn(4, columns)
    given, widened = x.npu().requires_grad_(), x.double().requires_grad_()
    softmax(given).backward(grad.npu())
    y = _reference(widened)
    y.backward(grad.double())
    terms = (y * (grad.abs() + (grad * y).abs().sum(-1, keepdim=True))).detach()
    assert_close(given.grad, widened.grad, torch.float32, terms)


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("columns", [8, 64, 500, WIDENED])
def test_values_that_are_not_finite_are_as_in_pytorch(columns, dtype):
    x = _input((8, columns), dtype)
    x[0] = -torch.inf
    x[1, columns // 2] = torch.nan
    x[2, -1] = torch.inf
    x[3, : columns - 1] = -torch.inf
    x[4, 1:] = -torch.inf
    x[5] = torch.finfo(dtype).max
    x[6, :] = torch.finfo(dtype).min
    y = softmax(x.npu())
    assert_close(y, torch.softmax(x.double(), -1), dtype)
    assert y.isnan().all(-1).tolist() == [True] * 3 + [False] * 5
    assert (y[3, -1], y[4, 0]) == (1, 1)


def test_a_maximum_that_grows_from_tile_to_tile_rescales_the_sum():
    x = torch.linspace(-60, 60, WIDENED).repeat(3, 1)
    x[1] = x[1].flip(0)
    x[2] = 60 * torch.cos(x[2])
    assert_close(softmax(x.npu()), _reference(x.double()), torch.float32)


def test_tensors_that_are_not_contiguous():
    x = _input((6, 40, 30), torch.float32).npu()
    for view in (x.transpose(0, 2), x[:, ::3, 1:], x[:, :1].expand(6, 5, 30)):
        assert torch.equal(softmax(view), softmax(view.contiguous()))


def test_meta_tensors_have_shape_and_type():
    x = torch.empty(4, 5, 6, device="meta", dtype=torch.half, requires_grad=True)
    y = softmax(x)
    assert (y.shape, y.dtype, y.device.type) == (x.shape, torch.half, "meta")
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_compiled_is_as_eager():
    x = _input((5, 70), torch.float32).npu()
    compiled = torch.compile(lambda t: softmax(t) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), softmax(x) + 1)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (torch.ones(2, 3), "x is on cpu: move it to the npu"),
        (torch.ones((), device="npu"), "x is a scalar: at least one dimension is needed"),
        (torch.ones(2, 3, device="npu").long(), "x is int64; the kernel takes float32, float16"),
    ],
)
def test_wrong_input_is_one_error(x, words):
    with pytest.raises(ValueError, match=words):
        softmax(x)
