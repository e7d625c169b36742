"""The operators of softnpu/ops/nn/quant against their formulas in torch."""

import pytest
import torch

from tests.aclnn.cases import LAYOUTS, dtype_name, laid_out, normal, seeded, unwritten
from tests.aclnn.compare import assert_near, assert_same, assert_sum, refused
from tests.aclnn.library import AclnnError, Blocks, Library
from torch_npu.accuracy.dtypes import epsilon

VALUES = (torch.float32, torch.float16, torch.bfloat16)
SHAPES = [(7, 33), (2, 3, 5), (4, 1000), (0, 4), (3, 1)]


def assert_rounded(got: torch.Tensor, exact: torch.Tensor) -> None:
    """The nearest int8; near the middle of two integers either of them."""
    assert got.dtype == torch.int8
    off = (got.double() - exact.double().clamp(-128, 127)).abs()
    assert bool((off <= 0.5 + 256 * epsilon(torch.float32)).all())


def int8(shape: tuple[int, ...], *key: object) -> torch.Tensor:
    return torch.randint(-128, 128, shape, generator=seeded(shape, *key)).to(torch.int8)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("smooth", [False, True])
def test_dynamic(library: Library, shape: tuple, dtype: torch.dtype, smooth: bool) -> None:
    g = seeded("dynamic", shape, dtype)
    x = normal(shape, dtype, g)
    factors = normal(shape[-1:], dtype, g) if smooth else None
    values = x.float() * factors.float() if smooth else x.float()
    for layout in LAYOUTS:
        y, scale = laid_out(torch.zeros(shape, dtype=torch.int8), layout), torch.zeros(shape[:-1])
        library.call("aclnnDynamicQuant", laid_out(x, layout), factors, y, scale)
        assert_near(scale, values.abs().amax(-1) / 127, 4 * epsilon(torch.float32))
        assert_rounded(y, values / scale[..., None])
        offset = torch.zeros(shape[:-1])
        name = "aclnnDynamicQuantV2"
        library.call(name, laid_out(x, layout), factors, None, torch.int8, y, scale, offset)
        most, least = values.amax(-1), values.amin(-1)
        assert_near(scale, (most - least) / 255, 4 * epsilon(torch.float32), 1e-7)
        if shape[-1] > 1:
            assert_near(offset, 127 - most / scale, 1e-4, 1e-4)
            assert_rounded(y, values / scale[..., None] + offset[..., None])


def test_dynamic_by_groups(library: Library) -> None:
    x, factors = torch.randn(9, 6, generator=seeded("x")), torch.rand(3, 6, generator=seeded("f"))
    y, scale = torch.zeros(9, 6, dtype=torch.int8), torch.zeros(9)
    ends = torch.tensor([2, 2, 9], dtype=torch.int32)
    library.call("aclnnDynamicQuantV2", x, factors, ends, torch.int8, y, scale, None)
    values = torch.cat([x[:2] * factors[0], x[2:] * factors[2]])
    assert_near(scale, values.abs().amax(-1) / 127, 4 * epsilon(torch.float32))
    assert_rounded(y, values / scale[:, None])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
def test_static_and_back(library: Library, shape: tuple, dtype: torch.dtype) -> None:
    g = seeded("static", shape, dtype)
    x = normal(shape, dtype, g) * 20
    for axis in (-1, -2):
        for size in (shape[axis], 1):
            scale, offset = normal((size,), dtype, g) * 3, normal((size,), dtype, g) * 9
            spread = [t.float() if axis == -1 else t.float()[:, None] for t in (scale, offset)]
            for layout in LAYOUTS:
                y = laid_out(torch.zeros(shape, dtype=torch.int8), layout)
                arguments = (laid_out(x, layout), scale, offset, False, "round", torch.int8)
                library.call("aclnnAscendQuantV3", *arguments, axis, y)
                assert_rounded(y, x.float() * spread[0] + spread[1])
                if axis == -1:
                    library.call("aclnnAscendQuant", *arguments, y)
                    assert_rounded(y, x.float() * spread[0] + spread[1])
                    back = unwritten(x, layout)
                    library.call("aclnnAscendAntiQuant", y, scale, offset, dtype, False, back)
                    exact = (y.double() + spread[1]) * spread[0]
                    assert_sum(
                        back, exact, (y.double().abs() + spread[1].abs()) * spread[0].abs(), 2
                    )


