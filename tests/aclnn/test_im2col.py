"""The operators of softnpu/ops/nn/im2col against torch: windows, dtypes, layouts."""

import pytest
import torch

from tests.aclnn.cases import (
    ALL,
    FLOATING,
    LAYOUTS,
    dtype_name,
    laid_out,
    normal,
    seeded,
    unwritten,
    whole,
)
from tests.aclnn.compare import assert_same, assert_sum, refused
from tests.aclnn.library import Library

aten = torch.ops.aten
# Image; kernel, dilation, padding, stride.
CASES = [
    ((2, 3, 7, 9), ([2, 3], [1, 1], [0, 0], [1, 1])),
    ((2, 3, 7, 9), ([3, 3], [2, 1], [1, 2], [2, 3])),
    ((3, 5, 8), ([2, 2], [1, 3], [3, 1], [1, 2])),
    ((1, 2, 1, 1), ([3, 3], [1, 1], [1, 1], [1, 1])),
    ((0, 2, 4, 4), ([2, 2], [1, 1], [0, 0], [1, 1])),
    ((1, 4, 64, 130), ([3, 5], [1, 1], [1, 2], [1, 1])),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_im2col(library: Library, dtype: torch.dtype, case: tuple) -> None:
    shape, attributes = case
    x = whole(shape, dtype)
    widened = torch.complex128 if dtype.is_complex else torch.float64
    want = aten.im2col(x.to(widened), *attributes).to(dtype)
    for layout in LAYOUTS:
        out = unwritten(want, layout)
        library.call("aclnnIm2col", laid_out(x, layout), *attributes, out)
        assert_same(out, want)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATING, torch.complex64, torch.int32], ids=dtype_name)
def test_col2im(library: Library, dtype: torch.dtype, case: tuple) -> None:
    shape, attributes = case
    columns = tuple(aten.im2col(torch.empty(shape), *attributes).shape)
    x = normal(columns, dtype, seeded(case))
    widened = x.to(torch.complex128 if dtype.is_complex else torch.float64)
    want = aten.col2im(widened, shape[-2:], *attributes)
    size = aten.col2im(widened.abs(), shape[-2:], *attributes)
    for layout in LAYOUTS:
        out = unwritten(want.to(dtype), layout)
        library.call("aclnnIm2colBackward", laid_out(x, layout), list(shape[-2:]), *attributes, out)
        assert_sum(out, want, size, attributes[0][0] * attributes[0][1])


def test_bad_input(library: Library) -> None:
    x, out = torch.ones(1, 2, 4, 5), torch.zeros(1, 8, 12)
    fine = ([2, 2], [1], [0], [1])
    library.call("aclnnIm2col", x, *fine, out)
    refused(library, "aclnnIm2col", x, [2, 2, 2], *fine[1:], out, message="kernelSize has 3 values")
    refused(library, "aclnnIm2col", x, [0], *fine[1:], out, message="kernelSize is 0")
    refused(library, "aclnnIm2col", x, [6], *fine[1:], out, message="is needed")
    refused(library, "aclnnIm2col", x, *fine, out.double(), message="no image and its columns")
    refused(library, "aclnnIm2col", x, *fine, out[:, :, :11], message=r"\[1, 8, 12\] is needed")
    refused(library, "aclnnIm2colBackward", out, [4, 4], *fine, x, message="inputSize is not")
