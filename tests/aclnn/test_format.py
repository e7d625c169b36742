"""Casts between formats, against PyTorch's pad, reshape and permute; softnpu's own tests have every format."""

from collections.abc import Callable

import pytest
import torch

from tests.aclnn.blocks import (
    FRACTAL_NZ,
    FRACTAL_Z,
    FRACTAL_Z_3D,
    NC1HWC0,
    NDC1HWC0,
    images,
    matrices,
    volume_weights,
    volumes,
    weights,
)
from tests.aclnn.cases import ALL, LAYOUTS, dtype_name, laid_out, unwritten, whole
from tests.aclnn.compare import NULL, assert_same, refused
from tests.aclnn.library import Blocks, Library

ROWS = [
    pytest.param(NC1HWC0, (2, 20, 5, 7), images, id="NC1HWC0"),
    pytest.param(NC1HWC0, (1, 3, 17, 19), images, id="NC1HWC0-few"),
    pytest.param(FRACTAL_Z, (18, 20, 3, 3), weights, id="FRACTAL_Z"),
    pytest.param(FRACTAL_Z, (16, 32, 1, 1), weights, id="FRACTAL_Z-whole"),
    pytest.param(FRACTAL_NZ, (20, 33), matrices(16), id="FRACTAL_NZ"),
    pytest.param(FRACTAL_NZ, (2, 3, 17, 40), matrices(32), id="FRACTAL_NZ-batch"),
    pytest.param(FRACTAL_NZ, (15, 17), matrices(8), id="FRACTAL_NZ-8"),
    pytest.param(54, (15, 17), matrices(8), id="FRACTAL_NZ_C0_8"),
    pytest.param(NDC1HWC0, (2, 20, 3, 5, 7), volumes, id="NDC1HWC0"),
    pytest.param(FRACTAL_Z_3D, (18, 20, 2, 3, 3), volume_weights, id="FRACTAL_Z_3D"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("number", "shape", "reference"), ROWS)
def test_into_blocks_and_back(
    library: Library,
    number: int,
    shape: tuple[int, ...],
    reference: Callable[[torch.Tensor], torch.Tensor],
    layout: str,
) -> None:
    for dtype in ALL:
        x = whole(shape, dtype, number)
        expected = reference(x).contiguous()
        blocks = Blocks(unwritten(expected), shape, number)
        library.call("aclnnNpuFormatCast", laid_out(x, layout), blocks)
        assert_same(blocks.held, expected)
        back = unwritten(x, layout)
        library.call("aclnnNpuFormatCast", blocks, back)
        assert_same(back, x)


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_between_blocks(library: Library, dtype: torch.dtype) -> None:
    x = whole((2, 20, 18, 19), dtype)
    source = Blocks(images(x).contiguous(), tuple(x.shape), NC1HWC0)
    expected = matrices(16)(x).contiguous()
    target = Blocks(unwritten(expected), tuple(x.shape), FRACTAL_NZ)
    library.call("aclnnNpuFormatCast", source, target)
    assert_same(target.held, expected)


def test_empty_tensors(library: Library) -> None:
    blocks = Blocks(torch.empty(2, 0, 4, 5, 16), (2, 0, 4, 5), NC1HWC0)
    library.call("aclnnNpuFormatCast", torch.empty(2, 0, 4, 5), blocks)
    library.call("aclnnNpuFormatCast", blocks, torch.empty(2, 0, 4, 5))


def test_refused(library: Library) -> None:
    x, name = torch.zeros(20, 20), "aclnnNpuFormatCast"
    held = torch.zeros(2, 2, 16, 16)
    refused(
        library, name, x, Blocks(torch.zeros(2, 2, 16, 8), (20, 20), FRACTAL_NZ), message="needed"
    )
    refused(library, name, x, Blocks(held, (20, 20), 99), message="the format 99 is none")
    refused(library, name, x, Blocks(held.half(), (20, 20), FRACTAL_NZ), message="data type")
    refused(library, name, x, Blocks(held, (20, 21), FRACTAL_NZ), message="the sizes differ")
    refused(library, name, x, None, code=NULL)
