"""The operators of softnpu/ops/nn/grid_sample against torch: every mode and padding, and both gradients."""

import itertools

import pytest
import torch

from tests.aclnn.cases import (
    FLOATING,
    IMAGE_LAYOUTS,
    dtype_name,
    laid_out,
    normal,
    seeded,
    unwritten,
)
from tests.aclnn.compare import NULL, assert_sum, refused
from tests.aclnn.library import Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

aten = torch.ops.aten
# Input and result without batch and channels.
SIZES = [((5, 7), (6, 4)), ((1, 9), (11, 13)), ((3, 4, 5), (2, 6, 3)), ((2, 1, 6), (3, 3, 9))]
ATTRIBUTES = list(itertools.product((0, 1, 2), (0, 1, 2), (False, True)))


def grid_of(sizes: tuple, batch: int, dtype: torch.dtype) -> torch.Tensor:
    """Most positions are inside the image, others far outside."""
    drawn = torch.rand((batch, *sizes, len(sizes)), dtype=torch.float64, generator=seeded(sizes))
    # Rounded to the dtype, and not near a border between values, where a rounding could select another one.
    return ((drawn * 3 - 1.5) * 64).round().add(0.3).div(64).to(dtype)


@pytest.mark.parametrize("attributes", ATTRIBUTES, ids=str)
@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_against_pytorch(
    library: Library, sizes: tuple, dtype: torch.dtype, attributes: tuple
) -> None:
    dims = len(sizes[0])
    if attributes[0] == 2 and dims == 3:
        pytest.skip("there is no cubic interpolation in three dimensions")
    x, grid = normal((2, 3, *sizes[0]), dtype, seeded(sizes)), grid_of(sizes[1], 2, dtype)
    g = normal((2, 3, *sizes[1]), dtype, seeded("g", sizes))
    # Positions are computed in the compute type.
    computed = torch.float64 if dtype == torch.float64 else torch.float32
    widened, places = (t.to(computed).requires_grad_() for t in (x, grid))
    exact = getattr(aten, f"grid_sampler_{dims}d")(widened, places, *attributes)
    gradients = torch.autograd.grad(exact, (widened, places), g.to(computed))
    largest, most = x.double().abs().max(), g.double().abs().max()
    # A position has one rounding error of the size; each of up to 16 weights changes by twice that.
    terms = 64 * (max(sizes[0]) + 4)
    name = f"aclnnGridSampler{dims}D"
    for layout in IMAGE_LAYOUTS:
        out = unwritten(g, layout)
        library.call(name, laid_out(x, layout), laid_out(grid, layout), *attributes, out)
        assert_sum(out, exact, largest, terms)
        outs = [unwritten(t, layout) for t in (x, grid)]
        given = [laid_out(t, layout) for t in (g, x, grid)]
        library.call(f"{name}Backward", *given, *attributes, [True, True], *outs)
        assert_sum(outs[0], gradients[0], most * g[0, 0].numel(), terms)
        assert_sum(outs[1], gradients[1], most * largest * 3 * max(sizes[0]), terms)
    only = unwritten(grid)
    library.call(f"{name}Backward", g, x, grid, *attributes, [False, True], None, only)
    assert_sum(only, gradients[1], most * largest * 3 * max(sizes[0]), terms)


def test_coordinates_that_are_not_finite(library: Library) -> None:
    """No byte outside is read or written; with zero padding the results are zeros."""
    grid = (
        torch.tensor([float("nan"), float("inf"), -float("inf"), 1e30])
        .reshape(1, 1, 4, 1)
        .repeat(1, 1, 1, 2)
    )
    x = torch.ones(1, 2, 3, 4)
    for mode, padding, align in ATTRIBUTES:
        out = torch.full((1, 2, 1, 4), 7.0)
        library.call("aclnnGridSampler2D", x, grid, mode, padding, align, out)
        if padding == 0:
            assert not out.any()
        grads = [torch.full_like(x, 7.0), torch.full_like(grid, 7.0)]
        library.call(
            "aclnnGridSampler2DBackward", out, x, grid, mode, padding, align, [True, True], *grads
        )


def test_many_positions_on_all_threads(library: Library) -> None:
    x, grid = (
        torch.randn(2, 6, 90, 110, generator=seeded("large")),
        grid_of((120, 130), 2, torch.float32),
    )
    out = torch.zeros(2, 6, 120, 130)
    library.call("aclnnGridSampler2D", x, grid, 0, 0, False, out)
    accuracy.assert_close(
        out, aten.grid_sampler_2d(x, grid, 0, 0, False), Tolerance(1e-4, 1e-4), equal_nan=False
    )
    grads = [torch.zeros_like(x), torch.zeros_like(grid)]
    library.call("aclnnGridSampler2DBackward", out, x, grid, 0, 0, False, [True, True], *grads)
    want = aten.grid_sampler_2d_backward(out, x, grid, 0, 0, False, [True, True])
    for got, one in zip(grads, want, strict=True):
        accuracy.assert_close(got, one, Tolerance(1e-3, 1e-2), equal_nan=False)


def test_empty_tensors(library: Library) -> None:
    empty = torch.zeros(0, 2, 3, 4)
    library.call(
        "aclnnGridSampler2D", empty, torch.zeros(0, 5, 6, 2), 0, 0, False, torch.zeros(0, 2, 5, 6)
    )
    x, grid, out = torch.ones(1, 2, 3, 4), torch.zeros(1, 0, 6, 2), torch.zeros(1, 2, 0, 6)
    library.call("aclnnGridSampler2D", x, grid, 0, 0, False, out)
    grads = [torch.full_like(x, 7.0), torch.full_like(grid, 7.0)]
    library.call("aclnnGridSampler2DBackward", out, x, grid, 0, 0, False, [True, True], *grads)
    assert not grads[0].any()


def test_bad_input(library: Library) -> None:
    x, grid, out = torch.ones(1, 2, 3, 4), torch.zeros(1, 5, 6, 2), torch.zeros(1, 2, 5, 6)
    name = "aclnnGridSampler2D"
    refused(library, name, x, grid, 3, 0, False, out, message="interpolation mode 3 does not exist")
    refused(library, name, x, grid, 0, 3, False, out, message="padding mode 3 does not exist")
    refused(library, name, x, grid.double(), 0, 0, False, out, message="no grid sampling")
    refused(library, name, x.int(), grid.int(), 0, 0, False, out.int(), message="no grid sampling")
    refused(library, name, x, grid[..., :1], 0, 0, False, out, message="do not fit")
    refused(library, name, x, grid, 0, 0, False, out[:, :, :4], message="do not fit")
    refused(library, name, x[0], grid, 0, 0, False, out, message="has not 4 dimensions")
    refused(library, name, x[..., :0], grid, 0, 0, False, out, message="has no positions")
    backward = (out, x, grid, 0, 0, False)
    refused(
        library, f"{name}Backward", *backward, [True], x, grid, message="outputMask has 1 values"
    )
    refused(library, f"{name}Backward", *backward, [True, True], None, grid, code=NULL)
    refused(
        library, f"{name}Backward", *backward, [True, True], grid, grid, message="the gradient of"
    )
