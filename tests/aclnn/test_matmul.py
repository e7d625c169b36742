"""The operators of softnpu/ops/matmul against torch: every dtype, layout and broadcast."""

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
from tests.aclnn.compare import INVALID, NULL, assert_sum
from tests.aclnn.library import AclnnError, Library

DTYPES = [*FLOATING, *COMPLEX, *INTEGERS]


def in_float64(dtype: torch.dtype) -> torch.dtype:
    """The reference's type: exact for integers up to their own width, else double."""
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else torch.int64


PLACES = (*LAYOUTS, "swapped", "rotated")


def product(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide = in_float64(a.dtype)
    exact = torch.matmul(a.to(wide), b.to(wide))
    magnitude_type = torch.int64 if wide == torch.int64 else torch.float64
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
def test_few_rows_times_many_columns(library: Library, lines: int, layout: str) -> None:
    """Both layouts of the product without packing, with every length of remainders."""
    for depth, columns in [(1, 1), (16, 64), (31, 65), (129, 67), (300, 200)]:
        key = (lines, depth, columns)
        few, many = (
            normal(size, torch.float32, seeded(size, *key))
            for size in ((lines, depth), (depth, columns))
        )
        run_product(library, "aclnnMm", few, many, ("contiguous", layout, layout))
        run_product(library, "aclnnMm", many.t(), few.t(), (layout, "contiguous", layout))
        stacks = [normal((3, *t.shape), torch.float32, seeded(t.shape, *key)) for t in (few, many)]
        run_product(library, "aclnnBatchMatMul", *stacks, ("contiguous", layout, "contiguous"))
