"""Operators that sort, search and count, against PyTorch on the CPU."""

import pytest
import torch

from tests.aclnn.cases import (
    INTEGERS,
    LAYOUTS,
    REAL,
    dtype_name,
    laid_out,
    seeded,
    unwritten,
    whole,
)
from tests.aclnn.compare import INVALID, NULL, assert_same
from tests.aclnn.library import AclnnError, Library, view_shape
from tests.aclnn.refusals import check_refused, refusals

SHAPES = [
    ((6, 5, 4), 0),
    ((6, 5, 4), 1),
    ((6, 5, 4), -1),
    ((1000,), 0),
    ((), 0),
    ((2, 1, 2, 9, 1, 2, 2, 1, 2), 3),
]


def special(shape: tuple[int, ...], dtype: torch.dtype, *key: object) -> torch.Tensor:
    """Numbers with many duplicates; inexact types also NaN, infinities and both zeros."""
    x = whole(shape, dtype, *key)
    if not dtype.is_floating_point:
        return x
    chosen = torch.randint(0, 12, shape, generator=seeded(shape, *key))
    for code, value in enumerate((float("nan"), float("inf"), -float("inf"), 0.0, -0.0)):
        x = torch.where(chosen == code, torch.tensor(value, dtype=dtype), x)
    return x


