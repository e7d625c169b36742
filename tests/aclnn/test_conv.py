"""The operators of softnpu/ops/nn/conv against torch in float64."""

import math
from dataclasses import dataclass

import pytest
import torch

from tests.aclnn.cases import (
    COMPLEX,
    FLOATING,
    IMAGE_LAYOUTS,
    INTEGERS,
    dtype_name,
    laid_out,
    normal,
    seeded,
)
from tests.aclnn.compare import INVALID, NULL, assert_sum, widened
from tests.aclnn.library import AclnnError, Library


@dataclass(frozen=True)
class Case:
    """A convolution: sizes of input and weight, and attributes."""

    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: tuple[int, ...] = (1,)
    padding: tuple[int, ...] = (0,)
    dilation: tuple[int, ...] = (1,)
    transposed: bool = False
    output_padding: tuple[int, ...] = (0,)
    groups: int = 1

    def __str__(self) -> str:
        name = (
            f"{self.input}x{self.weight}s{self.stride}p{self.padding}d{self.dilation}g{self.groups}"
        )
        return name.replace(" ", "") + (f"t{self.output_padding}" if self.transposed else "")

    @property
    def channels(self) -> int:
        return self.weight[1] * self.groups if self.transposed else self.weight[0]

    @property
    def dims(self) -> int:
        return len(self.weight) - 2

    def attributes(self) -> list:
        spread = [
            list(v) * (self.dims if len(v) == 1 else 1)
            for v in (self.stride, self.padding, self.dilation, self.output_padding)
        ]
        return [*spread[:3], self.transposed, spread[3], self.groups]


CASES = [
    Case((2, 3, 9), (4, 3, 3)),
    Case((2, 4, 11), (6, 2, 3), (2,), (1,), (2,), groups=2),
    Case((2, 3, 8, 9), (5, 3, 3, 3), padding=(1,)),
    Case((1, 3, 8, 9), (5, 3, 1, 1)),
    # 1 x 1 filters, on images large enough for matrix products.
    Case((3, 5, 12, 13), (7, 5, 1, 1)),
    Case((5, 12, 13), (7, 5, 1, 1)),
    Case((2, 5, 150), (7, 5, 1)),
    Case((2, 3, 5, 6, 7), (4, 3, 1, 1, 1)),
    Case((2, 7, 12, 13), (7, 5, 1, 1), transposed=True),
    Case((2, 7, 12, 13), (7, 5, 1, 1), (1,), (0,), (2,), True, (1,)),
    Case((3, 64, 30, 31), (65, 64, 1, 1)),  # each image is large enough for several threads
    Case((2, 4, 9, 10), (8, 1, 3, 2), (2, 1), (1, 0), (1, 2), groups=4),
    Case((2, 6, 7, 70), (4, 3, 3, 3), (1, 2), (2, 1), groups=2),
    Case((4, 10, 9), (4, 2, 3, 3), groups=2),  # one image, no batch
    Case((2, 17, 12, 12), (18, 17, 3, 3), (3,), (1,)),
    Case((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), (1, 2, 1), (1, 1, 0), (1, 1, 2)),
    Case((2, 3, 9), (3, 4, 3), (2,), (1,), transposed=True, output_padding=(1,)),
    Case((2, 3, 6, 7), (3, 4, 3, 3), (2,), (1,), transposed=True, output_padding=(1, 0)),
    Case((2, 4, 6, 7), (4, 3, 3, 2), (1, 3), (1, 0), (2, 1), True, groups=2),
    Case((2, 3, 6, 7), (3, 4, 3, 3), (1,), (0,), (3,), True, (2,)),
    Case((1, 2, 3, 4, 5), (2, 3, 2, 2, 3), (2,), (1,), (1,), True, (1, 1, 0)),
]


