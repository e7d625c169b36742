"""The kernel linear, against float64."""

import pytest
import torch

from torch_npu.ascendc.kernels import linear

from .against import RTOL, name_of
from .products import assert_sums_close

SHAPES = [
    ((1, 1), 1),
    ((3, 5), 7),
    ((16, 16), 16),
    ((2, 65, 40), 130),
    ((300, 64), 200),
    ((129, 700), 257),
    ((9,), 4),
]
ACTIVATIONS = {
    "none": lambda z: z,
    "relu": torch.relu,
    "silu": torch.nn.functional.silu,
    "gelu": lambda z: torch.nn.functional.gelu(z, approximate="tanh"),
}


def _inputs(shape: tuple[int, ...], columns: int, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    sizes = (shape, (columns, shape[-1]), (columns,))
    return [torch.randn(size, generator=generator).to(dtype) for size in sizes]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize(("shape", "columns"), SHAPES, ids=name_of)
def test_result(shape, columns, dtype, activation):
    x, weight, bias = _inputs(shape, columns, dtype)
    y = linear(x.npu(), weight.npu(), bias.npu(), activation)
    widened = [t.double() for t in (x, weight, bias)]
    expected = ACTIVATIONS[activation](torch.nn.functional.linear(*widened))
    size = torch.nn.functional.linear(*(t.abs() for t in widened))
    assert y.dtype == dtype
    assert_sums_close(y, expected, 2 * size, shape[-1])


def test_without_bias():
    x, weight, _ = _inputs((20, 30), 40, torch.float32)
    zeros = torch.zeros(40, device="npu")
    assert torch.equal(linear(x.npu(), weight.npu()), linear(x.npu(), weight.npu(), zeros))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients(activation):
    tensors = _inputs((6, 33), 20, torch.float32)
    given = [t.npu().requires_grad_() for t in tensors]
    widened = [t.double().requires_grad_() for t in tensors]
    grad = torch.randn(6, 20)
    linear(*given, activation).backward(grad.npu())
    ACTIVATIONS[activation](torch.nn.functional.linear(*widened)).backward(grad.double())
    for tensor, reference in zip(given, widened, strict=True):
        assert_sums_close(tensor.grad, reference.grad, torch.tensor(400.0).double(), 33)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w: linear(x, w.t()), "weight has two dimensions"),
        (lambda x, w: linear(x, w, x[0]), "it has 3 elements"),
        (lambda x, w: linear(x, w, None, "tanh"), "it is none, relu, silu, gelu"),
        (lambda x, w: linear(x[:0], w), "no size may be 0"),
        (lambda x, w: linear(x.half(), w), "they have to be the same"),
    ],
)
def test_wrong_input_is_one_error(call, words):
    with pytest.raises(ValueError, match=words):
        call(torch.ones(4, 5, device="npu"), torch.ones(3, 5, device="npu"))
