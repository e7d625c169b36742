"""The operators of softnpu/ops/nn/channel_mix against their definition in float64."""

import pytest
import torch
from torch import Tensor

from tests.aclnn.cases import (
    FLOATING,
    IMAGE_LAYOUTS,
    dtype_name,
    laid_out,
    normal,
    seeded,
    unwritten,
)
from tests.aclnn.compare import refused
from tests.aclnn.library import Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

SEPIA = torch.tensor(
    [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]], dtype=torch.float64
)
SHAPES = [(4, 3, 17, 9), (2, 1, 5, 7), (1, 3, 64, 200), (0, 3, 4, 4), (1, 1, 1, 1)]


def assert_mixed(out: Tensor, want: Tensor, size: Tensor) -> None:
    """Three products and two sums in float32, or float64, and a rounding; relative to terms of magnitude ``size``."""
    widened = torch.promote_types(out.dtype, torch.float32)
    terms = 4 * torch.finfo(widened).eps * size + torch.finfo(out.dtype).tiny
    accuracy.assert_close(out, want, Tolerance(torch.finfo(out.dtype).eps, terms))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_sepia(library: Library, dtype: torch.dtype, shape: tuple) -> None:
    image = normal(shape, dtype, seeded("sepia", shape))
    three = image.expand(-1, 3, -1, -1).double()
    want = torch.einsum("oc,nchw->nohw", SEPIA, three)
    size = torch.einsum("oc,nchw->nohw", SEPIA, three.abs())
    for layout in IMAGE_LAYOUTS:
        out = unwritten(want.to(dtype), layout)
        library.call("aclnnSepiaFilter", laid_out(image, layout), out)
        assert_mixed(out, want, size)
    if shape[1] == 3:  # in place
        library.call("aclnnSepiaFilter", image, image)
        assert_mixed(image, want, size)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_sepia_backward(library: Library, dtype: torch.dtype, shape: tuple) -> None:
    n, channels, *location = shape
    grad = normal((n, 3, *location), dtype, seeded("sepia backward", shape))
    weights = SEPIA if channels == 3 else SEPIA.sum(1, keepdim=True)
    want = torch.einsum("oc,nohw->nchw", weights, grad.double())
    size = torch.einsum("oc,nohw->nchw", weights, grad.double().abs())
    for layout in IMAGE_LAYOUTS:
        out = unwritten(want.to(dtype), layout)
        library.call("aclnnSepiaFilterBackward", laid_out(grad, layout), out)
        assert_mixed(out, want, size)


def test_tensors_that_are_not_images_are_refused(library: Library) -> None:
    image, out = torch.zeros(2, 3, 4, 4), torch.zeros(2, 3, 4, 4)
    for bad in (torch.zeros(2, 2, 4, 4), torch.zeros(3, 3), image.int(), image.double(), image[:1]):
        refused(library, "aclnnSepiaFilter", bad, out, message="are taken")
    refused(library, "aclnnSepiaFilter", image, out[:, :1], message="are taken")
    refused(library, "aclnnSepiaFilterBackward", out[:, :1], image, message="are taken")