def reference(case: Case, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    """In double precision; torch has no kernel for complex numbers, so they are composed of their parts."""
    if x.is_complex():
        own = None if b is None else b.real, None if b is None else b.imag
        real = reference(case, x.real, w.real, own[0]) - reference(case, x.imag, w.imag, None)
        imag = reference(case, x.real, w.imag, own[1]) + reference(case, x.imag, w.real, None)
        return torch.complex(real, imag)
    batched = x.dim() == w.dim()
    x = x if batched else x[None]
    bias = None if b is None else b.double()
    out = torch.convolution(x.double(), w.double(), bias, *case.attributes())
    return out if batched else out[0]


def magnitude_of(
    case: Case, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None
) -> torch.Tensor:
    parts = [None if t is None else widened(t).abs().double() for t in (x, w, b)]
    return reference(case, *parts)


@pytest.mark.parametrize("dtype", [*FLOATING, *COMPLEX, *INTEGERS], ids=dtype_name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_convolution(library: Library, case: Case, dtype: torch.dtype) -> None:
    x, w = (
        normal(case.input, dtype, seeded(f"x{case}")),
        normal(case.weight, dtype, seeded(f"w{case}")),
    )
    for layout in IMAGE_LAYOUTS:
        biases = [normal((case.channels,), dtype, seeded(f"b{case}"))]
        if layout == "contiguous":
            biases.append(None)
        for b in biases:
            exact = reference(case, x, w, b)
            out = laid_out(torch.full(exact.shape, 3).to(dtype), layout)
            bias = None if b is None else laid_out(b, layout)
            library.call(
                "aclnnConvolution",
                laid_out(x, layout),
                laid_out(w, layout),
                bias,
                *case.attributes(),
                out,
                0,
            )
            assert_sum(
                out,
                exact,
                magnitude_of(case, x, w, b),
                math.prod(case.weight) // min(case.weight[:2]),
            )


def gradients(case: Case, g: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
    batched = x.dim() == w.dim()
    g, x = (g.double(), x.double()) if batched else (g.double()[None], x.double()[None])
    result = torch.ops.aten.convolution_backward(
        g, x, w.double(), [case.channels], *case.attributes(), [True, True, True]
    )
    return [result[0] if batched else result[0][0], result[1], result[2]]


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_backward(library: Library, case: Case, dtype: torch.dtype) -> None:
    x, w = (
        normal(case.input, dtype, seeded(f"x{case}")),
        normal(case.weight, dtype, seeded(f"w{case}")),
    )
    g = normal(tuple(reference(case, x, w, None).shape), dtype, seeded(f"g{case}"))
    exact = gradients(case, g, x, w)
    magnitudes = gradients(case, g.abs(), x.abs(), w.abs())
    terms = [math.prod(case.weight), g.numel(), g.numel()]
    for layout in IMAGE_LAYOUTS:
        masks = [[True, True, True]]
        if layout == "contiguous":
            masks += [[False, True, False], [True, False, True]]
        for mask in masks:
            outs = [laid_out(torch.full(e.shape, 3.0).to(dtype), layout) for e in exact]
            library.call(
                "aclnnConvolutionBackward", laid_out(g, layout), laid_out(x, layout), laid_out(w, layout), [case.channels],
                *case.attributes(), mask, 0, *outs,
            )  # fmt: skip
            for asked, out, e, m, n in zip(mask, outs, exact, magnitudes, terms, strict=True):
                if asked:
                    assert_sum(out, e, m, n)
                else:
                    assert bool((out == 3).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=dtype_name)
def test_empty_images(library: Library, dtype: torch.dtype) -> None:
    """No images, no input channels, or no output channels."""
    for x_shape, w_shape, out_shape in [
        ((0, 3, 5, 5), (4, 3, 3, 3), (0, 4, 3, 3)),
        ((2, 0, 5, 5), (4, 0, 3, 3), (2, 4, 3, 3)),
        ((2, 3, 5, 5), (0, 3, 3, 3), (2, 0, 3, 3)),
    ]:
        case = Case(x_shape, w_shape)
        x, w, b = (
            normal(x_shape, dtype, seeded("x")),
            normal(w_shape, dtype, seeded("w")),
            normal(w_shape[:1], dtype, seeded("b")),
        )
        out = torch.full(out_shape, 3.0).to(dtype)
        library.call("aclnnConvolution", x, w, b, *case.attributes(), out, 0)
        assert torch.equal(out, b[None, :, None, None].expand(out_shape))
        outs = [torch.full(shape, 3.0).to(dtype) for shape in (x_shape, w_shape, w_shape[:1])]
        g = torch.ones(out_shape, dtype=dtype)
        library.call(
            "aclnnConvolutionBackward", g, x, w, None, *case.attributes(), [True] * 3, 0, *outs
        )
        expected = [torch.zeros_like(x), torch.zeros_like(w), g.sum((0, 2, 3))]
        assert all(torch.equal(a, e) for a, e in zip(outs, expected, strict=True))


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_large(library: Library, dtype: torch.dtype) -> None:
    """Large enough for several threads."""
    for case in (
        Case((2, 16, 30, 40), (24, 16, 3, 3), padding=(1,)),
        Case((2, 32, 40, 40), (32, 1, 5, 5), groups=32),
    ):
        x, w = normal(case.input, dtype, seeded("x")), normal(case.weight, dtype, seeded("w"))
        exact = reference(case, x, w, None)
        out = torch.zeros(exact.shape, dtype=dtype)
        library.call("aclnnConvolution", x, w, None, *case.attributes(), out, 0)
        assert_sum(out, exact, magnitude_of(case, x, w, None), math.prod(case.weight[1:]))
        g = normal(tuple(exact.shape), dtype, seeded("g"))
        outs = [torch.zeros(t, dtype=dtype) for t in (case.input, case.weight, (case.channels,))]
        library.call(
            "aclnnConvolutionBackward", g, x, w, None, *case.attributes(), [True] * 3, 0, *outs
        )
        terms = [math.prod(case.weight), g.numel(), g.numel()]
        sizes = gradients(case, g.abs(), x.abs(), w.abs())
        for result, e, m, n in zip(outs, gradients(case, g, x, w), sizes, terms, strict=True):
            assert_sum(result, e, m, n)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_depthwise(library: Library, dtype: torch.dtype, layout: str) -> None:
    case = Case((2, 4, 9, 8), (8, 1, 3, 2), (2, 1), (1, 0), (1, 2), groups=4)
    x, w, b = (
        normal(case.input, dtype, seeded("x")),
        normal(case.weight, dtype, seeded("w")),
        normal((8,), dtype, seeded("b")),
    )
    exact = reference(case, x, w, b)
    out = laid_out(torch.zeros(exact.shape, dtype=dtype), layout)
    stride, padding, dilation = case.attributes()[:3]
    library.call(
        "aclnnConvDepthwise2d", laid_out(x, layout), laid_out(w, layout), [3, 2], laid_out(b, layout), stride, padding, dilation, out, 0
    )  # fmt: skip
    assert_sum(out, exact, magnitude_of(case, x, w, b), 6)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_time_batch_channel(library: Library, dtype: torch.dtype, layout: str) -> None:
    x, w, b = (
        normal((7, 2, 3), dtype, seeded("x")),
        normal((3, 3, 5), dtype, seeded("w")),
        normal((5,), dtype, seeded("b")),
    )
    exact = torch.conv_tbc(x.double(), w.double(), b.double(), 1)
    size = torch.conv_tbc(x.abs().double(), w.abs().double(), b.abs().double(), 1)
    out = laid_out(torch.zeros(exact.shape, dtype=dtype), layout)
    library.call(
        "aclnnConvTbc", laid_out(x, layout), laid_out(w, layout), laid_out(b, layout), 1, out, 0
    )
    assert_sum(out, exact, size, 9)
    g = normal(tuple(exact.shape), dtype, seeded("g"))
    outs = [laid_out(torch.zeros_like(t), layout) for t in (x, w, b)]
    library.call(
        "aclnnConvTbcBackward",
        laid_out(g, layout),
        laid_out(x, layout),
        laid_out(w, layout),
        b,
        1,
        0,
        *outs,
    )

    def wanted(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        own = [t.double().requires_grad_() for t in tensors[1:]]
        return torch.autograd.grad(torch.conv_tbc(*own, 1), own, tensors[0].double())

    for result, e, m in zip(
        outs, wanted(g, x, w, b), wanted(*(t.abs() for t in (g, x, w, b))), strict=True
    ):
        assert_sum(result, e, m, g.numel())


def refused(library: Library, *arguments: object, name: str = "aclnnConvolution") -> AclnnError:
    with pytest.raises(AclnnError) as error:
        library.call(name, *arguments)
    return error.value


def test_bad_input(library: Library) -> None:
    x, w, out = torch.ones(2, 3, 8, 8), torch.ones(4, 3, 3, 3), torch.zeros(2, 4, 6, 6)
    plain = Case((2, 3, 8, 8), (4, 3, 3, 3)).attributes()

    def with_one(index: int, value: object) -> list:
        return [value if i == index else v for i, v in enumerate(plain)]

    for tensors in (
        (x, w, None, plain, torch.zeros(2, 4, 6, 5)),
        (x, w, None, plain, torch.zeros(1, 4, 6, 6)),
        (x, w, None, plain, torch.zeros(4, 6, 6)),
        (x, w, None, plain, torch.zeros(2, 5, 6, 6)),
        (x[:, :2], w, None, plain, out),
        (x, w.double(), None, plain, out),
        (x, w, torch.ones(3), plain, out),
        (x, w, torch.ones(4).int(), plain, out),
        (x, w[0, 0], None, plain, out),
        (x[0, 0], w, None, plain, out),
        (x.bool(), w.bool(), None, plain, out.bool()),
        (x[:, :, :2], w, None, plain, out),
        (x, w, None, with_one(0, [0, 1]), out),
        (x, w, None, with_one(0, [1, 1, 1]), out),
        (x, w, None, with_one(1, [-1, 0]), out),
        (x, w, None, with_one(2, [0, 1]), out),
        (x, w, None, with_one(5, 0), out),
        (x, w, None, with_one(5, 2), out),
        (out, w, None, [[1], [0], [1], True, [1], 1], x),
        (x, w[:, :, :0], None, plain, out),
    ):
        error = refused(library, *tensors[:3], *tensors[3], tensors[4], 0)
        assert error.code == INVALID, str(error)
    assert refused(library, x, w, None, *plain, out, 7).code == INVALID
    assert refused(library, x, None, None, *plain, out, 0).code == NULL
    outs = [torch.zeros_like(x), torch.zeros_like(w), torch.zeros(4)]
    backward = "aclnnConvolutionBackward"
    assert (
        refused(library, out, x, w, None, *plain, [True, True], 0, *outs, name=backward).code
        == INVALID
    )
    assert (
        refused(
            library, out, x, w, None, *plain, [True] * 3, 0, None, *outs[1:], name=backward
        ).code
        == NULL
    )
    assert (
        refused(library, out, x, w, None, *plain, [True] * 3, 0, w, *outs[1:], name=backward).code
        == INVALID
    )