@pytest.mark.parametrize("mode", ["round", "floor", "ceil", "trunc"])
def test_rounding(library: Library, mode: str) -> None:
    x = torch.tensor([-1e9, -127.6, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.3, 126.7, 1e9, float("nan")])
    y = torch.zeros(12, dtype=torch.int8)
    one, root = torch.ones(1), torch.full((1,), 2.0)
    library.call("aclnnAscendQuant", x, one, None, False, mode, torch.int8, y)
    want = getattr(torch, mode)(x).clamp(-128, 127).nan_to_num(0).to(torch.int8)
    assert_same(y, want)
    library.call("aclnnAscendQuant", x / 4, root, None, True, mode, torch.int8, y)
    assert_same(y, want)


PRODUCTS = [((5, 7), (7, 9)), ((2, 3, 70), (70, 33)), ((4, 1, 6, 8), (3, 8, 5)), ((0, 4), (4, 3)),
            ((3, 0), (0, 4)), ((65, 300), (300, 130))]  # fmt: skip


@pytest.mark.parametrize("result", [*VALUES, torch.int8], ids=dtype_name)
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products(library: Library, shapes: tuple, result: torch.dtype) -> None:
    x1, x2 = int8(shapes[0], "x1"), int8(shapes[1], "x2")
    product = x1.double() @ x2.double()
    rows, columns = product.shape[-2:]
    g = seeded("scales", shapes)
    column = torch.rand(columns, generator=g) / 1000
    offset, row = torch.randn(columns, generator=g) * 9, torch.rand(rows, generator=g)
    whole = torch.randint(-99999, 99999, (columns,), generator=g).int()
    added = torch.randn(columns, generator=g)
    packed = torch.zeros(columns, dtype=torch.int64)
    library.call("aclnnTransQuantParamV2", column, offset, packed)
    a, o = column.double(), offset.double()
    missing = (None, None, None)
    cases = [
        ((None, column), offset, None, product * a + o),
        ((None, packed), None, whole, (product + whole) * a + o),
        ((row, column), None, added, product * a * row.double()[:, None] + added.double()),
        ((row, column[:1]), None, whole, (product + whole) * a[:1] * row.double()[:, None]),
    ]  # fmt: skip
    for scales, offsets, bias, exact in cases:
        if columns == 0:
            continue
        for layout in LAYOUTS:
            out = laid_out(torch.full(product.shape, 3).to(result), layout)
            for turned in (False, True):
                given = [laid_out(t.mT if turned else t, layout) for t in (x1, x2)]
                library.call(
                    "aclnnQuantMatmulV5", *given, *scales, None, None, offsets, missing[0], bias,
                    turned, turned, 0, out,
                )  # fmt: skip
                if result == torch.int8:
                    off = (out.double() - exact.clamp(-128, 127)).abs()
                    assert bool((off <= 0.5 + 1e-3).all())
                else:
                    assert_sum(out, exact, exact.abs() + 50, 4)


