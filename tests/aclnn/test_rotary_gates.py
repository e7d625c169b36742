"""Rotary position embedding, masked softmax and gates, against torch in float64 with autograd for the gradients."""

import ctypes

import pytest
import torch

from tests.aclnn.cases import FLOATING, dtype_name, off_zero, seeded
from tests.aclnn.compare import INVALID, assert_within
from tests.aclnn.library import AclnnError, Call, Library, operators

# Shapes of cos and sin for the layouts of attention.
ROTARY = {
    "BSND": ((2, 5, 3, 16), (1, 5, 1, 16)),
    "SBND": ((5, 2, 3, 16), (5, 1, 1, 16)),
    "whole": ((2, 3, 5, 16), (2, 3, 5, 16)),
    "TND": ((7, 3, 16), (7, 1, 16)),
    "large": ((4, 100, 8, 64), (1, 100, 1, 64)),
    "empty": ((0, 3, 16), (1, 1, 16)),
}


def _rotated(x: torch.Tensor, mode: int) -> torch.Tensor:
    if mode == 0:
        left, right = x.chunk(2, -1)
        return torch.cat((-right, left), -1)
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)


def _strided(x: torch.Tensor) -> torch.Tensor:
    """The same values with gaps between them."""
    return x.repeat_interleave(2, -1)[..., ::2]


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("name", ROTARY)
@pytest.mark.parametrize("version", ["", "V2"])
def test_rotary(library: Library, version: str, name: str, mode: int, dtype: torch.dtype):
    shape, other = ROTARY[name]
    numbers_of = seeded(name, mode, dtype)
    x, cos, sin = (off_zero(size, dtype, numbers_of) for size in (shape, other, other))
    out = torch.full_like(x, 7)
    more = [None] if version else []
    library.call(f"aclnnRotaryPositionEmbedding{version}", _strided(x), cos, sin, mode, *more, out)
    widened = x.double()
    assert_within(out, widened * cos.double() + _rotated(widened, mode) * sin.double(), 16)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("name", ["BSND", "whole", "TND"])
def test_rotary_gradient(library: Library, name: str, mode: int, dtype: torch.dtype):
    shape, other = ROTARY[name]
    numbers_of = seeded(name, mode, dtype)
    grad, x, cos, sin = (off_zero(size, dtype, numbers_of) for size in (shape, shape, other, other))
    widened = [t.double().requires_grad_() for t in (x, cos, sin)]
    (widened[0] * widened[1] + _rotated(widened[0], mode) * widened[2]).backward(grad.double())
    got = [torch.full_like(t, 7) for t in (x, cos, sin)]
    library.call("aclnnRotaryPositionEmbeddingGrad", grad, cos, sin, x, mode, *got)
    for one, expected in zip(got, widened, strict=True):
        assert_within(one, expected.grad, 32)
    alone = torch.full_like(x, 7)
    library.call("aclnnRotaryPositionEmbeddingGrad", grad, cos, sin, None, mode, alone, None, None)
    assert torch.equal(alone, got[0])


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("mode", [None, "half", "interleave"])
def test_rotary_of_query_and_key_in_place(library: Library, mode: str | None, dtype: torch.dtype):
    numbers_of = seeded(mode, dtype)
    query, key = (
        off_zero((2, 5, 6, 16), dtype, numbers_of),
        off_zero((2, 5, 2, 16), dtype, numbers_of),
    )
    cos, sin = (off_zero((2, 5, 1, 16), dtype, numbers_of) for _ in range(2))
    rows = [
        x.double() * cos.double() + _rotated(x.double(), int(mode == "interleave")) * sin.double()
        for x in (query, key)
    ]
    if mode is None:
        library.call("aclnnApplyRotaryPosEmb", query, key, cos, sin, 1)
    else:
        library.call("aclnnApplyRotaryPosEmbV2", query, key, cos, sin, 1, mode)
    assert_within(query, rows[0], 16)
    assert_within(key, rows[1], 16)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("mask_shape", [(2, 3, 9, 70), (2, 1, 9, 70), (9, 70), None])
