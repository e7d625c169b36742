"""The operators of softnpu/ops/nn/pool against torch: values, indices, gradients."""

import math
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

from tests.aclnn.cases import FLOATING, IMAGE_LAYOUTS, dtype_name, laid_out, normal, seeded
from tests.aclnn.compare import assert_sum, refused
from tests.aclnn.library import AclnnError, Library

aten = torch.ops.aten


@dataclass(frozen=True)
class Case:
    """Windows in two or three dimensions over an input."""

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = (0,)
    dilation: tuple[int, ...] = (1,)
    ceil: bool = False

    @property
    def dims(self) -> int:
        return len(self.kernel)

    def __str__(self) -> str:
        text = (
            f"{self.input}k{self.kernel}s{self.stride}p{self.padding}d{self.dilation}c{self.ceil}"
        )
        return text.replace(" ", "")


CASES = [
    Case((2, 3, 8, 9), (2, 2)),
    Case((2, 3, 8, 9), (3, 2), (2, 1), (1, 1), ceil=True),
    Case((3, 8, 300), (3, 3), (1, 2), (1, 1), (2, 1)),
    Case((1, 2, 7, 7), (1, 1)),
    Case((0, 2, 7, 7), (3, 3)),
    Case((1, 2, 3, 700), (2, 600), (1, 3), (0, 5)),
    Case((2, 129, 6, 5), (3, 3), (2, 2), (1, 1)),
    Case((2, 2, 5, 6, 7), (2, 3, 2), (), (1, 0, 1)),
    Case((2, 5, 6, 9), (2, 2, 3), (2, 1, 2), (0, 1, 1), (1, 2, 1), True),
]


def attributes(case: Case) -> list:
    return [
        list(case.kernel),
        list(case.stride),
        list(case.padding),
        list(case.dilation),
        case.ceil,
    ]


MAX_NAMES = {2: "aclnnMaxPool2dWithIndices", 3: "aclnnMaxPool3dWithArgmax"}
MAX_REFERENCE = {2: aten.max_pool2d_with_indices, 3: aten.max_pool3d_with_indices}
MAX_GRADIENT = {2: aten.max_pool2d_with_indices_backward, 3: aten.max_pool3d_with_indices_backward}


def mask_of(case: Case, out: torch.Tensor) -> torch.Tensor:
    blocks = (out.shape[-1] * out.shape[-2] + 15) // 16 + 1
    return torch.zeros((*out.shape[:-2], math.prod(case.kernel), blocks * 32), dtype=torch.int8)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64, torch.uint8], ids=dtype_name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_max(library: Library, case: Case, dtype: torch.dtype) -> None:
    x = normal(case.input, dtype, seeded(str(case)))
    if dtype.is_floating_point and x.numel():
        x.view(-1)[::17] = float("nan")
        x.view(-1)[1::19] = -float("inf")
    # In float64 if torch has no kernel for the dtype: the comparison is exact.
    exact, where = MAX_REFERENCE[case.dims](x.double(), *attributes(case))
    for layout in IMAGE_LAYOUTS:
        for index_type in (torch.int32, torch.int64):
            out = laid_out(torch.zeros(exact.shape, dtype=dtype), layout)
            indices = laid_out(torch.zeros(exact.shape, dtype=index_type), layout)
            library.call(MAX_NAMES[case.dims], laid_out(x, layout), *attributes(case), out, indices)
            assert torch.equal(out.double().nan_to_num(7), exact.nan_to_num(7))
            assert torch.equal(indices.long(), where)
        if case.dims == 2:
            out, mask = (
                laid_out(torch.zeros(exact.shape, dtype=dtype), layout),
                mask_of(case, exact),
            )
            library.call(
                "aclnnMaxPool2dWithMask", laid_out(x, layout), *attributes(case), out, mask
            )
            assert torch.equal(out.double().nan_to_num(7), exact.nan_to_num(7))


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_max_backward(library: Library, case: Case, dtype: torch.dtype) -> None:
    x = normal(case.input, dtype, seeded(str(case)))
    result, where = MAX_REFERENCE[case.dims](x.double(), *attributes(case))
    g = normal(tuple(result.shape), dtype, seeded("g"))
    exact = MAX_GRADIENT[case.dims](g.double(), x.double(), *attributes(case), where)
    size = MAX_GRADIENT[case.dims](g.abs().double(), x.double(), *attributes(case), where)
    for layout in IMAGE_LAYOUTS:
        out = laid_out(torch.full(x.shape, 3.0).to(dtype), layout)
        indices = laid_out(where.int(), layout)
        name = f"{MAX_NAMES[case.dims]}Backward"
        library.call(
            name, laid_out(g, layout), laid_out(x, layout), indices, *attributes(case), out
        )
        assert_sum(out, exact, size, math.prod(case.kernel))
        if case.dims == 2:
            mask, values = mask_of(case, result), torch.zeros(result.shape, dtype=dtype)
            library.call(
                "aclnnMaxPool2dWithMask", laid_out(x, layout), *attributes(case), values, mask
            )
            out = laid_out(torch.full(x.shape, 3.0).to(dtype), layout)
            name = "aclnnMaxPool2dWithMaskBackward"
            library.call(
                name, laid_out(g, layout), laid_out(x, layout), mask, *attributes(case), out
            )
            assert_sum(out, exact, size, math.prod(case.kernel))


