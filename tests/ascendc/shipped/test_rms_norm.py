"""The kernels rms_norm and rms_norm_backward, against float64."""

import random

import pytest
import torch

from torch_npu.ascendc.kernels import rms_norm

from .against import RTOL, assert_close, name_of

EPSILON = 1e-3


def _shapes() -> list[tuple[int, ...]]:
    """No rows, one element, no multiple of 32 bytes, more rows than cores, wider than local memory."""
    draw = random.Random(7)
    drawn = [tuple(draw.randint(1, 90) for _ in range(draw.randint(1, 4))) for _ in range(4)]
    return [(0, 8), (1,), (1, 1), (3, 0, 5), (51, 33), (200, 16), (3, 20_001), *drawn]


def _reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPSILON) * weight


def _inputs(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(11)
    shapes = (shape, shape[-1:], shape)
    return [(2 * torch.randn(s, generator=generator)).to(dtype) for s in shapes]


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result_and_gradients(shape, dtype):
    x, weight, grad = _inputs(shape, dtype)
    given = [t.npu().requires_grad_() for t in (x, weight)]
    widened = [t.double().requires_grad_() for t in (x, weight)]
    y = rms_norm(*given, epsilon=EPSILON)
    y.backward(grad.npu())
    expected = _reference(*widened)
    expected.backward(grad.double())

    scale = ((widened[0] ** 2).mean(-1, keepdim=True) + EPSILON).rsqrt().detach()
    parts = (grad.double() * widened[0].detach() * scale).abs()
    weighted = (parts * widened[1].detach().abs()).mean(-1, keepdim=True)
    own = (grad.double() * widened[1].detach() * scale).abs()
    assert_close(y, expected.detach(), dtype)
    assert_close(
        given[0].grad, widened[0].grad, dtype, own + widened[0].detach().abs() * scale * weighted
    )
    assert_close(given[1].grad, widened[1].grad, dtype, parts.reshape(-1, shape[-1]).sum(0))


def test_strided_input_is_as_its_copy():
    x = torch.randn(6, 40, 3, device="npu").transpose(1, 2)
    weight = torch.randn(80, device="npu")[::2]
    assert torch.equal(rms_norm(x, weight), rms_norm(x.contiguous(), weight.contiguous()))


def test_large_values_do_not_overflow_in_half():
    x = torch.full((2, 300), 6e4, dtype=torch.float16)
    y = rms_norm(x.npu(), torch.ones(300, dtype=torch.float16, device="npu"))
    assert torch.equal(y.cpu(), torch.ones_like(x))


def test_nan_and_infinity_are_as_in_the_formula():
    x = torch.randn(3, 50)
    x[0, 3], x[1, 7] = torch.nan, torch.inf
    weight = torch.ones(50)
    y = rms_norm(x.npu(), weight.npu(), epsilon=EPSILON).cpu()
    assert torch.equal(y.isnan(), _reference(x, weight).isnan())
    assert torch.equal(y[1].nan_to_num(9), torch.zeros(50).index_fill(0, torch.tensor(7), 9))


def test_meta_tensors_have_shape_and_type():
    x = torch.empty(4, 5, 6, device="meta", dtype=torch.float16)
    y = rms_norm(x, torch.empty(6, device="meta", dtype=torch.float16))
    assert (y.shape, y.dtype, y.device.type) == (x.shape, torch.float16, "meta")


def test_compiled_is_as_eager():
    x, weight = torch.randn(5, 70, device="npu"), torch.randn(70, device="npu")
    compiled = torch.compile(lambda x, w: rms_norm(x, w) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x, weight), rms_norm(x, weight) + 1)


@pytest.mark.parametrize(
    ("x", "weight", "words"),
    [
        (torch.ones(2, 3), torch.ones(3), "x is on cpu: move it to the npu"),
        (torch.ones(2, 3, device="npu"), torch.ones(3), "weight is on cpu: move it to the npu"),
        (torch.ones(2, 3, device="npu"), torch.ones(4, device="npu"), "weight has to have one"),
        (torch.ones((), device="npu"), torch.ones(1, device="npu"), "weight has to have one"),
        (torch.ones(2, 0, device="npu"), torch.ones(0, device="npu"), "at least 1"),
        (torch.ones(2, 3, device="npu"), torch.ones(3, device="npu").half(), "have to be the same"),
        (torch.ones(2, 3, device="npu").int(), torch.ones(3, device="npu").int(), "x is int32"),
    ],
)
def test_wrong_input_is_one_error(x, weight, words):
    with pytest.raises(ValueError, match=words):
        rms_norm(x, weight)


def test_compiled_gradients_of_a_transposed_tensor_are_as_eager():
    weight = torch.randn(5).npu()
    grads = []
    for function in (rms_norm, torch.compile(rms_norm, fullgraph=True, backend="aot_eager")):
        x = torch.randn(5, 7, generator=torch.Generator().manual_seed(1)).npu().t().requires_grad_()
        function(x, weight).square().sum().backward()
        grads.append(x.grad)
    torch.testing.assert_close(*grads)
    x = torch.empty(5, 7, device="meta").t()
    rstd = torch.empty(7, device="meta")
    first = torch.ops.ascendc.rms_norm_backward(x, x, torch.empty(5, device="meta"), rstd)[0]
    assert first.is_contiguous()


def test_there_is_no_second_derivative():
    x, weight = torch.randn(3, 5).npu().requires_grad_(), torch.randn(5).npu()
    (grad,) = torch.autograd.grad(rms_norm(x, weight).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="rms_norm_backward has no gradient"):
        grad.sum().backward()
