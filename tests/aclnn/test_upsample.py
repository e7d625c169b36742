"""The operators of softnpu/ops/nn/upsample against torch: every mode, scale, dtype and layout, and the gradients."""

import math
from dataclasses import dataclass

import pytest
import torch

from tests.aclnn.cases import (
    FLOATING,
    IMAGE_LAYOUTS,
    INTEGERS,
    dtype_name,
    laid_out,
    normal,
    seeded,
    unwritten,
)
from tests.aclnn.compare import assert_same, assert_sum, refused
from tests.aclnn.library import Library

aten = torch.ops.aten


@dataclass(frozen=True)
class Mode:
    """An operator of CANN and PyTorch's function."""

    name: str
    function: str
    dims: int
    aligns: bool = True
    gradient: str = "Backward"
    taps: int = 2  # along each dimension, of the largest weights

    @property
    def is_nearest(self) -> bool:
        return "nearest" in self.function


MODES = [
    *(Mode(f"Nearest{d}d", f"upsample_nearest{d}d", d, False, taps=1) for d in (1, 2, 3)),
    *(
        Mode(f"NearestExact{d}d", f"_upsample_nearest_exact{d}d", d, False, taps=1)
        for d in (1, 2, 3)
    ),
    Mode("Linear1d", "upsample_linear1d", 1),
    Mode("Bilinear2d", "upsample_bilinear2d", 2),
    Mode("Trilinear3d", "upsample_trilinear3d", 3),
    Mode("Bicubic2d", "upsample_bicubic2d", 2, taps=4),
    Mode("Bilinear2dAA", "_upsample_bilinear2d_aa", 2),
    Mode("Bicubic2dAA", "_upsample_bicubic2d_aa", 2, gradient="Grad", taps=4),
]
# Input, output: the same size, twice, smaller, larger, one position; scales that differ from the sizes' ratio.
RESIZES = [
    ((5, 6, 7), (5, 6, 7), None),
    ((3, 4, 6), (6, 8, 12), None),
    ((5, 9, 11), (2, 4, 3), None),
    ((3, 4, 5), (7, 9, 13), None),
    ((2, 3, 4), (1, 1, 1), None),
    ((1, 1, 1), (3, 2, 5), None),
    ((4, 5, 6), (9, 11, 13), (2.3, 2.2, 2.25)),
    ((4, 9, 6), (2, 4, 4), (0.6, 0.5, 0.7)),
]


def sizes_of(resize: tuple, dims: int) -> tuple:
    small, large, scales = resize
    return small[-dims:], large[-dims:], None if scales is None else scales[-dims:]


def call(
    library: Library,
    mode: Mode,
    x: torch.Tensor,
    size: tuple,
    align: bool,
    scales: tuple | None,
    out: torch.Tensor,
) -> None:
    given = [-1.0] * mode.dims if scales is None else list(scales)
    name = f"aclnnUpsample{mode.name}"
    if mode.name in ("Nearest1d", "Nearest2d"):
        library.call(f"{name}V2", x, list(size), *given, out)
    else:
        library.call(name, x, list(size), *([align] if mode.aligns else []), *given, out)


def reference(
    mode: Mode, x: torch.Tensor, size: tuple, align: bool, scales: tuple | None
) -> torch.Tensor:
    given = [None] * mode.dims if scales is None else scales
    return getattr(aten, mode.function)(x, size, *([align] if mode.aligns else []), *given)


def computed_in(x: torch.Tensor) -> torch.Tensor:
    """The type of positions and weights."""
    return x if x.dtype == torch.float64 else x.float()


