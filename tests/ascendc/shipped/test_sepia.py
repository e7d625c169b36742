"""The kernels sepia and sepia_backward, against float64."""

import random

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.ascendc.kernels import sepia

from .against import RTOL, assert_close, name_of

MATRIX = torch.tensor(
    [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]], dtype=torch.float64
)


def _shapes() -> list[tuple[int, ...]]:
    """No images, no pixels, one pixel, many small images, one tile and its neighbours, several tiles, grey images."""
    draw = random.Random(5)
    drawn = [
        (draw.randint(1, 9), draw.choice((1, 3)), draw.randint(1, 90), draw.randint(1, 90))
        for _ in range(6)
    ]
    tiles = [(1, 3, 31, 33), (1, 3, 32, 32), (2, 3, 5, 205), (2, 3, 301, 307), (1, 1, 301, 307)]
    empty = [(0, 3, 4, 4), (2, 3, 0, 4), (2, 1, 4, 0)]
    return [*empty, (3, 1, 1), (1, 1, 1, 1), (150, 3, 1, 5), (2, 3, 3, 4, 5), *tiles, *drawn]


def _reference(image: torch.Tensor) -> torch.Tensor:
    colors = image.expand(*image.shape[:-3], 3, *image.shape[-2:])
    return torch.einsum("ik,...khw->...ihw", MATRIX, colors)


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(6)).to(dtype)


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", _shapes(), ids=name_of)
def test_result_and_gradient(shape, dtype):
    image = _random(shape, dtype)
    grad = _random((*shape[:-3], 3, *shape[-2:]), dtype)
    given, widened = image.npu().requires_grad_(), image.double().requires_grad_()
    y = sepia(given)
    y.backward(grad.npu())
    expected = _reference(widened)
    expected.backward(grad.double())
    assert_close(y, expected.detach(), dtype, _reference(widened.detach().abs()))
    parts = torch.einsum("ik,...ihw->...khw", MATRIX, grad.double().abs())
    terms = parts if shape[-3] == 3 else parts.sum(-3, keepdim=True)
    assert_close(given.grad, widened.grad, dtype, terms)


def test_is_the_filter_of_libopapi():
    image = _random((2, 3, 40, 50), torch.float32).npu()
    ours, theirs = sepia(image), torch.ops.npu.sepia_filter_forward(image)
    accuracy.assert_close(ours, theirs, Tolerance(1e-6, 1e-6), equal_nan=False)


def test_tensors_that_are_not_contiguous():
    image = _random((4, 30, 20, 3), torch.float32).npu()
    for view in (image.movedim(-1, 1), image.movedim(-1, 1)[:, 1:2, ::3]):
        given = view.detach().requires_grad_()
        dense = view.detach().contiguous().requires_grad_()
        y, expected = sepia(given), sepia(dense)
        assert torch.equal(y, expected)
        grad = _random((*y.shape[::-1],), torch.float32).npu().permute(3, 2, 1, 0)
        y.backward(grad)
        expected.backward(grad.contiguous())
        assert torch.equal(given.grad, dense.grad)


def test_nan_and_infinity_stay_in_their_pixel():
    image = torch.ones(1, 3, 2, 50)
    image[0, 0, 0, 1], image[0, 1, 1, 49], image[0, :2, 1, 7] = torch.nan, torch.inf, torch.inf
    y = sepia(image.npu())
    assert_close(
        y.nan_to_num(posinf=-1), _reference(image.double()).nan_to_num(posinf=-1), torch.float32
    )


@pytest.mark.parametrize("channels", [1, 3])
def test_meta_tensors_have_shape_and_type(channels):
    image = torch.empty(2, channels, 4, 5, device="meta", dtype=torch.half, requires_grad=True)
    y = sepia(image)
    assert (y.shape, y.dtype, y.device.type) == ((2, 3, 4, 5), torch.half, "meta")
    y.sum().backward()
    assert image.grad.shape == image.shape


def test_compiled_is_as_eager():
    image = _random((2, 3, 8, 9), torch.float32).npu()
    compiled = torch.compile(lambda t: sepia(t) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(image), sepia(image) + 1)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (torch.ones(1, 3, 2, 2), "image is on cpu: move it to the npu"),
        (torch.ones(3, 2, device="npu"), r"image is \(3, 2\): \[\.\.\., 1 or 3 channels"),
        (torch.ones(1, 4, 2, 2, device="npu"), r"image is \(1, 4, 2, 2\): \[\.\.\., 1 or 3"),
        (torch.ones(1, 3, 2, 2, device="npu").byte(), "image is uint8; the kernel takes float32"),
    ],
)
def test_wrong_input_is_one_error(image, words):
    with pytest.raises(ValueError, match=words):
        sepia(image)


@pytest.mark.parametrize("channels", [1, 3])
def test_second_derivatives(channels):
    image, grad = torch.randn(2, channels, 5, 7), torch.randn(2, 3, 5, 7)
    found = []
    for function, device in ((sepia, "npu"), (lambda x: _reference(x.double()).float(), "cpu")):
        x, g = image.to(device).requires_grad_(), grad.to(device).requires_grad_()
        (first,) = torch.autograd.grad(function(x), x, g, create_graph=True)
        found.append(torch.autograd.grad(first.square().sum(), g)[0].cpu())
    torch.testing.assert_close(*found)
