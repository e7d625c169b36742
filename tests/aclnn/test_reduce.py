"""Reductions and running results against torch in float64: every dtype, layout and kind of dimensions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
import torch

from tests.aclnn.cases import COMPLEX, FILLED, FLOATING, INTEGERS, sample, seeded
from tests.aclnn.compare import INVALID, NULL, assert_near, widened
from tests.aclnn.library import AclnnError, Library
from torch_npu.accuracy.dtypes import epsilon

Dims = Sequence[int]
EVERY = (*FLOATING, *INTEGERS, torch.bool, *COMPLEX)
REAL = (*FLOATING, *INTEGERS, torch.bool)
EPS64 = torch.finfo(torch.float64).eps


def _dims_of(x: torch.Tensor) -> list[Dims]:
    """All dimensions, each end, and a pair with a gap."""
    if x.dim() == 0:
        return [[], [0], [-1]]
    found: list[Dims] = [[], [0], [-1]]
    if x.dim() > 2:
        found += [[0, -1], [1]]
    return found


def _or_all(x: torch.Tensor, dims: Dims) -> list[int]:
    return list(dims) if dims else list(range(x.dim()))


def _real(dtype: torch.dtype) -> torch.dtype:
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def _sum_type(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point or dtype.is_complex else torch.int64


def _amax(x: torch.Tensor, d: list[int], keep: bool) -> torch.Tensor:
    return x.amax(d, keep)


def _prod(x: torch.Tensor, dims: list[int], keep: bool) -> torch.Tensor:
    for dim in sorted((d % max(x.dim(), 1) for d in dims), reverse=True):
        x = x.prod(dim, keepdim=keep)
    return x


@dataclass(frozen=True)
class Row:
    """``reference`` gets widened values; ``call`` gets (library, x, dims, keepdim, out)."""

    name: str
    call: Callable[[Library, torch.Tensor, Dims, bool, torch.Tensor], None]
    reference: Callable[[torch.Tensor, list[int], bool], torch.Tensor]
    dtypes: tuple[torch.dtype, ...]
    result: Callable[[torch.dtype], torch.dtype]


def _plain(name: str) -> Callable[[Library, torch.Tensor, Dims, bool, torch.Tensor], None]:
    return lambda library, x, dims, keep, out: library.call(name, x, dims, keep, out)


def _typed(name: str) -> Callable[[Library, torch.Tensor, Dims, bool, torch.Tensor], None]:
    return lambda library, x, dims, keep, out: library.call(name, x, dims, keep, out.dtype, out)


def _norm(p: float) -> Row:
    def reference(x: torch.Tensor, dims: list[int], keep: bool) -> torch.Tensor:
        return torch.linalg.vector_norm(x, p, dims, keep)

    return Row(
        f"aclnnNorm[{p}]",
        lambda library, x, dims, keep, out: library.call("aclnnNorm", x, p, dims, keep, out),
        reference,
        (*FLOATING, *COMPLEX),
        _real,
    )


def _same(dtype: torch.dtype) -> torch.dtype:
    return dtype


def _bool(dtype: torch.dtype) -> torch.dtype:
    return torch.uint8 if dtype == torch.uint8 else torch.bool


ROWS = [
    Row("aclnnReduceSum", _typed("aclnnReduceSum"), lambda x, d, k: x.sum(d, k), EVERY, _sum_type),
    Row(
        "aclnnReduceNansum",
        _typed("aclnnReduceNansum"),
        lambda x, d, k: x.nansum(d, k),
        REAL,
        _sum_type,
    ),
    Row(
        "aclnnMean",
        _typed("aclnnMean"),
        lambda x, d, k: x.mean(d, k),
        (*FLOATING, *COMPLEX),
        _same,
    ),
    Row("aclnnAmax", _plain("aclnnAmax"), _amax, REAL, _same),
    Row("aclnnAmin", _plain("aclnnAmin"), lambda x, d, k: x.amin(d, k), REAL, _same),
    Row("aclnnAny", _plain("aclnnAny"), lambda x, d, k: torch.any(x, d, k), EVERY, _bool),
    Row("aclnnAll", _plain("aclnnAll"), lambda x, d, k: torch.all(x, d, k), EVERY, _bool),
    *map(_norm, (0.0, 1.0, 2.0, 3.0, 0.5, -1.5, float("inf"), float("-inf"))),
    Row(
        "aclnnLinalgVectorNorm",
        lambda library, x, dims, keep, out: library.call(
            "aclnnLinalgVectorNorm", x, 2.0, dims, keep, x.dtype, out
        ),
        lambda x, d, k: torch.linalg.vector_norm(x, 2, d, k),
        (*FLOATING, *COMPLEX),
        _real,
    ),
    Row(
        "aclnnVarCorrection",
        lambda library, x, dims, keep, out: library.call(
            "aclnnVarCorrection", x, dims, 1, keep, out
        ),
        lambda x, d, k: torch.var(x, d, correction=1, keepdim=k),
        (*FLOATING, *COMPLEX),
        _real,
    ),
    Row(
        "aclnnStd",
        lambda library, x, dims, keep, out: library.call("aclnnStd", x, dims, 0, keep, out),
        lambda x, d, k: torch.std(x, d, correction=0, keepdim=k),
        (*FLOATING, *COMPLEX),
        _real,
    ),
    Row(
        "aclnnLogSumExp",
        _plain("aclnnLogSumExp"),
        lambda x, d, k: torch.logsumexp(x, d, k),
        FLOATING,
        _same,
    ),
]
CASES = [
    pytest.param(row, dtype, layout, id=f"{row.name}-{str(dtype)[6:]}-{layout}")
    for row in ROWS
    for dtype in row.dtypes
    for layout in FILLED
]


def _bounds(name: str, x: torch.Tensor, dims: list[int], keep: bool, dtype: torch.dtype) -> tuple:
    """Relative and absolute tolerance: the result's rounding, those of float64 additions of the values' magnitudes, and
    those of the first three levels of float32 sums."""
    if not x.is_floating_point() and not x.is_complex():
        return epsilon(dtype), 0.0
    length = max(1, x.numel())
    magnitudes = widened(x).abs().sum(dims, keep)
    # Exponentials of float32 and narrower types are computed in float32: a few units in the last place.
    exponentials = (
        4 * epsilon(torch.float32) if "LogSumExp" in name and dtype != torch.float64 else 0.0
    )
    rtol = (2 * epsilon(dtype)) + length * EPS64
    narrow = 1.5 * epsilon(torch.float32) if x.dtype == torch.float32 else 0.0
    return rtol, (narrow + length * EPS64) * magnitudes + exponentials


@pytest.mark.parametrize(("row", "dtype", "layout"), CASES)
def test_reduction(library: Library, row: Row, dtype: torch.dtype, layout: str) -> None:
    x = sample(layout, dtype, seeded(row.name, dtype, layout))
    for dims in _dims_of(x):
        for keep in (False, True):
            every = _or_all(x, dims)
            want = row.reference(widened(x), every, keep)
            out = torch.empty(want.shape, dtype=row.result(dtype))
            row.call(library, x, dims, keep, out)
            rtol, atol = _bounds(row.name, x, every, keep, out.dtype)
            if "Var" in row.name or "Std" in row.name:
                atol = x.numel() * EPS64 * widened(x).abs().max()
            if want.is_complex() is out.is_complex():
                assert_near(out, want, rtol, atol)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("layout", FILLED)
def test_prod(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = sample(layout, dtype, seeded("prod", dtype, layout))
    if dtype.is_floating_point or dtype.is_complex:
        x = (x / 8 + 1).to(dtype)
    result = _sum_type(dtype)
    rtol = 2 * epsilon(result) + x.numel() * EPS64
    tiny = torch.finfo(result).tiny if epsilon(result) else 0.0
    for dim in range(-x.dim(), max(x.dim(), 1)):
        for keep in (False, True):
            want = widened(x).prod(dim, keep)
            out = torch.empty(want.shape, dtype=result)
            library.call("aclnnProdDim", x, dim, keep, result, out)
            assert_near(out, want, rtol, tiny)
    want = widened(x).prod()
    out = torch.empty((), dtype=result)
    library.call("aclnnProd", x, result, out)
    assert_near(out, want, rtol, tiny)


def test_sum_in_another_type(library: Library) -> None:
    x = sample("contiguous", torch.float32, seeded("cast"))
    out = torch.empty(3, 70, dtype=torch.int32)
    library.call("aclnnReduceSum", x, [1], False, torch.int32, out)
    assert torch.equal(out, x.sum(1, dtype=torch.int32))
    out = torch.empty(3, 5, dtype=torch.float64)
    library.call("aclnnReduceSum", x, [2], False, torch.float64, out)
    assert_near(out, x.double().sum(2), EPS64, 70 * EPS64 * x.double().abs().sum(2))


def test_sum_is_as_exact_as_two_float64(library: Library) -> None:
    """A long sum with cancellation, which is exact only with compensation."""
    x = torch.ones(100_000, dtype=torch.float64)
    x[0], x[-1] = 2.0**60, -(2.0**60)
    out = torch.empty((), dtype=torch.float64)
    library.call("aclnnReduceSum", x, [], False, torch.float64, out)
    # Terms of the first and of the last tile are lost against 2^60; those of other tiles are not.
    assert abs(out.item() - 99_998) <= 2 * 512


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("layout", FILLED)
@pytest.mark.parametrize("largest", [True, False], ids=["max", "min"])
def test_where(library: Library, dtype: torch.dtype, layout: str, largest: bool) -> None:
    x = sample(layout, dtype, seeded("where", dtype, layout))
    name, reference = ("Max", torch.max) if largest else ("Min", torch.min)
    for dim in range(-x.dim(), max(x.dim(), 1)):
        for keep in (False, True):
            want, _ = reference(x, dim, keep)
            length = x.shape[dim] if x.dim() else 1
            first = x == want if keep or not x.dim() else x == want.unsqueeze(dim)
            positions = torch.arange(length).reshape(
                [-1] + [1] * (x.dim() - 1 - dim % x.dim() if x.dim() else 0)
            )
            at = torch.where(first, positions, length)
            at = at.amin(dim, keep) if x.dim() else torch.zeros((), dtype=torch.int64)
            out, indices = torch.empty_like(want), torch.empty(want.shape, dtype=torch.int64)
            library.call(f"aclnn{name}Dim", x, dim, keep, out, indices)
            assert torch.equal(out, want)
            assert torch.equal(indices, at)
            indices.fill_(-1)
            library.call(f"aclnnArg{name}", x, dim, keep, indices)
            assert torch.equal(indices, at)
    out = torch.empty((), dtype=dtype)
    library.call(f"aclnn{name}", x, out)
    assert torch.equal(out, reference(x))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_nan_is_both_maximum_and_minimum(library: Library, dtype: torch.dtype) -> None:
    x = torch.zeros(3, 2000, dtype=dtype)
    x[1, 1500] = x[1, 1700] = float("nan")
    x[2, :] = -float("inf")
    for name in ("Max", "Min"):
        for y in (x, x.t().contiguous().t()):
            out, indices = torch.empty(3, dtype=dtype), torch.empty(3, dtype=torch.int64)
            library.call(f"aclnn{name}Dim", y, 1, False, out, indices)
            assert indices.tolist() == [0, 1500, 0]
            assert out.isnan().tolist() == [False, True, False]
            library.call(f"aclnnA{name.lower()}", y, [1], False, out)
            assert out.isnan().tolist() == [False, True, False]
    out = torch.empty(3, dtype=dtype)
    library.call("aclnnLogSumExp", x, [1], False, out)
    assert out.isnan().tolist() == [False, True, False]
    assert out[2] == -float("inf")
    x[0, 7] = float("inf")
    library.call("aclnnLogSumExp", x, [1], False, out)
    assert out[0] == float("inf")


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_aminmax(library: Library, dtype: torch.dtype) -> None:
    x = sample("transposed", dtype, seeded("aminmax", dtype))
    for name, dims, arguments in (
        ("aclnnAminmax", [0], ([0], True)),
        ("aclnnAminmaxDim", [2], (2, True)),
        ("aclnnAminmaxAll", [], ()),
    ):
        every = _or_all(x, dims)
        least, largest = x.amin(every, bool(dims)), x.amax(every, bool(dims))
        low, high = torch.empty_like(least), torch.empty_like(largest)
        library.call(name, x, *arguments, low, high)
        assert torch.equal(low, least)
        assert torch.equal(high, largest)


@pytest.mark.parametrize("name", ["aclnnVarMean", "aclnnStdMeanCorrection"])
@pytest.mark.parametrize("dtype", [*FLOATING, *COMPLEX], ids=str)
@pytest.mark.parametrize("correction", [0, 1, 2])
def test_moments(library: Library, name: str, dtype: torch.dtype, correction: int) -> None:
    reference = torch.var_mean if "Var" in name else torch.std_mean
    for layout in ("contiguous", "transposed", "columns", "long"):
        x = sample(layout, dtype, seeded(name, dtype, layout)) + 3
        for dim in (0, -1):
            spread, mean = reference(widened(x), dim, correction=correction)
            first = torch.empty(spread.shape, dtype=_real(dtype))
            second = torch.empty(mean.shape, dtype=dtype)
            library.call(name, x, [dim], correction, False, first, second)
            rtol = 2 * epsilon(dtype) + x.shape[dim] * EPS64
            assert_near(first, spread, 4 * rtol, x.shape[dim] * EPS64 * widened(x).abs().max())
            assert_near(second, mean, rtol, x.shape[dim] * EPS64)


SCANS = {
    "aclnnCumsum": (lambda x, d: x.cumsum(d), EVERY),
    "aclnnCumprod": (lambda x, d: x.cumprod(d), EVERY),
}


@pytest.mark.parametrize("layout", FILLED)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name, (_, dtypes) in SCANS.items() for dtype in dtypes],
    ids=str,
)
def test_scan(library: Library, name: str, dtype: torch.dtype, layout: str) -> None:
    x = sample(layout, dtype, seeded(name, dtype, layout))
    if name == "aclnnCumprod" and (dtype.is_floating_point or dtype.is_complex):
        x = (x / 8 + 1).to(dtype)
    result = _sum_type(dtype)
    for dim in range(-x.dim(), max(x.dim(), 1)):
        want = SCANS[name][0](widened(x), dim)
        length = x.shape[dim] if x.dim() else 1
        atol: object = 0
        if epsilon(dtype) and name == "aclnnCumsum":
            atol = length * EPS64 * widened(x).abs().cumsum(dim)
        elif epsilon(dtype):
            atol = torch.finfo(result).tiny
        for out in (
            torch.empty(x.shape, dtype=result),
            torch.empty((*x.shape, 2), dtype=result)[..., 0],
        ):
            library.call(name, x, dim, result, out)
            assert_near(out, want, 2 * epsilon(result) + length * EPS64, atol)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("lines", [1, 3, 4, 11])
def test_scan_of_long_lines(library: Library, lines: int, dtype: torch.dtype) -> None:
    """Several lines, or segments of one line, are scanned together."""
    length = 2500
    values = torch.randint(-9, 9, (lines, length), generator=seeded(lines, dtype)) / 4
    x = (
        values > 0
        if dtype == torch.bool
        else values.clamp(min=0)
        if dtype == torch.uint8
        else values
    ).to(dtype)
    result = _sum_type(dtype)
    padded = torch.zeros(lines, length + 3, dtype=dtype)
    padded[:, :length] = x
    for given in (x, x.t().contiguous().t(), padded[:, :length]):
        for out in (
            torch.empty(x.shape, dtype=result),
            torch.empty(length, lines, dtype=result).t(),
        ):
            library.call("aclnnCumsum", given, 1, result, out)
            want = widened(x).cumsum(1)
            atol = length * EPS64 * widened(x).abs().cumsum(1) if epsilon(dtype) else 0
            assert_near(out, want, 2 * epsilon(result) + length * EPS64, atol)
    if dtype == torch.float32:
        given = x.clone()
        given[:, 300], given[:, 2000] = torch.inf, -torch.inf
        library.call("aclnnCumsum", given, 1, result, given)
        assert given[:, :300].isfinite().all()
        assert (given[:, 300:2000] == torch.inf).all()
        assert given[:, 2000:].isnan().all()


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("layout", FILLED)
def test_running_extremes(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = sample(layout, dtype, seeded("cummax", dtype, layout))
    for name, reference in (("aclnnCummax", torch.cummax), ("aclnnCummin", torch.cummin)):
        for dim in range(-x.dim(), max(x.dim(), 1)):
            want, at = reference(x, dim)
            out, indices = (
                torch.empty(x.shape, dtype=dtype),
                torch.empty(x.shape, dtype=torch.int64),
            )
            library.call(name, x, dim, out, indices)
            assert torch.equal(out, want)
            assert torch.equal(indices, at)


def test_running_extremes_keep_nan(library: Library) -> None:
    x = torch.tensor([1.0, float("nan"), 5.0, float("nan"), 7.0])
    want, at = torch.cummax(x, 0)
    out, indices = torch.empty(5), torch.empty(5, dtype=torch.int64)
    library.call("aclnnCummax", x, 0, out, indices)
    assert torch.equal(out.isnan(), want.isnan())
    assert torch.equal(indices, at)


def test_norm_0_counts_nan_and_nansum_skips_it(library: Library) -> None:
    x = torch.zeros(40)
    x[3] = x[39] = float("nan")
    x[7] = 2
    out = torch.empty(())
    library.call("aclnnNorm", x, 0.0, [], False, out)
    assert out == 3
    library.call("aclnnReduceNansum", x, [], False, torch.float32, out)
    assert out == 2
    library.call("aclnnReduceSum", x, [], False, torch.float32, out)
    assert out.isnan()


def test_empty_tensors(library: Library) -> None:
    x = torch.empty(0, 3)
    for name, want in (("aclnnReduceSum", 0.0), ("aclnnProd", 1.0)):
        out = torch.full((), 7.0)
        arguments = ([], False) if name == "aclnnReduceSum" else ()
        library.call(name, x, *arguments, torch.float32, out)
        assert out.item() == want
    out = torch.full((3,), 7.0)
    library.call("aclnnMean", x, [0], False, torch.float32, out)
    assert out.isnan().all()
    library.call("aclnnVarCorrection", x, [0], 1, False, out)
    assert out.isnan().all()
    library.call("aclnnLogSumExp", x, [0], False, out)
    assert (out == -float("inf")).all()
    truth = torch.empty(3, dtype=torch.bool)
    library.call("aclnnAll", x, [0], False, truth)
    assert truth.all()
    library.call("aclnnAny", x, [0], False, truth)
    assert not truth.any()
    library.call("aclnnCumsum", x, 0, torch.float32, torch.empty(0, 3))
    library.call("aclnnAmax", x, [1], False, torch.empty(0))
    with pytest.raises(AclnnError, match="no value to reduce") as error:
        library.call("aclnnAmax", x, [0], False, torch.empty(3))
    assert error.value.code == INVALID


def _bad_calls() -> list:
    x = torch.ones(2, 3)
    f, i = torch.float32, torch.int64
    return [
        ("dimension 2 is out of range", "aclnnReduceSum", x, [2], False, f, torch.empty(2)),
        ("dimension -3 is out of range", "aclnnArgMax", x, -3, False, torch.empty(2, dtype=i)),
        ("named twice", "aclnnAmax", x, [1, -1], False, torch.empty(2)),
        (r"\[2, 1\] is needed", "aclnnMean", x, [1], True, f, torch.empty(2)),
        ("a mean is", "aclnnMean", x, [1], False, i, torch.empty(2)),
        ("not defined for complex64", "aclnnMax", x.to(torch.complex64), torch.empty(())),
        ("a norm is of", "aclnnNorm", x.long(), 2.0, [], False, torch.empty(())),
        ("not a number", "aclnnNorm", x, float("nan"), [], False, torch.empty(())),
        ("is no integer", "aclnnCumprod", x, 0.5, f, torch.empty(2, 3)),
        ("the shape", "aclnnCumsum", x, 0, f, torch.empty(3, 2)),
        ("not defined for int64", "aclnnVarCorrection", x.long(), [0], 1, False, torch.empty(3)),
    ]


@pytest.mark.parametrize(
    ("message", "name", "arguments"), [(c[0], c[1], c[2:]) for c in _bad_calls()]
)
def test_bad_input(library: Library, message: str, name: str, arguments: tuple) -> None:
    with pytest.raises(AclnnError, match=message) as error:
        library.call(name, *arguments)
    assert error.value.code == INVALID


def test_null_is_refused(library: Library) -> None:
    with pytest.raises(AclnnError, match="self is null") as error:
        library.call("aclnnMax", None, torch.empty(()))
    assert error.value.code == NULL


def test_one_value_is_taken_as_a_vector(library: Library) -> None:
    x = torch.arange(12.0).view(3, 4)
    out = torch.zeros(1)
    library.call("aclnnReduceSum", x, [0, 1], False, torch.float32, out)
    assert out.tolist() == [66.0]
    with pytest.raises(AclnnError, match="result has the shape"):
        library.call("aclnnReduceSum", x, [0, 1], False, torch.float32, torch.zeros(2))