AVERAGE = {2: aten.avg_pool2d, 3: aten.avg_pool3d}
AVERAGE_GRADIENT = {2: aten.avg_pool2d_backward, 3: aten.avg_pool3d_backward}


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("divisor", [0, 5])
@pytest.mark.parametrize("case", [c for c in CASES if set(c.dilation) == {1}], ids=str)
def test_average(
    library: Library, case: Case, dtype: torch.dtype, counts: bool, divisor: int
) -> None:
    x = normal(case.input, dtype, seeded(str(case)))
    own = [*attributes(case)[:3], case.ceil, counts]
    exact = AVERAGE[case.dims](x.double(), *own, divisor or None)
    size = AVERAGE[case.dims](x.abs().double(), *own, divisor or None)
    g = normal(tuple(exact.shape), dtype, seeded("g"))
    backward = AVERAGE_GRADIENT[case.dims]
    gradient = backward(g.double(), x.double(), *own, divisor or None)
    gradient_size = backward(g.abs().double(), x.double(), *own, divisor or None)
    extra = [0] if case.dims == 2 else []
    for layout in IMAGE_LAYOUTS:
        out = laid_out(torch.full(exact.shape, 3.0).to(dtype), layout)
        library.call(f"aclnnAvgPool{case.dims}d", laid_out(x, layout), *own, divisor, *extra, out)
        assert_sum(out, exact, size, math.prod(case.kernel))
        out = laid_out(torch.full(x.shape, 3.0).to(dtype), layout)
        name = f"aclnnAvgPool{case.dims}dBackward"
        library.call(name, laid_out(g, layout), laid_out(x, layout), *own, divisor, *extra, out)
        assert_sum(out, gradient, gradient_size, math.prod(case.kernel))


ADAPTIVE = [((2, 3, 7, 9), (3, 4)), ((3, 7, 9), (1, 1)), ((2, 3, 4, 300), (6, 280)), ((0, 3, 7, 9), (3, 4)),
            ((2, 2, 5, 6, 7), (2, 3, 7)), ((2, 5, 6, 7), (1, 1, 1))]  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("shapes", ADAPTIVE, ids=str)
def test_adaptive(library: Library, shapes: tuple, dtype: torch.dtype) -> None:
    x, size, dims = normal(shapes[0], dtype, seeded("x")), list(shapes[1]), len(shapes[1])
    terms = math.prod(x.shape[-dims:])
    widened = x.double().requires_grad_()
    average = getattr(F, f"adaptive_avg_pool{dims}d")
    exact = average(widened, size)
    g = normal(tuple(exact.shape), dtype, seeded("g"))
    (gradient,) = torch.autograd.grad(exact, widened, g.double())
    exact = exact.detach()
    most, where = getattr(aten, f"adaptive_max_pool{dims}d")(widened, size)
    (max_gradient,) = torch.autograd.grad(most, widened, g.double())
    for layout in IMAGE_LAYOUTS:
        out = laid_out(torch.full(exact.shape, 3.0).to(dtype), layout)
        library.call(f"aclnnAdaptiveAvgPool{dims}d", laid_out(x, layout), size, out)
        assert_sum(out, exact, average(x.abs().double(), size), terms)
        out = laid_out(torch.full(x.shape, 3.0).to(dtype), layout)
        library.call(
            f"aclnnAdaptiveAvgPool{dims}dBackward", laid_out(g, layout), laid_out(x, layout), out
        )
        assert_sum(out, gradient, torch.full_like(gradient, float(g.abs().sum())), terms)
        for index_type in (torch.int32, torch.int64):
            out = laid_out(torch.full(exact.shape, 3.0).to(dtype), layout)
            indices = laid_out(torch.zeros(exact.shape, dtype=index_type), layout)
            library.call(f"aclnnAdaptiveMaxPool{dims}d", laid_out(x, layout), size, out, indices)
            assert torch.equal(out.double(), most)
            assert torch.equal(indices.long(), where)
        out = laid_out(torch.full(x.shape, 3.0).to(dtype), layout)
        name = f"aclnnAdaptiveMaxPool{dims}dBackward"
        library.call(name, laid_out(g, layout), laid_out(x, layout), laid_out(where, layout), out)
        assert_sum(out, max_gradient, torch.full_like(max_gradient, float(g.abs().sum())), terms)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64, torch.uint8], ids=dtype_name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_unpool(library: Library, case: Case, dtype: torch.dtype) -> None:
    """Writes the maxima back to their positions; for equal positions the last one wins, as in torch."""
    values, where = MAX_REFERENCE[case.dims](
        normal(case.input, torch.float64, seeded(case)), *attributes(case)
    )
    size, values = list(case.input[-case.dims :]), values.to(dtype)
    rows, places = (t.flatten(-case.dims).flatten(0, -2) for t in (values, where))
    want = torch.zeros(len(rows), math.prod(size), dtype=dtype)
    for to, value, at in zip(want, rows, places, strict=True):
        to[at] = value
    want = want.view(case.input)
    extra = [] if case.dims == 2 else [[1, 1, 1], [0, 0, 0]]
    for layout in IMAGE_LAYOUTS:
        for index_type in (torch.int32, torch.int64):
            out = laid_out(torch.full(case.input, 3).to(dtype), layout)
            given = laid_out(values, layout), laid_out(where.to(index_type), layout)
            library.call(f"aclnnMaxUnpool{case.dims}d", *given, size, *extra, out)
            assert torch.equal(out, want)