@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products_with_quantized_weights(
    library: Library, shapes: tuple, dtype: torch.dtype
) -> None:
    g = seeded("weights", shapes, dtype)
    x, weight = normal(shapes[0], dtype, g), int8(shapes[1], "weight")
    depth, columns = shapes[1][-2:]
    bias = normal((columns,), dtype, g)
    for group in (0, 3):
        groups = 1 if group == 0 else max(1, -(-depth // group))
        scale, offset = (normal((groups, columns), dtype, g) for _ in range(2))
        each = torch.arange(depth) // (group or max(1, depth))
        widened = (weight.double() + offset.double()[each]) * scale.double()[each]
        exact = x.double() @ widened + bias.double()
        size = x.double().abs() @ (
            (weight.double().abs() + offset.double()[each].abs()) * scale.double()[each].abs()
        )
        for layout in LAYOUTS:
            out = laid_out(torch.full(exact.shape, 3).to(dtype), layout)
            given = laid_out(x, layout), laid_out(weight, layout), scale, offset
            library.call("aclnnWeightQuantBatchMatmulV2", *given, None, None, bias, group, out)
            assert_sum(out, exact, size + bias.double().abs(), depth + 4)
    out = torch.zeros(exact.shape, dtype=dtype)
    one = torch.full((1,), 0.5, dtype=dtype)
    library.call("aclnnWeightQuantBatchMatmulV2", x, weight, one, None, None, None, None, 0, out)
    exact, size = x.double() @ weight.double() / 2, x.double().abs() @ weight.double().abs() / 2
    assert_sum(out, exact, size, depth + 2)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 300])
@pytest.mark.parametrize("group", [0, 32, 128])
@pytest.mark.parametrize("has_offset", [False, True])
def test_contiguous_columns_of_weights(
    library: Library, rows: int, group: int, has_offset: bool
) -> None:
    """Weights stored [N, K], as language models are, with scales stored alike; rows of two batches."""
    depth, columns = 213, 70
    g = seeded("columns", rows, group)
    weight = int8((columns, depth), "columns").mT
    groups = 1 if group == 0 else -(-depth // group)
    scale, offset = (normal((columns, groups), torch.float16, g).mT for _ in range(2))
    x = normal((2, rows, depth), torch.float16, g)
    each = torch.arange(depth) // (group or depth)
    moved = weight.double() + (offset.double()[each] if has_offset else 0)
    factor = moved * scale.double()[each]
    given = x, weight, scale, offset if has_offset else None
    out = torch.full((2, rows, columns), 3, dtype=torch.float16)
    library.call("aclnnWeightQuantBatchMatmulV2", *given, None, None, None, group, out)
    size = (weight.double().abs() + offset.double()[each].abs()) * scale.double()[each].abs()
    assert_sum(out, x.double() @ factor, x.double().abs() @ size, depth + 4)


def test_bad_input(library: Library) -> None:
    x, y, scale = torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.int8), torch.zeros(2)
    name = "aclnnDynamicQuant"
    refused(library, name, x.double(), None, y, scale, message="no dynamic quantization")
    refused(library, name, x, None, y.int(), scale, message="no dynamic quantization")
    refused(library, name, x, None, y.t(), scale, message="have not one shape")
    refused(library, name, x, scale, y, scale, message="smoothScales is")
    refused(library, name, x, None, y, x[0], message="scale is .* of 2 rows")
    name = "aclnnAscendQuantV3"
    refused(
        library, name, x, scale, None, False, "round", torch.int8, -1, y, message="the scale is"
    )
    refused(
        library, name, x, scale, None, False, "up", torch.int8, -2, y, message="round mode 'up'"
    )
    refused(library, name, x, scale, None, False, "round", torch.int8, -3, y, message="axis is -3")
    refused(
        library, name, x, scale, None, False, "round", torch.uint8, -2, y, message="no quantization"
    )
    refused(
        library, "aclnnAscendAntiQuant", x, x[0], None, torch.float32, False, x, message="no values"
    )
    name, rest = "aclnnQuantMatmulV5", (None, None, None, None, None, False, False)
    out = torch.zeros(2, 2)
    refused(library, name, y, y, None, scale, *rest, 0, out, message="do not multiply")
    refused(library, name, y, y.t(), None, x[0], *rest, 0, out, message="x2Scale is")
    refused(library, name, y, y.t(), None, scale, *rest, 32, out, message="groupSize is 32")
    refused(
        library, name, y, y.t(), None, scale, scale, *rest[1:], 0, out, message="not defined here"
    )
    refused(
        library, name, y, y.t(), None, scale, *rest, 0, out.int(), message="no quantized product"
    )
    name, rest = "aclnnWeightQuantBatchMatmulV2", (None, None, None, None)
    refused(library, name, x, y.t(), x[0], *rest, 0, out, message="antiquantScale is")
    refused(
        library, name, x, y.t(), scale, None, scale, None, None, 0, out, message="not defined here"
    )
    refused(library, name, x, y.t(), scale, *rest, -1, out, message="antiquantGroupSize is -1")


