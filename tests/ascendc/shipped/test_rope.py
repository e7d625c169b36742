"""The kernel rope in both directions, against complex products in float64."""

import random

import pytest
import torch

from torch_npu.ascendc.kernels import rope

from .against import RTOL, assert_close, name_of

TYPES = [(x, x) for x in RTOL] + [(torch.float16, torch.float32), (torch.bfloat16, torch.float32)]


def _shapes() -> list[tuple[int, int, int, int]]:
    """One pair, no elements, halves that fill no block, one and many positions, heads, and wide heads."""
    draw = random.Random(7)
    drawn = [
        (draw.randint(1, 3), draw.randint(1, 40), draw.randint(1, 9), 2 * draw.randint(1, 70))
        for _ in range(4)
    ]
    few = [(1, 1, 1, 2), (0, 3, 2, 4), (2, 0, 2, 4), (1, 3, 0, 4), (2, 3, 4, 6), (3, 1, 7, 18)]
    many = [(1, 300, 1, 2), (1, 9, 300, 16), (2, 2, 3, 2500), (1, 9, 40, 128), (1, 1, 500, 128)]
    return [*few, *many, *drawn]


def _inputs(
    shape: tuple[int, ...], dtype: torch.dtype, table: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, a gradient of the result, cos and sin."""
    generator = torch.Generator().manual_seed(11)
    angles = 100 * torch.randn((shape[1], shape[3] // 2), generator=generator)
    x, grad = (torch.randn(shape, generator=generator).to(dtype) for _ in range(2))
    return x, grad, angles.cos().to(table), angles.sin().to(table)


def _reference(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> torch.Tensor:
    parts = x.double().unflatten(-1, (-1, 2) if interleaved else (2, -1))
    numbers = torch.complex(*parts.unbind(-1 if interleaved else -2))
    rotated = numbers * torch.complex(cos.double(), sin.double())[:, None]
    return torch.stack((rotated.real, rotated.imag), -1 if interleaved else -2).flatten(-2)


@pytest.mark.parametrize("interleaved", [False, True], ids=("halves", "interleaved"))
@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(map(name_of, types)))
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result_and_gradient(shape, types, interleaved):
    x, grad, cos, sin = _inputs(shape, *types)
    given, widened = x.npu().requires_grad_(), x.double().requires_grad_()
    y = rope(given, cos.npu(), sin.npu(), interleaved=interleaved)
    y.backward(grad.npu())
    expected = _reference(widened, cos, sin, interleaved)
    expected.backward(grad.double())
    # Two products of numbers, of which the largest are below 6.
    assert_close(y, expected.detach(), types[0], 12.0)
    assert_close(given.grad, widened.grad, types[0], 12.0)


@pytest.mark.parametrize("interleaved", [False, True], ids=("halves", "interleaved"))
def test_numbers_that_are_not_finite_stay_in_their_pairs(interleaved):
    x, _, cos, sin = _inputs((1, 3, 2, 10), torch.float32, torch.float32)
    x[0, 1, 1, 4] = torch.nan
    y = rope(x.npu(), cos.npu(), sin.npu(), interleaved=interleaved).cpu()
    assert y.isnan().nonzero().tolist() == [[0, 1, 1, 4], [0, 1, 1, 5 if interleaved else 9]]


def test_tensors_that_are_not_contiguous():
    x, _, cos, sin = (t.npu() for t in _inputs((2, 12, 6, 20), torch.float32, torch.float32))
    expected = rope(x, cos, sin)
    by_heads = x.transpose(1, 2).contiguous().requires_grad_()
    y = rope(by_heads.transpose(1, 2), cos.t().contiguous().t(), sin)
    assert torch.equal(y, expected)
    y.transpose(1, 2).sum().backward()
    again = x.requires_grad_()
    rope(again, cos, sin).sum().backward()
    assert torch.equal(by_heads.grad, again.grad.transpose(1, 2))


def test_second_derivatives():
    x, grad, cos, sin = (t.npu() for t in _inputs((1, 5, 2, 8), torch.float32, torch.float32))
    x.requires_grad_()
    grad.requires_grad_()
    (first,) = torch.autograd.grad(rope(x, cos, sin), x, grad, create_graph=True)
    (second,) = torch.autograd.grad(first, grad, x.detach())
    assert torch.equal(second, rope(x.detach(), cos, sin))


def test_meta_tensors():
    x = torch.empty(2, 3, 4, 8, dtype=torch.half, device="meta", requires_grad=True)
    cos = torch.empty(3, 4, device="meta")
    y = rope(x, cos, cos)
    assert (y.shape, y.dtype, y.device.type) == ((2, 3, 4, 8), torch.half, "meta")
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_wrong_input():
    x, _, cos, sin = (t.npu() for t in _inputs((2, 3, 4, 8), torch.float32, torch.float32))
    with pytest.raises(ValueError, match=r"x is \(3, 4, 8\): it has to be \[batch, sequence"):
        rope(x[0], cos, sin)
    with pytest.raises(ValueError, match=r"x is \(2, 3, 4, 7\): .* with an even head_dim"):
        rope(x[..., :7], cos, sin)
    with pytest.raises(
        ValueError, match=r"cos is \(2, 4\) and sin \(3, 4\): both have to be \(3, 4\)"
    ):
        rope(x, cos[:2], sin)
    with pytest.raises(
        ValueError, match=r"cos is \(3, 4\) and sin \(3, 2\): both have to be \(3, 4\)"
    ):
        rope(x, cos, sin[:, :2])
    with pytest.raises(
        ValueError, match=r"cos and sin are torch\.float16 on npu:0, x torch\.float32"
    ):
        rope(x, cos.half(), sin.half())
    with pytest.raises(ValueError, match=r"sin is torch\.float16 on npu:0, cos torch\.float32"):
        rope(x, cos, sin.half())
    with pytest.raises(ValueError, match="x is int32; the kernel takes float32, float16, bfloat16"):
        rope(x.int(), cos, sin)
    with pytest.raises(ValueError, match=r"x is on cpu: move it to the npu, x\.npu\(\)"):
        rope(x.cpu(), cos, sin)


def test_cos_and_sin_get_no_gradient():
    x, _, cos, sin = (t.npu() for t in _inputs((2, 3, 4, 8), torch.float32, torch.float32))
    for tables in ((cos.clone().requires_grad_(), sin), (cos, sin.clone().requires_grad_())):
        with pytest.raises(ValueError, match="cos and sin get no gradient"):
            rope(x, *tables)
        with torch.no_grad():
            assert torch.equal(rope(x, *tables), rope(x, cos, sin))