@pytest.mark.parametrize("triangular", [False, True])
def test_masked_softmax(
    library: Library, dtype: torch.dtype, mask_shape: tuple[int, ...] | None, triangular: bool
):
    numbers_of = seeded(mask_shape, dtype)
    x = off_zero((2, 3, 9, 70), dtype, numbers_of)
    mask = None if mask_shape is None else torch.rand(mask_shape, generator=numbers_of) < 0.4
    if triangular:
        hidden = torch.ones(9, 70, dtype=torch.bool).triu(1)
    else:
        hidden = torch.zeros(1, dtype=torch.bool) if mask is None else mask.clone()
        if mask is not None:
            mask[..., 3, :] = True  # a fully masked row
            hidden = mask
    widened = x.double().requires_grad_()
    expected = (widened * 0.5).masked_fill(hidden, -10000).softmax(-1)
    out = torch.full_like(x, 7)
    library.call("aclnnScaledMaskedSoftmax", _strided(x), mask, 0.5, triangular, out)
    assert_within(out, expected.detach(), 8)
    grad = off_zero(x.shape, dtype, numbers_of)
    expected.backward(grad.double())
    got = torch.full_like(x, 7)
    library.call("aclnnScaledMaskedSoftmaxBackward", grad, out, mask, 0.5, triangular, got)
    assert_within(
        got, widened.grad, 4 * 9
    )  # y is rounded, and up to 9 gradients of magnitude 3 are added per row


def _gelu(x: torch.Tensor, approximate: int) -> torch.Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh" if approximate else "none")


GATE_SHAPES = {
    "last": ((5, 7, 40), -1),
    "middle": ((5, 8, 7), 1),
    "first": ((6, 3), 0),
    "empty": ((0, 4), 1),
    "long": ((40_000,), 0),
}


GATES = {
    "SwiGlu": ("SwiGluGrad", lambda left, right: torch.nn.functional.silu(left) * right),
    "Glu": ("GluBackward", lambda left, right: left * torch.sigmoid(right)),
}


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("name", GATE_SHAPES)
@pytest.mark.parametrize("gate", GATES)
def test_gate(library: Library, gate: str, name: str, dtype: torch.dtype):
    backward, of_halves = GATES[gate]
    shape, dim = GATE_SHAPES[name]
    numbers_of = seeded(name, dtype)
    x = off_zero(shape, dtype, numbers_of)
    widened = x.double().requires_grad_()
    expected = of_halves(*widened.chunk(2, dim))
    out = torch.full(expected.shape, 7.0).to(dtype)
    library.call(f"aclnn{gate}", _strided(x), dim, out)
    assert_within(out, expected.detach(), 16)
    grad = off_zero(tuple(expected.shape), dtype, numbers_of)
    expected.backward(grad.double())
    got = torch.full_like(x, 7)
    library.call(f"aclnn{backward}", grad, x, dim, got)
    assert_within(got, widened.grad, 32)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("name", GATE_SHAPES)
@pytest.mark.parametrize("approximate", [0, 1])
@pytest.mark.parametrize("left", [False, True])
def test_ge_glu(library: Library, name: str, approximate: int, left: bool, dtype: torch.dtype):
    shape, dim = GATE_SHAPES[name]
    numbers_of = seeded(name, approximate, left, dtype)
    x = off_zero(shape, dtype, numbers_of)
    widened = x.double().requires_grad_()
    halves = widened.chunk(2, dim)
    activated = _gelu(halves[0 if left else 1], approximate)
    expected = activated * halves[1 if left else 0]
    out, gelu = (torch.full(expected.shape, 7.0).to(dtype) for _ in range(2))
    library.call("aclnnGeGluV3", x, dim, approximate, left, out, gelu)
    assert_within(out, expected.detach(), 32)
    assert_within(gelu, activated.detach(), 16)
    grad = off_zero(tuple(expected.shape), dtype, numbers_of)
    expected.backward(grad.double())
    got = torch.full_like(x, 7)
    library.call("aclnnGeGluV3Backward", grad, x, gelu, dim, approximate, left, got)
    assert_within(got, widened.grad, 64)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("shape", [(3, 700), (), (0, 2), (2, 1, 3, 1, 2, 1, 2, 1, 2)])
