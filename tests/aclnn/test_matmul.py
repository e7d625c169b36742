"""The operators of softnpu/ops/blas/matmul against torch: every dtype, layout and broadcast."""

import ctypes

import pytest
import torch

from tests.aclnn.cases import (
    COMPLEX,
    FLOATING,
    INTEGERS,
    LAYOUTS,
    dtype_name,
    laid_out,
    normal,
    seeded,
)
from tests.aclnn.compare import INVALID, NULL, assert_near, assert_sum
from tests.aclnn.library import DTYPES as NUMBERS
from tests.aclnn.library import AclnnError, Blocks, Library
from torch_npu.accuracy.dtypes import epsilon

DTYPES = [*FLOATING, *COMPLEX, *INTEGERS]


def in_float64(dtype: torch.dtype) -> torch.dtype:
    """The reference's type: exact for integers up to their own width, else double."""
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else torch.int64


PLACES = (*LAYOUTS, "swapped", "rotated")


def product(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    widened = in_float64(a.dtype)
    exact = torch.matmul(a.to(widened), b.to(widened))
    magnitude_type = torch.int64 if widened == torch.int64 else torch.float64
    return exact, torch.matmul(a.abs().to(magnitude_type), b.abs().to(magnitude_type))


def run_product(
    library: Library, name: str, a: torch.Tensor, b: torch.Tensor, layouts: tuple[str, str, str]
) -> None:
    expected, magnitude = product(a, b)
    out = laid_out(torch.full(expected.shape, 7).to(a.dtype), layouts[2])
    extra = () if name == "aclnnDot" else (0,)
    library.call(name, laid_out(a, layouts[0]), laid_out(b, layouts[1]), out, *extra)
    assert_sum(out, expected, magnitude, a.shape[-1])


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("layout", PLACES)
@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1),
        (3, 5, 7),
        (1, 70, 9),
        (9, 70, 1),
        (33, 17, 65),
        (70, 130, 66),
        (4, 0, 3),
        (0, 4, 3),
    ],
    ids=str,
)
def test_mm(library: Library, dtype: torch.dtype, layout: str, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    a, b = normal((m, k), dtype, seeded(f"a{sizes}")), normal((k, n), dtype, seeded(f"b{sizes}"))
    run_product(library, "aclnnMm", a, b, (layout, "contiguous", "contiguous"))
    run_product(library, "aclnnMm", a, b, ("contiguous", layout, layout))


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("layout", PLACES)
def test_bmm(library: Library, dtype: torch.dtype, layout: str) -> None:
    for shape_a, shape_b in [
        ((3, 4, 5), (3, 5, 6)),
        ((0, 2, 3), (0, 3, 2)),
        ((2, 1, 40), (2, 40, 33)),
    ]:
        a, b = normal(shape_a, dtype, seeded("a")), normal(shape_b, dtype, seeded("b"))
        run_product(library, "aclnnBatchMatMul", a, b, (layout, layout, layout))


MATMULS = [
    ((5,), (5,)),
    ((0,), (0,)),
    ((4, 5), (5,)),
    ((5,), (5, 6)),
    ((2, 4, 5), (5,)),
    ((5,), (2, 5, 6)),
    ((2, 3, 4, 5), (5, 6)),
    ((4, 5), (2, 3, 5, 6)),
    ((2, 1, 4, 5), (3, 5, 6)),
    ((2, 3, 4, 5), (2, 1, 5, 6)),
    ((2, 1, 3, 4, 5), (1, 2, 1, 5, 6)),
    ((2, 3, 0, 5), (3, 5, 6)),
    ((2, 1, 2, 1, 2, 1, 2, 3, 4), (1, 2, 2, 1, 1, 2, 1, 4, 3)),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("shapes", MATMULS, ids=str)
def test_matmul(library: Library, dtype: torch.dtype, shapes: tuple) -> None:
    a, b = normal(shapes[0], dtype, seeded("a")), normal(shapes[1], dtype, seeded("b"))
    for layout in LAYOUTS:
        run_product(library, "aclnnMatmul", a, b, (layout, layout, "contiguous"))
    run_product(library, "aclnnMatmul", a, b, ("contiguous", "contiguous", "strided"))


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
def test_expanded_factors(library: Library, dtype: torch.dtype) -> None:
    a = normal((1, 6), dtype, seeded("a")).expand(4, 6)
    b = normal((6, 1), dtype, seeded("b")).expand(6, 5)
    run_product(library, "aclnnMm", a, b, ("contiguous",) * 3)
    stack = normal((1, 4, 6), dtype, seeded("s")).expand(3, 4, 6)
    run_product(library, "aclnnBatchMatMul", stack, b.expand(3, 6, 5), ("contiguous",) * 3)


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("layout", PLACES)
def test_vectors(library: Library, dtype: torch.dtype, layout: str) -> None:
    mat, vec = normal((6, 37), dtype, seeded("m")), normal((37,), dtype, seeded("v"))
    run_product(library, "aclnnMv", mat, vec, (layout, layout, layout))
    run_product(library, "aclnnDot", mat[0], vec, (layout, layout, layout))
    run_product(library, "aclnnDot", vec[:0], vec[:0], (layout, layout, layout))


# name, shapes of (self, a, b), the product's factors and the result's shape, whether alpha precedes beta
ADDENDS = {
    "aclnnAddmm": [((m, n), (7, 12), (12, 9)) for m, n in [(7, 9), (1, 9), (7, 1)]]
    + [((9,), (7, 12), (12, 9)), ((1,), (7, 12), (12, 9)), ((), (7, 12), (12, 9)), ((7, 9), (7, 0), (0, 9))],
    "aclnnBaddbmm": [((3, 4, 5), (3, 4, 6), (3, 6, 5)), ((5,), (3, 4, 6), (3, 6, 5)), ((3, 1, 5), (3, 4, 0), (3, 0, 5))],
    "aclnnAddbmm": [((4, 5), (3, 4, 6), (3, 6, 5)), ((5,), (3, 4, 6), (3, 6, 5)), ((4, 5), (0, 4, 6), (0, 6, 5)),
                    ((4, 5), (1, 4, 6), (1, 6, 5))],
    "aclnnAddmv": [((6,), (6, 11), (11,)), ((1,), (6, 11), (11,)), ((), (6, 11), (11,)), ((6,), (6, 0), (0,))],
    "aclnnAddr": [((6, 8), (6,), (8,)), ((8,), (6,), (8,)), ((6, 1), (6,), (8,))],
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("name", ADDENDS)
@pytest.mark.parametrize("layout", PLACES)
def test_addend(library: Library, dtype: torch.dtype, name: str, layout: str) -> None:
    scales = [(1, 1), (2, 0), (-1, 3)]
    if dtype.is_floating_point:
        scales.append((0.5, -1.25))
    if dtype.is_complex:
        scales.append((0.5 - 1j, 2j))
    for shapes in ADDENDS[name]:
        own, a, b = (normal(shape, dtype, seeded(f"{name}{i}")) for i, shape in enumerate(shapes))
        left, right = (a[:, None], b[None, :]) if name == "aclnnAddr" else (a, b)
        exact, magnitude = product(left, right)
        terms = a.shape[-1] if name != "aclnnAddr" else 1
        if name == "aclnnAddbmm":
            exact, magnitude, terms = exact.sum(0), magnitude.sum(0), a.shape[0] * a.shape[-1]
        for alpha, beta in scales:
            # With beta 0 self is not read.
            given = (
                torch.full_like(own, float("nan")) if beta == 0 and dtype.is_floating_point else own
            )
            expected = alpha * exact
            if beta != 0:
                expected = expected + beta * own.to(exact.dtype)
            size = abs(alpha) * magnitude + abs(beta) * own.abs().to(magnitude.dtype)
            out = laid_out(torch.zeros(expected.shape, dtype=dtype), layout)
            arguments = [laid_out(given, layout), laid_out(a, layout), laid_out(b, layout)]
            arguments += [alpha, beta] if name == "aclnnAddmv" else [beta, alpha]
            arguments += [out] if name == "aclnnAddr" else [out, 0]
            library.call(name, *arguments)
            assert_sum(out, expected, size, terms + 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
def test_in_place(library: Library, dtype: torch.dtype) -> None:
    own, a, b = (
        normal((7, 9), dtype, seeded("o")),
        normal((7, 12), dtype, seeded("a")),
        normal((12, 9), dtype, seeded("b")),
    )
    for layout in LAYOUTS:
        out = laid_out(own.clone(), layout)
        library.call("aclnnInplaceAddmm", out, a, b, 2, 3, 0)
        exact, magnitude = product(a, b)
        assert_sum(
            out,
            2 * own.to(exact.dtype) + 3 * exact,
            2 * own.abs().to(magnitude.dtype) + 3 * magnitude,
            14,
        )
        out = laid_out(own.clone(), layout)
        library.call("aclnnInplaceAddr", out, a[:, 0], b[0], 2, 3)
        exact, magnitude = product(a[:, :1], b[:1])
        assert_sum(
            out,
            2 * own.to(exact.dtype) + 3 * exact,
            2 * own.abs().to(magnitude.dtype) + 3 * magnitude,
            3,
        )


def test_addr_of_bools_and_mixed_types(library: Library) -> None:
    own, a, b = (
        normal((5, 6), torch.bool, seeded("o")),
        normal((5,), torch.bool, seeded("a")),
        normal((6,), torch.bool, seeded("b")),
    )
    out = torch.zeros(5, 6, dtype=torch.bool)
    library.call("aclnnAddr", own, a, b, True, True, out)
    assert torch.equal(out, torch.addr(own, a, b))
    mixed = normal((6,), torch.int32, seeded("m"))
    result = torch.zeros(5, 6)
    library.call("aclnnAddr", own, normal((5,), torch.float32, seeded("f")), mixed, 1, 2, result)
    expected = torch.addr(
        own.float(), normal((5,), torch.float32, seeded("f")), mixed.float(), alpha=2
    )
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=dtype_name)
def test_sixteen_bits_to_float32(library: Library, dtype: torch.dtype) -> None:
    a, b = normal((9, 40), dtype, seeded("a")), normal((40, 8), dtype, seeded("b"))
    out = torch.zeros(9, 8)
    library.call("aclnnMm", a, b, out, 0)
    exact, magnitude = product(a, b)
    assert_sum(out, exact, magnitude, 40)


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
def test_many_threads_give_the_same(library: Library, dtype: torch.dtype) -> None:
    """Large enough to be divided; there is no difference at the borders."""
    a, b = normal((150, 300), dtype, seeded("a")), normal((300, 170), dtype, seeded("b"))
    run_product(library, "aclnnMm", a, b, ("contiguous",) * 3)


def refused(library: Library, name: str, *arguments: object) -> AclnnError:
    with pytest.raises(AclnnError) as error:
        library.call(name, *arguments)
    return error.value


def test_bad_input(library: Library) -> None:
    a, b, out = torch.ones(3, 4), torch.ones(4, 5), torch.zeros(3, 5)
    error = refused(library, "aclnnMm", a, a, out, 0)
    assert error.code == INVALID
    assert "[3, 4] and [3, 4] do not multiply to [3, 5]" in str(error)
    error = refused(library, "aclnnMm", a, b.double(), out, 0)
    assert error.code == INVALID
    assert "float32 and float64" in str(error)
    error = refused(library, "aclnnMm", a, b, out.int(), 0)
    assert error.code == INVALID
    assert "int32" in str(error)
    error = refused(library, "aclnnMm", a.bool(), b.bool(), out.bool(), 0)
    assert error.code == INVALID
    assert "bool[3, 4]" in str(error)
    error = refused(library, "aclnnMm", a[0], b, out, 0)
    assert error.code == INVALID
    assert "2 dimensions" in str(error)
    assert refused(library, "aclnnMm", a, None, out, 0).code == NULL
    assert "cubeMathType 9" in str(refused(library, "aclnnMatmul", a, b, out, 9))
    for shapes in [
        ((), (4,), ()),
        ((4,), (), ()),
        ((4,), (5,), ()),
        ((2, 3, 4), (3, 4, 5), (2, 3, 5)),
        ((4,), (4,), (1,)),
    ]:
        tensors = [torch.ones(shape) for shape in shapes]
        assert refused(library, "aclnnMatmul", *tensors, 0).code == INVALID
    error = refused(library, "aclnnAddmm", torch.ones(4), a, b, 1, 1, out, 0)
    assert error.code == INVALID
    assert "[4], which cannot be broadcast to [3, 5]" in str(error)
    assert (
        refused(library, "aclnnAddmm", torch.ones(5).double(), a, b, 1, 1, out, 0).code == INVALID
    )
    assert refused(library, "aclnnAddmm", torch.ones(5), a, b, None, 1, out, 0).code == NULL
    assert (
        refused(library, "aclnnBatchMatMul", a[None], b.expand(2, 4, 5), out[None], 0).code
        == INVALID
    )
    assert (
        refused(library, "aclnnAddbmm", out, a[None], b.expand(2, 4, 5), 1, 1, out, 0).code
        == INVALID
    )
    assert refused(library, "aclnnDot", a[0], b[0], torch.zeros(())).code == INVALID
    assert refused(library, "aclnnMv", a, b[:, 0], torch.zeros(5), 0).code == INVALID
    assert (
        refused(library, "aclnnAddmv", torch.ones(2), a, b[:, 0], 1, 1, torch.zeros(3), 0).code
        == INVALID
    )
    assert refused(library, "aclnnAddr", out, a, b[:, 0], 1, 1, out).code == INVALID


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("layout", PLACES)
@pytest.mark.parametrize("dtype", FLOATING[:3], ids=dtype_name)
def test_few_rows_times_many_columns(
    library: Library, lines: int, layout: str, dtype: torch.dtype
) -> None:
    """Both layouts of the product without packing, with every length of remainders and both orders of reading."""
    for depth, columns in [(1, 1), (16, 64), (31, 65), (129, 67), (1100, 70)]:
        key = (lines, depth, columns)
        few, many = (
            normal(size, dtype, seeded(size, *key)) for size in ((lines, depth), (depth, columns))
        )
        run_product(library, "aclnnMm", few, many, ("contiguous", layout, layout))
        run_product(library, "aclnnMm", many.t(), few.t(), (layout, "contiguous", layout))
        stacks = [normal((3, *t.shape), dtype, seeded(t.shape, *key)) for t in (few, many)]
        run_product(library, "aclnnBatchMatMul", *stacks, ("contiguous", layout, "contiguous"))


@pytest.mark.parametrize("sizes", [(1, 64, 9), (5, 33, 17), (70, 130, 66), (3, 0, 4)], ids=str)
@pytest.mark.parametrize("kinds", [(0, 1), (1, 0), (0, 2), (1, 2)], ids=str)
def test_floating_factors_are_promoted(library: Library, sizes: tuple, kinds: tuple) -> None:
    m, k, n = sizes
    types = (torch.float32, torch.float16, torch.bfloat16)
    a_type, b_type = (types[kind] for kind in kinds)
    a = normal((m, k), a_type, seeded("a", sizes, kinds))
    b = normal((n, k), b_type, seeded("b", sizes, kinds)).T
    exact, magnitude = product(a.double(), b.double())
    for layouts in (("contiguous", "contiguous"), ("strided", "transposed")):
        out = torch.full((m, n), 7, dtype=torch.float32)
        library.call("aclnnMm", laid_out(a, layouts[0]), laid_out(b, layouts[1]), out, 0)
        assert_sum(out, exact, magnitude, k)


def test_converted_weights_follow_a_write(library: Library) -> None:
    """Converted factors are cached: many products with the same weights, then with others."""
    x = normal((3, 128), torch.float32, seeded("x"))
    for seed in range(2):
        weights = normal((96, 128), torch.float16, seeded("w", seed)).T
        exact, magnitude = product(x.double(), weights.double())
        for _ in range(12):
            out = torch.zeros(3, 96)
            library.call("aclnnMm", x, weights, out, 0)
            assert_sum(out, exact, magnitude, 128)


def test_factors_of_other_kinds_are_not_promoted(library: Library) -> None:
    with pytest.raises(AclnnError, match="different data types float32 and int32"):
        library.call("aclnnMm", torch.ones(2, 2), torch.ones(2, 2).int(), torch.ones(2, 2), 0)


@pytest.mark.parametrize("batches", [(1, 4), (4, 1)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32], ids=dtype_name)
def test_a_batch_of_one_is_broadcast(library: Library, batches: tuple, dtype: torch.dtype) -> None:
    a = normal((batches[0], 5, 6), dtype, seeded("a", batches))
    b = normal((batches[1], 6, 7), dtype, seeded("b", batches))
    run_product(library, "aclnnBatchMatMul", a, b, ("contiguous", "contiguous", "contiguous"))
    with pytest.raises(AclnnError, match="do not multiply"):
        library.call("aclnnBatchMatMul", a, b, torch.zeros(1, 5, 7).to(dtype), 0)


def blocked(matrix: torch.Tensor) -> torch.Tensor:
    """[n, k] as FRACTAL_NZ: [k / 16, n, 16], padded with zeros."""
    n, k = matrix.shape
    whole = torch.zeros((n + 15) // 16 * 16, (k + 15) // 16 * 16, dtype=matrix.dtype)
    whole[:n, :k] = matrix
    return whole.reshape(whole.shape[0], -1, 16).transpose(0, 1).contiguous()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=dtype_name)
@pytest.mark.parametrize("sizes", [(1, 64, 32), (40, 50, 33), (3, 7, 5)], ids=str)
def test_weights_in_blocks(library: Library, dtype: torch.dtype, sizes: tuple) -> None:
    m, k, n = sizes
    weights = normal((n, k), dtype, seeded("w", sizes))
    blocks = blocked(weights)
    size = ctypes.c_uint64()
    shape = (ctypes.c_int64 * 2)(n, k)
    array = ctypes.c_void_p(library.objects.aclCreateIntArray(shape, ctypes.c_uint64(2)))
    calculate = library.operators.aclnnCalculateMatmulWeightSizeV2
    assert calculate(array, NUMBERS[dtype], ctypes.byref(size)) == 0
    library.objects.aclDestroyIntArray(array)
    assert size.value == blocks.numel() * blocks.element_size()
    memory = torch.zeros(blocks.numel(), dtype=dtype)
    memory[: n * k] = weights.flatten()
    library.call("aclnnTransMatmulWeight", memory.as_strided((n, k), (k, 1)))
    assert torch.equal(memory, blocks.flatten())
    for x_type in (dtype, torch.float32):
        x = normal((m, k), x_type, seeded("x", sizes))
        exact, magnitude = product(x.double(), weights.T.double())
        for _ in range(10):  # packed from its ninth use on
            out = torch.zeros(m, n, dtype=x_type)
            library.call("aclnnMm", x, Blocks(memory, (k, n), 29, (1, k)), out, 0)
            assert_sum(out, exact, magnitude, k)


def test_blocks_that_are_no_transpose_are_refused(library: Library) -> None:
    weights, out = Blocks(torch.zeros(32, 32), (32, 16), 29, (16, 1)), torch.zeros(2, 16)
    with pytest.raises(AclnnError, match="the transpose of what aclnnTransMatmulWeight converted"):
        library.call("aclnnMm", torch.ones(2, 32), weights, out, 0)
    with pytest.raises(AclnnError, match="one allocation of 2048 bytes"):
        library.call("aclnnTransMatmulWeight", torch.zeros(17, 16))
    with pytest.raises(AclnnError, match="contiguous floating-point matrix"):
        library.call("aclnnTransMatmulWeight", torch.zeros(16, 16).T[:8])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=dtype_name)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_solve(
    library: Library, dtype: torch.dtype, upper: bool, transpose: bool, unit: bool
) -> None:
    for batch, a_batch, n, k in [((), (), 5, 3), ((2, 3), (1, 3), 17, 4), ((2,), (2,), 1, 1)]:
        a = normal((*a_batch, n, n), dtype, seeded("a", n)) / n + 2 * torch.eye(n, dtype=dtype)
        b = normal((*batch, n, k), dtype, seeded("b", n))
        used = a.transpose(-1, -2) if transpose else a
        exact = torch.linalg.solve_triangular(
            used.double(), b.double(), upper=upper != transpose, unitriangular=unit
        )
        for layout in LAYOUTS:
            x = laid_out(torch.full(exact.shape, 7, dtype=dtype), layout)
            copy = laid_out(torch.full(a.shape, 7, dtype=dtype), layout)
            arguments = (laid_out(b, layout), laid_out(a, layout), upper, transpose, unit)
            library.call("aclnnTriangularSolve", *arguments, x, copy)
            assert_near(x, exact, 64 * epsilon(dtype), 64 * epsilon(dtype))
            assert torch.equal(copy, a)