def test_bad_input(library: Library) -> None:
    x, out, indices = torch.ones(2, 3, 8, 8), torch.zeros(2, 3, 4, 4), torch.zeros(2, 3, 4, 4).int()
    fine = [[2, 2], [2, 2], [0, 0], [1, 1], False]
    name = "aclnnMaxPool2dWithIndices"
    library.call(name, x, *fine, out, indices)
    for index, value in [
        (0, [0, 2]),
        (0, [2, 2, 2]),
        (1, [0]),
        (2, [2]),
        (2, [-1]),
        (3, [0]),
        (0, [9]),
    ]:
        refused(
            library,
            name,
            x,
            *[value if i == index else v for i, v in enumerate(fine)],
            out,
            indices,
        )
    refused(library, name, x, *fine, out[:, :, :3], indices)
    refused(library, name, x, *fine, out[:1], indices)
    refused(library, name, x[0, 0], *fine, out, indices)
    refused(library, name, x, *fine, out.double(), indices)
    refused(library, name, x, *fine, out, indices.float())
    refused(library, name, x, *fine, out, indices[:1])
    refused(library, name, x.bool(), *fine, out.bool(), indices)
    refused(library, "aclnnMaxPool2dWithMask", x, *fine, out, torch.zeros(2, 3, 4, 32).char())
    refused(library, "aclnnAdaptiveAvgPool2d", x, [4, 5], out)
    refused(library, "aclnnAdaptiveAvgPool2dBackward", out, x, out)


def test_indices_outside_are_ignored(library: Library) -> None:
    """No byte of another channel is written, for any indices."""
    x, g = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2)
    out = torch.full((1, 1, 4, 4), 3.0)
    indices = torch.tensor([[[[-5, 1 << 30], [16, 0]]]], dtype=torch.int32)
    library.call("aclnnMaxPool2dWithIndicesBackward", g, x, indices, [2], [2], [0], [1], False, out)
    assert out.sum() == 1
    out.fill_(3.0)
    library.call("aclnnMaxUnpool2d", g, indices, [4, 4], out)
    assert out.sum() == 1
    refused(library, "aclnnMaxUnpool2d", g, indices, [4, 5], out, message="outputSize is not")
    refused(library, "aclnnMaxUnpool2d", g, indices.float(), [4, 4], out, message="the indices are")
    refused(library, "aclnnMaxUnpool2d", g, indices, [4, 4], out.double(), message="no unpooling")


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("ceil", [0, 1])
def test_max_pool_without_indices(library: Library, padding: int, ceil: int) -> None:
    x = normal((2, 3, 10, 11), torch.float32, seeded("values"))
    expected = F.max_pool2d(x, (3, 2), (2, 3), (padding, padding), 1, bool(ceil))
    for layout in IMAGE_LAYOUTS:
        out = laid_out(torch.zeros_like(expected), layout)
        pads = [padding] * 4
        library.call(
            "aclnnMaxPool", laid_out(x, layout), [3, 2], [2, 3], 0, pads, [1, 1], ceil, out
        )
        assert torch.equal(out, expected)


def test_paddings_of_max_pool_that_are_refused(library: Library) -> None:
    x, out = torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 4)
    for pads, auto, message in [
        ([0, 1, 0, 0], 0, "equal"),
        ([0, 0], 0, "4"),
        ([0] * 4, 1, "autoPad"),
    ]:
        with pytest.raises(AclnnError, match=message):
            library.call("aclnnMaxPool", x, [1, 1], [1, 1], auto, pads, [1, 1], 0, out)