def test_fast_gelu(library: Library, shape: tuple[int, ...], dtype: torch.dtype):
    numbers_of = seeded(shape, dtype)
    x, grad = off_zero(shape, dtype, numbers_of), off_zero(shape, dtype, numbers_of)
    widened = x.double().requires_grad_()
    expected = widened * torch.sigmoid(1.702 * widened)
    out, got = torch.full_like(x, 7), torch.full_like(x, 7)
    library.call("aclnnFastGelu", x, out)
    assert_within(out, expected.detach(), 16)
    expected.backward(grad.double())
    library.call("aclnnFastGeluBackward", grad, x, got)
    assert_within(got, widened.grad, 32)


def test_what_is_refused(library: Library):
    x, odd = torch.ones(2, 4), torch.ones(2, 3)
    for name, arguments, message in (
        ("aclnnRotaryPositionEmbedding", (x, x, x, 2, x), "rotary mode 2"),
        ("aclnnRotaryPositionEmbedding", (odd, odd, odd, 0, odd), "rows of pairs"),
        (
            "aclnnRotaryPositionEmbedding",
            (x, torch.ones(3, 4), x, 0, x),
            "cos is float32.3, 4., which is not broadcast",
        ),
        ("aclnnRotaryPositionEmbeddingV2", (x, x, x, 0, torch.ones(4, 4), x), "rotate is given"),
        ("aclnnApplyRotaryPosEmbV2", (x, x, x, x, 1, "quarter"), "rotary mode 'quarter'"),
        ("aclnnScaledMaskedSoftmax", (x, torch.ones(3, 4), 1.0, False, x), "mask is"),
        ("aclnnSwiGlu", (odd, -1, odd), "does not cut in two"),
        ("aclnnSwiGlu", (x, 2, x), "dim is 2"),
        ("aclnnSwiGlu", (x, 0, x), "cannot be broadcast|needed"),
        ("aclnnGeGluV3", (x, 0, 2, True, x, x), "approximate is 2"),
        ("aclnnFastGelu", (x.int(), x), "floating-point types"),
    ):
        with pytest.raises(AclnnError, match=message) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID


def test_rotation_needs_no_workspace(library: Library) -> None:
    """A program may give the output's memory back before the launch: a workspace would get its address."""
    name = "aclnnRotaryPositionEmbedding"
    call = Call(library, operators()[name])
    x = torch.randn(2, 5, 3, 16)
    given = (x, torch.ones(1, 5, 1, 16), torch.zeros(1, 5, 1, 16), 0, torch.zeros_like(x))
    wanted = operators()[name].arguments
    converted = [call._convert(a, value) for a, value in zip(wanted, given, strict=True)]
    size, executor = ctypes.c_uint64(77), ctypes.c_void_p()
    plan = library.operators.aclnnRotaryPositionEmbeddingGetWorkspaceSize
    assert plan(*converted, ctypes.byref(size), ctypes.byref(executor)) == 0
    assert size.value == 0
    launch = library.operators.aclnnRotaryPositionEmbedding
    assert launch(None, ctypes.c_uint64(0), executor, library.stream) == 0
    library.check("aclrtSynchronizeStream", library.stream)
    call._release()


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("shape", [(6,), (3, 10), (2, 300, 34), (0, 4)], ids=str)
def test_gelu_and_product(library: Library, shape: tuple, approximate: str, dtype: torch.dtype):
    x = off_zero(shape, dtype, seeded("gelu mul", shape, dtype))
    out = torch.full((*shape[:-1], shape[-1] // 2), 7, dtype=dtype)
    library.call("aclnnGeluMul", _strided(x), approximate, out)
    a, b = x.double().chunk(2, -1)
    assert_within(out, torch.nn.functional.gelu(a, approximate=approximate) * b, 16)
    with pytest.raises(AclnnError, match="approximate is 'erf'"):
        library.call("aclnnGeluMul", x, "erf", out)