INT4 = 29


@pytest.mark.parametrize("sizes", [(1, 64, 32), (5, 96, 33), (3, 33, 7)], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("offset", [0, 5])
def test_weights_of_4_bits(library: Library, sizes: tuple, transposed: bool, offset: int) -> None:
    """Two signed values a byte, the lower half first; a scale for each group of 32 rows."""
    m, k, n = sizes
    g = seeded("int4", sizes)
    weights = torch.randint(-8, 8, (k, n), generator=g)
    flat = (weights.T if transposed else weights).flatten() & 15
    flat = torch.cat([torch.full((offset,), 9), flat, torch.zeros(2, dtype=torch.long)])
    flat = flat[: flat.numel() // 2 * 2]
    memory = (flat[0::2] | flat[1::2] << 4).to(torch.uint8)
    strides = (1, k) if transposed else (n, 1)
    weight = Blocks(memory, (k, n), 2, strides, INT4, offset)
    groups = (k + 31) // 32
    scale = normal((groups, n), torch.float16, g)
    x = normal((m, k), torch.float16, g)
    out = torch.zeros(m, n, dtype=torch.float16)
    nothing = (None, None, None, None)
    library.call("aclnnWeightQuantBatchMatmulV2", x, weight, scale, *nothing, 32, out)
    factor = weights.double() * scale.double().repeat_interleave(32, 0)[:k]
    assert_sum(out, x.double() @ factor, x.double().abs() @ factor.abs(), k)


def test_operators_without_4_bits_refuse_them(library: Library) -> None:
    four = Blocks(torch.zeros(8, dtype=torch.uint8), (4, 4), 2, (4, 1), INT4)
    with pytest.raises(AclnnError):
        library.call("aclnnCast", four, torch.int8, torch.zeros(4, 4, dtype=torch.int8))
    with pytest.raises(AclnnError):
        library.call("aclnnNpuFormatCast", four, four)


def rms_normed(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor | None) -> torch.Tensor:
    """The RMS norm with the epsilon of the tests, in float64."""
    over = tuple(range(-gamma.dim(), 0))
    x = x.double()
    y = x / (x.square().mean(over, keepdim=True) + 1e-6).sqrt() * gamma.double()
    return y if beta is None else y + beta.double()


@pytest.mark.parametrize("shape", [*SHAPES, (600, 257)], ids=str)
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
def test_norm_of_sums(library: Library, shape: tuple, dtype: torch.dtype) -> None:
    g = seeded("norm", shape, dtype)
    a, b = normal(shape, dtype, g), normal(shape, dtype, g)
    gamma, beta = (normal(shape[-1:], dtype, g) for _ in range(2))
    scales = torch.rand(2, shape[-1], generator=g) / 16 + 0.01
    offset = torch.randint(-9, 9, (shape[-1],), generator=g, dtype=torch.int32)
    exact = rms_normed(a.float() + b.float(), gamma, beta)
    for layout in LAYOUTS:
        x, y = laid_out(a, layout), laid_out(b, layout)
        first, second = (laid_out(torch.ones(shape, dtype=torch.int8), layout) for _ in range(2))
        total, normed = unwritten(a, layout), unwritten(a, layout)
        arguments = (x, y, gamma, scales[0], scales[1], offset, None)
        outputs = (first, second, total)
        name = "aclnnAddRmsNormQuantV2"
        library.call(name, *arguments, beta, -1, 1e-6, True, *outputs, normed)
        assert_rounded(first, exact / scales[0] + offset)
        assert_rounded(second, exact / scales[1])
        assert_near(total, a.double() + b.double(), 2 * epsilon(dtype), 1e-7)
        assert_near(normed, exact, 2 * epsilon(dtype), 1e-5)
        library.call(name, *arguments, beta, -1, 1e-6, False, *outputs, None)
        assert_rounded(first, exact * scales[0] + offset)
        library.call("aclnnAddRmsNormQuant", x, y, gamma, scales[:1, 0], None, None, None, -1, 1e-6, True, *outputs)  # fmt: skip
        assert_rounded(first, rms_normed(a.float() + b.float(), gamma, None) / scales[0, 0])
        assert not second.any()
        library.call("aclnnRmsNormQuant", x, gamma, beta, scales[0], offset, 1e-6, first)
        assert_rounded(first, rms_normed(a, gamma, beta) / scales[0] + offset)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0]], ids=str)
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("mask", [None, (False, True), (True, False)], ids=str)
def test_norm_of_sums_by_rows(
    library: Library, shape: tuple, dtype: torch.dtype, mask: tuple | None
) -> None:
    g = seeded("norm by rows", shape, dtype)
    a, b = normal(shape, dtype, g), normal(shape, dtype, g)
    a[0], b[0] = 0, 0
    gamma, smooth = normal(shape[-1:], dtype, g), normal(shape[-1:], dtype, g)
    exact = rms_normed(a.float() + b.float(), gamma, None)
    asked = mask or (True, True)
    ys = [torch.ones(shape if is_asked else (1,), dtype=torch.int8) for is_asked in asked]
    scales = [torch.ones(shape[:-1] if is_asked else (1,)) for is_asked in asked]
    total = unwritten(a, LAYOUTS[0])
    library.call("aclnnAddRmsNormDynamicQuantV2", a, b, gamma, smooth, smooth, None, 1e-6,
                 mask, *ys, total, *scales)  # fmt: skip
    found = (exact * smooth.double()).abs().amax(-1) / 127
    for y, scale, is_asked in zip(ys, scales, asked, strict=True):
        if is_asked:
            assert_near(scale, torch.where(found > 0, found, 1), 8 * epsilon(torch.float32), 1e-7)
            assert_rounded(y, exact * smooth.double() / scale[..., None].double())
        else:
            assert not y.any()
            assert not scale.any()


