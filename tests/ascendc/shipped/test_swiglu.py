"""The kernels swiglu and swiglu_backward, against float64."""

import random

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.ascendc.kernels import swiglu

from .against import RTOL, assert_close, name_of


def _shapes() -> list[tuple[int, ...]]:
    """One element, none, fewer than a block, no multiple of 32 bytes, many rows, more than local memory has."""
    draw = random.Random(3)
    drawn = [tuple(draw.randint(1, 70) for _ in range(draw.randint(1, 3))) for _ in range(4)]
    return [(), (1,), (0,), (4, 0, 3), (3,), (1, 200_003), (2049, 3), (2, 64, 256), *drawn]


def _reference(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return gate / (1 + torch.exp(-gate)) * up


def _inputs(shape: tuple[int, ...], dtype: torch.dtype, count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [(4 * torch.randn(shape, generator=generator)).to(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result_and_gradients(shape, dtype):
    gate, up, grad = _inputs(shape, dtype, 3)
    given = [x.npu().requires_grad_() for x in (gate, up)]
    widened = [x.double().requires_grad_() for x in (gate, up)]
    y = swiglu(*given)
    y.backward(grad.npu())
    expected = _reference(*widened)
    expected.backward(grad.double())
    assert_close(y, expected.detach(), dtype)
    for x, x_widened, other in zip(given, widened, (up, gate), strict=True):
        assert_close(x.grad, x_widened.grad, dtype, (grad.double() * other.double()).abs())


def test_large_numbers_are_as_in_pytorch():
    gate = torch.tensor([-3e38, -1e4, -200.0, -89.0, -0.0, 0.0, 89.0, 3e38, torch.inf, torch.nan])
    given, expected = (x.clone().requires_grad_() for x in (gate.npu(), gate))
    y = swiglu(given, torch.ones_like(given))
    y.sum().backward()
    silu = torch.nn.functional.silu(expected)
    silu.sum().backward()
    # Both have an infinite divisor where gate is far below zero: smaller results are 0.
    accuracy.assert_close(y, silu, Tolerance(1e-6))
    accuracy.assert_close(given.grad, expected.grad, Tolerance(1e-6, 1e-36))
    assert not y[:8].isnan().any()
    assert not given.grad[:8].isnan().any()


def test_tensors_that_are_not_contiguous():
    gate, up = (x.npu() for x in _inputs((6, 40, 24), torch.float32, 2))
    expected = swiglu(gate, up)
    assert torch.equal(swiglu(gate.transpose(0, 2), up.transpose(0, 2)), expected.transpose(0, 2))
    both = torch.cat((gate, up), -1).requires_grad_()
    swiglu(*both.chunk(2, -1)).sum().backward()
    parts = [x.requires_grad_() for x in (gate, up)]
    swiglu(*parts).sum().backward()
    assert torch.equal(both.grad, torch.cat([x.grad for x in parts], -1))


def test_meta_tensors():
    gate = torch.empty(3, 5, dtype=torch.half, device="meta", requires_grad=True)
    y = swiglu(gate, torch.empty_like(gate))
    assert (y.shape, y.dtype, y.device.type) == ((3, 5), torch.half, "meta")
    y.sum().backward()
    assert gate.grad.shape == (3, 5)


def test_wrong_input():
    x = torch.ones(4, 6).npu()
    with pytest.raises(
        ValueError, match=r"gate is \(4, 6\) and up \(6,\): they have to be of one shape"
    ):
        swiglu(x, x[0])
    with pytest.raises(
        ValueError, match=r"up is torch\.float16 on npu:0, gate torch\.float32 on npu:0"
    ):
        swiglu(x, x.half())
    with pytest.raises(
        ValueError, match="gate is int32; the kernel takes float32, float16, bfloat16"
    ):
        swiglu(x.int(), x.int())
    with pytest.raises(ValueError, match=r"gate is on cpu: move it to the npu, gate\.npu\(\)"):
        swiglu(x.cpu(), x.cpu())


def test_second_and_third_derivatives():
    inputs = [torch.randn(40) for _ in range(3)]
    found = []
    for function, device in (
        (swiglu, "npu"),
        (lambda a, b: torch.nn.functional.silu(a) * b, "cpu"),
    ):
        gate, up, grad = (t.to(device).requires_grad_() for t in inputs)
        first = torch.autograd.grad(function(gate, up), (gate, up), grad, create_graph=True)
        loss = first[0].square().sum() + (first[1] ** 3).sum()
        second = torch.autograd.grad(loss, (gate, up, grad), create_graph=True)
        third = torch.autograd.grad(sum(t.square().sum() for t in second), gate)
        found.append([t.detach().cpu() for t in (*second, *third)])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)