@pytest.mark.parametrize("resize", RESIZES, ids=str)
@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_against_pytorch(library: Library, mode: Mode, dtype: torch.dtype, resize: tuple) -> None:
    small, large, scales = sizes_of(resize, mode.dims)
    x = normal((2, 5, *small), dtype, seeded(mode.name, dtype, resize))
    widened = computed_in(x).requires_grad_()
    g = normal((2, 5, *large), dtype, seeded("g", mode.name, resize))
    for align in (False, True) if mode.aligns else (False,):
        exact = reference(mode, widened, large, align, scales)
        (gradient,) = torch.autograd.grad(exact, widened, computed_in(g))
        # The sum of the weights, and the rounding of positions at the size of the images.
        largest, terms = x.double().abs().max(), 4 * (mode.taps**mode.dims + sum(small + large))
        spread = math.prod(1 + a / b for a, b in zip(large, small, strict=True)) * 4**mode.dims
        for layout in IMAGE_LAYOUTS:
            out = unwritten(g, layout)
            call(library, mode, laid_out(x, layout), large, align, scales, out)
            if mode.is_nearest:
                assert_same(out, exact.detach().to(dtype))
            else:
                assert_sum(out, exact, largest, terms)
            out = unwritten(x, layout)
            library.call(
                f"aclnnUpsample{mode.name}{mode.gradient}", laid_out(g, layout), list(large), list(x.shape),
                *([align] if mode.aligns else []), *(scales or [0.0] * mode.dims), out,
            )  # fmt: skip
            assert_sum(out, gradient, g.double().abs().max() * spread, terms)


@pytest.mark.parametrize("dtype", INTEGERS, ids=dtype_name)
def test_nearest_of_integers(library: Library, dtype: torch.dtype) -> None:
    x = normal((2, 3, 4, 5), dtype, seeded(dtype))
    want = aten.upsample_nearest2d(x.double(), [7, 9]).to(dtype)
    for layout in IMAGE_LAYOUTS:
        out = unwritten(want, layout)
        library.call("aclnnUpsampleNearest2d", laid_out(x, layout), [7, 9], out)
        assert_same(out, want)


def test_many_rows_on_all_threads(library: Library) -> None:
    x = torch.randn(2, 8, 120, 160, generator=seeded("large"))
    for layout in ("contiguous", "channels last"):
        out = unwritten(torch.empty(2, 8, 240, 320), layout)
        library.call(
            "aclnnUpsampleBilinear2d", laid_out(x, layout), [240, 320], False, 0.0, 0.0, out
        )
        torch.testing.assert_close(out, aten.upsample_bilinear2d(x, [240, 320], False))
        grad = unwritten(x, layout)
        library.call(
            "aclnnUpsampleBilinear2dBackwardV2",
            out,
            [240, 320],
            list(x.shape),
            False,
            0.0,
            0.0,
            grad,
        )
        want = aten.upsample_bilinear2d_backward(out, [240, 320], x.shape, False)
        torch.testing.assert_close(grad, want)


def test_empty_batches_and_one_image(library: Library) -> None:
    library.call("aclnnUpsampleNearest1d", torch.ones(0, 2, 3), [6], torch.ones(0, 2, 6))
    out = torch.zeros(2, 6)
    library.call("aclnnUpsampleNearest1d", torch.ones(2, 3), [6], out)
    assert bool((out == 1).all())


def test_bad_input(library: Library) -> None:
    x, out = torch.ones(1, 2, 3, 4), torch.zeros(1, 2, 6, 8)
    name, scales = "aclnnUpsampleBilinear2d", (0.0, 0.0)
    refused(library, name, x, [6, 8], False, *scales, out.double(), message="no interpolation")
    refused(library, name, x.int(), [6, 8], False, *scales, out.int(), message="no interpolation")
    refused(library, name, x, [6], False, *scales, out, message="output_size is not that")
    refused(library, name, x, [6, 7], False, *scales, out, message="output_size is not that")
    refused(
        library, name, x[:, :1], [6, 8], False, *scales, out, message="batch and channels differ"
    )
    refused(library, name, x[..., :0], [6, 8], False, *scales, out, message="has no positions")
    refused(library, name, x[0, 0], [6, 8], False, *scales, out, message="dimensions are needed")
    refused(
        library,
        f"{name}Backward",
        out,
        [6, 8],
        [1, 2, 3, 5],
        False,
        *scales,
        x,
        message="input_size is not",
    )


@pytest.mark.parametrize("align", [False, True])
def test_cubic_weights_add_up_to_one(library: Library, align: bool) -> None:
    """At most four roundings: of two weights, their product and the sum."""
    for size in range(2, 20):
        x, out = torch.ones(1, 1, 3, 3), torch.empty(1, 1, size, size)
        library.call("aclnnUpsampleBicubic2d", x, [size, size], align, 0.0, 0.0, out)
        assert ((out - 1).abs() <= 4 * torch.finfo(out.dtype).eps).all()