def stable(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.sort(x, stable=True, dim=dim, descending=descending)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_sort(
    library: Library, shape: tuple[int, ...], dim: int, descending: bool, layout: str
) -> None:
    for dtype in (*REAL, torch.uint16, torch.uint32, torch.uint64):
        x = special(shape, dtype)
        widened = x.long() if dtype in (torch.uint16, torch.uint32, torch.uint64) else x
        values, indices = stable(widened, dim, descending)
        got, at = unwritten(x, layout), unwritten(indices, layout)
        library.call("aclnnSort", laid_out(x, layout), True, dim, descending, got, at)
        assert_same(got.to(widened.dtype), values)
        assert_same(at, indices)
        at = unwritten(indices, layout)
        library.call("aclnnArgsort", laid_out(x, layout), dim, descending, at)
        assert_same(at, indices)


def test_sort_of_many_elements(library: Library) -> None:
    for dtype in (torch.float32, torch.float64, torch.int64, torch.int8):
        x = torch.randn(3, 50_000, generator=seeded(0)).mul(1000).to(dtype)
        for descending in (False, True):
            values, indices = stable(x, 1, descending)
            got, at = unwritten(x, "contiguous"), unwritten(indices, "contiguous")
            library.call("aclnnSort", x, True, 1, descending, got, at)
            assert_same(got, values)
            assert_same(at, indices)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_topk(
    library: Library, shape: tuple[int, ...], dim: int, largest: bool, layout: str
) -> None:
    length = shape[dim] if shape else 1
    for dtype in REAL[:-1]:
        x = special(shape, dtype)
        for k in sorted({0 if shape else 1, 1, length // 2 or 1, length}):
            values, indices = (t.narrow(dim, 0, k) if shape else t for t in stable(x, dim, largest))
            got, at = unwritten(values, layout), unwritten(indices, layout)
            library.call("aclnnTopk", laid_out(x, layout), k, dim, largest, True, got, at)
            assert_same(got, values.contiguous())
            assert_same(at, indices.contiguous())
            library.call("aclnnTopk", laid_out(x, layout), k, dim, largest, False, got, at)
            if shape:
                assert_same(stable(got, dim, largest)[0], values.contiguous())
                assert_same(x.gather(dim, at), got.contiguous())


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("length", [65, 96, 4097])
def test_topk_of_few_among_many(library: Library, length: int, largest: bool) -> None:
    """Elements are compared with a bound as vectors; the bound may be NaN, and may be reached often."""
    rows = [torch.randn(length, generator=seeded(0)), torch.full((length,), float("nan"))]
    rows += [torch.zeros(length), torch.arange(length) * 1.0, torch.arange(length, 0, -1) * 1.0]
    rows += [special((length,), torch.float32, key) for key in range(3)]
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int16):
        x = torch.stack(rows).nan_to_num(7).to(dtype)
        if dtype.is_floating_point:
            x = torch.stack(rows).to(dtype)
        for k in (1, 8, 40):
            values, indices = (t[:, :k].contiguous() for t in stable(x, 1, largest))
            got, at = torch.empty_like(values), torch.empty_like(indices)
            library.call("aclnnTopk", x, k, 1, largest, True, got, at)
            assert_same(got, values)
            assert_same(at, indices)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_kthvalue_and_median(
    library: Library, shape: tuple[int, ...], dim: int, keepdim: bool, layout: str
) -> None:
    for dtype in REAL[:-1]:
        for x in (special(shape, dtype), whole(shape, dtype)):
            rows = [("aclnnKthvalue", (1,), x.kthvalue(1, dim, keepdim)[0])]
            rows += [("aclnnMedianDim", (), x.median(dim, keepdim)[0])]
            rows += [("aclnnNanMedianDim", (), x.nanmedian(dim, keepdim)[0])]
            if shape and shape[dim] > 2:
                rows += [("aclnnKthvalue", (3,), x.kthvalue(3, dim, keepdim)[0])]
            for operator, attributes, expected in rows:
                values = unwritten(expected, layout)
                at = unwritten(torch.zeros(expected.shape, dtype=torch.int64), layout)
                library.call(operator, laid_out(x, layout), *attributes, dim, keepdim, values, at)
                assert_same(values, expected)
                full = at if keepdim or not shape else at.unsqueeze(dim)
                chosen = x.gather(dim, full)
                assert_same(chosen if keepdim or not shape else chosen.squeeze(dim), expected)
            for operator, function in (
                ("aclnnMedian", torch.median),
                ("aclnnNanMedian", torch.nanmedian),
            ):
                out = unwritten(function(x), "contiguous")
                library.call(operator, laid_out(x, layout), out)
                assert_same(out, function(x))


def test_median_of_an_empty_tensor(library: Library) -> None:
    out = torch.zeros(())
    library.call("aclnnMedian", torch.zeros(0, 3), out)
    assert out.isnan()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
def test_unique(library: Library, dtype: torch.dtype, layout: str) -> None:
    for shape in ((), (0,), (6, 5), (700,)):
        for x in (special(shape, dtype), whole(shape, dtype)):
            values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
            if x.isnan().any():
                # Equal but distinct ones (NaN) are in the order of the elements.
                inverse = None
            y, i, c = (
                unwritten(t, layout)
                for t in (x.flatten(), torch.zeros(shape).long(), torch.zeros(x.numel()).long())
            )
            sizes = view_shape(
                library, "aclnnUnique2", laid_out(x, layout), True, True, True, y, i, c, out=4
            )
            assert sizes == list(values.shape)
            assert_same(y[: sizes[0]], values)
            assert_same(c[: sizes[0]], counts)
            number = torch.nan_to_num(x.double(), nan=1e30)
            assert_same(torch.nan_to_num(y[i].double(), nan=1e30), number)
            if inverse is not None:
                assert_same(i, inverse)
            y, i = unwritten(x.flatten(), layout), unwritten(torch.zeros(shape).long(), layout)
            assert (
                view_shape(library, "aclnnUnique", laid_out(x, layout), True, True, y, i, out=3)
                == sizes
            )
            assert_same(y[: sizes[0]], values)
            values, inverse, counts = torch.unique_consecutive(
                x, return_inverse=True, return_counts=True
            )
            y, i, c = (
                unwritten(t, layout)
                for t in (x.flatten(), torch.zeros(shape).long(), torch.zeros(x.numel()).long())
            )
            sizes = view_shape(
                library,
                "aclnnUniqueConsecutive",
                laid_out(x, layout),
                True,
                True,
                1000,
                y,
                i,
                c,
                out=4,
            )
            assert sizes == list(values.shape)
            assert_same(y[: sizes[0]], values)
            assert_same(i, inverse)
            assert_same(c[: sizes[0]], counts)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
@pytest.mark.parametrize(
    ("shape", "dim"), [((9, 2), 0), ((2, 9), 1), ((2, 7, 1), 1), ((40,), 0)], ids=str
)
def test_unique_of_slices(
    library: Library, dtype: torch.dtype, shape: tuple[int, ...], dim: int, layout: str
) -> None:
    x = (whole(shape, torch.int64) % 2).to(dtype)
    for operator, function, attributes in (
        ("aclnnUniqueDim", torch.unique, (True, True, dim)),
        ("aclnnUniqueConsecutive", torch.unique_consecutive, (True, True, dim)),
    ):
        values, inverse, counts = function(x, return_inverse=True, return_counts=True, dim=dim)
        numbers_of = torch.zeros(shape[dim]).long()
        y, i, c = (
            unwritten(x, "contiguous"),
            unwritten(numbers_of, layout),
            unwritten(numbers_of, layout),
        )
        sizes = view_shape(library, operator, laid_out(x, layout), *attributes, y, i, c, out=4)
        assert sizes == list(values.shape)
        assert_same(y.flatten()[: values.numel()].reshape(sizes), values)
        assert_same(i, inverse)
        assert_same(c[: counts.numel()], counts)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", REAL[:-1], ids=dtype_name)
def test_search(library: Library, dtype: torch.dtype, right: bool, layout: str) -> None:
    lines = whole((3, 17), dtype)
    ordered, order = lines.sort(1)
    values = whole((3, 5), dtype, "values")
    for narrow in (False, True):
        index = torch.int32 if narrow else torch.int64
        for sequence, sorter in ((ordered, None), (lines, order), (ordered[0], None)):
            expected = torch.searchsorted(
                sequence, values, sorter=sorter, right=right, out_int32=narrow
            )
            out = unwritten(expected, layout)
            given = None if sorter is None else laid_out(sorter, layout)
            library.call(
                "aclnnSearchSorted",
                laid_out(sequence, layout),
                laid_out(values, layout),
                narrow,
                right,
                given,
                out,
            )
            assert_same(out, expected)
        expected = torch.bucketize(values, ordered[0], right=right, out_int32=narrow)
        out = unwritten(expected, layout)
        library.call(
            "aclnnBucketize",
            laid_out(values, layout),
            laid_out(ordered[0], layout),
            narrow,
            right,
            out,
        )
        assert_same(out, expected)
        out = unwritten(torch.zeros((), dtype=index), layout)
        library.call(
            "aclnnSearchSorteds", laid_out(ordered[0], layout), 3, narrow, right, None, out
        )
        assert_same(out, torch.searchsorted(ordered[0], 3, right=right, out_int32=narrow))


def test_search_for_nan(library: Library) -> None:
    values = torch.tensor([float("nan"), 2.0])
    sequence = torch.tensor([1.0, 2.0, float("inf")])
    out = torch.zeros(2, dtype=torch.int64)
    library.call("aclnnSearchSorted", sequence, values, False, False, None, out)
    assert_same(out, torch.searchsorted(sequence, values))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", INTEGERS, ids=dtype_name)
def test_bincount(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = whole((700,), dtype).abs()
    for minlength in (0, 50):
        expected = torch.bincount(x, minlength=minlength)
        out = unwritten(expected, layout)
        library.call("aclnnBincount", laid_out(x, layout), None, minlength, out)
        assert_same(out, expected)
        for weight_type in (torch.float32, torch.float64, torch.int32):
            weights = whole((700,), weight_type, "weights")
            expected = torch.bincount(x, weights, minlength)
            out = unwritten(expected, layout)
            library.call(
                "aclnnBincount", laid_out(x, layout), laid_out(weights, layout), minlength, out
            )
            assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=dtype_name)
def test_histc(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = whole((30, 20), dtype)
    for bins, low, high in ((8, -16, 16), (4, 0, 2), (16, 0, 0), (1, -1, 1)):
        expected = torch.histc(x, bins, low, high)
        out = unwritten(expected, layout)
        library.call("aclnnHistc", laid_out(x, layout), bins, low, high, out)
        assert_same(out, expected)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtype", REAL[:-1], ids=dtype_name)
def test_is_in(library: Library, dtype: torch.dtype, invert: bool) -> None:
    x = special((6, 5), dtype)
    for value in (3, 77):
        expected = torch.isin(x, value, invert=invert)
        out = unwritten(expected, "strided")
        library.call("aclnnIsInTensorScalar", laid_out(x, "strided"), value, False, invert, out)
        assert_same(out, expected)
        expected = torch.isin(value, x, invert=invert)
        out = unwritten(expected, "contiguous")
        library.call("aclnnIsInScalarTensor", value, laid_out(x, "strided"), False, invert, out)
        assert_same(out, expected)


def test_errors_of_the_run(library: Library) -> None:
    with pytest.raises(AclnnError, match=r"Bincount.*index -1 is out of range.*size 3"):
        library.call(
            "aclnnBincount", torch.tensor([0, -1]), None, 0, torch.zeros(3, dtype=torch.int64)
        )
    with pytest.raises(AclnnError, match="sorter holds an index out of range"):
        library.call(
            "aclnnSearchSorted",
            X[0],
            X[0],
            False,
            False,
            torch.full((4,), 9),
            torch.zeros(4, dtype=torch.int64),
        )
    with pytest.raises(AclnnError, match="is not finite"):
        library.call("aclnnHistc", torch.tensor([1.0, float("inf")]), 4, 0, 0, torch.zeros(4))


X, AT = torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.int64)
REFUSED = [
    ("aclnnSort", (X, True, 2, False, X, AT), INVALID, "dimension 2 does not exist"),
    ("aclnnSort", (X, True, 1, False, X, X), INVALID, "of int64"),
    ("aclnnSort", (X, True, 1, False, None, AT), NULL, "values is null"),
    (
        "aclnnSort",
        (X.to(torch.complex64), True, 1, False, X.to(torch.complex64), AT),
        INVALID,
        "no order",
    ),
    (
        "aclnnTopk",
        (X, 5, 1, True, True, torch.zeros(3, 5), AT),
        INVALID,
        "k is 5; it is from 0 to 4",
    ),
    (
        "aclnnKthvalue",
        (X, 0, 1, True, X[:, :1], AT[:, :1]),
        INVALID,
        "k is 0; it is from 1 to 4",
    ),
    ("aclnnMedianDim", (X[:, :0], 1, True, X[:, :1], AT[:, :1]), INVALID, "has no median"),
    ("aclnnUnique", (X, True, True, X, AT), INVALID, r"\[3, 4\] where \[12\]"),
    ("aclnnSearchSorted", (X, X[:2], False, False, None, AT[:2]), INVALID, "does not fit"),
    (
        "aclnnSearchSorted",
        (X, X.double(), False, False, None, AT),
        INVALID,
        "differ in data type",
    ),
    ("aclnnBincount", (X, None, 0, AT[0]), INVALID, "vector of integers"),
    ("aclnnHistc", (X, 0, 0, 0, X[0, :0]), INVALID, "not positive"),
    ("aclnnHistc", (X, 4, 2, 1, X[0]), INVALID, "no range from 2 to 1"),
]


@refusals(REFUSED)
def test_bad_input_is_refused(library: Library, operator, arguments, code, message) -> None:
    check_refused(library, operator, arguments, code, message)