def test_norm_refuses(library: Library) -> None:
    x, gamma, y = torch.randn(3, 4), torch.ones(4), torch.zeros(3, 4, dtype=torch.int8)
    name = "aclnnRmsNormQuant"
    for wrong, text in (
        ((x, torch.ones(3), None, gamma, None, 1e-6, y), "gamma is"),
        ((x, gamma, torch.ones(3), gamma, None, 1e-6, y), "beta is"),
        ((x, gamma, None, torch.ones(3), None, 1e-6, y), "the scale is"),
        ((x, gamma, None, gamma[:0], None, 1e-6, y), "the first scale has no elements"),
        ((x, gamma, None, gamma, None, 1e-6, y[:2]), "the result is"),
        ((x.double(), gamma, None, gamma, None, 1e-6, y), "gamma is"),
    ):
        refused(library, name, *wrong, message=text)
    name, rest = "aclnnAddRmsNormQuantV2", (None, None, None, -1, 1e-6, True)
    outputs = (y, y.clone(), x.clone(), None)
    for scales, text in (
        ((gamma[:0], None), "the first scale has no elements, where 1 or 4 are needed"),
        ((gamma[:0], gamma), "the first scale has no elements"),
        ((torch.ones(3), None), "the scale is"),
        ((gamma, torch.ones(3)), "the scale is"),
    ):
        refused(library, name, x, x, gamma, *scales, *rest, *outputs, message=text)
