"""Operators that select elements by index or mask, against PyTorch on the CPU."""

import pytest
import torch

from tests.aclnn.cases import (
    ALL,
    COMPLEX,
    FLOATING,
    LAYOUTS,
    REAL,
    dtype_name,
    laid_out,
    seeded,
    unwritten,
    whole,
)
from tests.aclnn.compare import INVALID, NULL, assert_same, assert_sum
from tests.aclnn.library import AclnnError, Library, view_shape
from tests.aclnn.refusals import check_refused, refusals

INDEX_TYPES = (torch.int64, torch.int32)
SHAPES = [
    ((5, 4, 3), 0),
    ((5, 4, 3), 1),
    ((5, 4, 3), -1),
    ((7,), 0),
    ((2, 1, 2, 3, 1, 2, 2, 1, 2), 3),
]


def indices(
    shape: tuple[int, ...], size: int, *key: object, dtype: torch.dtype = torch.int64
) -> torch.Tensor:
    return torch.randint(0, size, shape, generator=seeded(shape, size, *key)).to(dtype)


def mask_of(shape: tuple[int, ...], *key: object) -> torch.Tensor:
    return torch.rand(shape, generator=seeded(shape, *key)) < 0.4


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_index_select(library: Library, shape: tuple[int, ...], dim: int, layout: str) -> None:
    for dtype in ALL:
        for index_type in INDEX_TYPES:
            x = whole(shape, dtype)
            index = indices((6,), shape[dim], dtype=index_type)
            expected = x.index_select(dim, index)
            for operator in ("aclnnIndexSelect", "aclnnGatherV2"):
                out = unwritten(expected, layout)
                library.call(operator, laid_out(x, layout), dim, laid_out(index, layout), out)
                assert_same(out, expected)


def test_index_select_without_dimensions(library: Library) -> None:
    x = whole((), torch.float32)
    out = unwritten(x, "contiguous")
    library.call("aclnnIndexSelect", x, 0, torch.tensor([0]), out)
    assert_same(out, x)
    y = whole((4, 3), torch.float32)
    out = unwritten(y[2:3], "contiguous")
    library.call("aclnnIndexSelect", y, 0, torch.tensor(2), out)
    assert_same(out, y[2:3])
    out = torch.zeros(0, 3)
    library.call("aclnnIndexSelect", y, 0, torch.zeros(0, dtype=torch.int64), out)


@pytest.mark.parametrize("dtype", [*FLOATING, *COMPLEX], ids=dtype_name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_embedding_and_its_gradient(library: Library, dtype: torch.dtype, layout: str) -> None:
    for width in (3, 300):
        weight = whole((9, width), dtype)
        index = indices((4, 5), 9, width)
        expected = weight[index]
        out = unwritten(expected, layout)
        library.call("aclnnEmbedding", laid_out(weight, layout), laid_out(index, layout), out)
        assert_same(out, expected)
        if dtype.is_complex:
            continue
        grad = whole((4, 5, width), dtype, layout)
        for padding in (-1, int(index[0, 0])):
            for scale in (False, True):
                arguments = (index, 9, padding, scale)
                exact = torch.ops.aten.embedding_dense_backward(grad.double(), *arguments)
                magnitude = torch.ops.aten.embedding_dense_backward(grad.double().abs(), *arguments)
                out = unwritten(exact.to(dtype), layout)
                library.call(
                    "aclnnEmbeddingDenseBackward",
                    laid_out(grad, layout),
                    laid_out(index, layout),
                    *arguments[1:],
                    out,
                )
                assert_sum(out, exact, magnitude, 1, out.dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_take_and_put(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = whole((4, 5, 3), dtype)
    index = indices((3, 7), 120) - 60
    out = unwritten(x.take(index), layout)
    library.call("aclnnTake", laid_out(x, layout), laid_out(index, layout), out)
    assert_same(out, x.take(index))
    source = whole((3, 7), dtype, "source")
    places = torch.randperm(60, generator=seeded(0))[:21].reshape(3, 7) - 60
    out = laid_out(x, layout)
    library.call("aclnnInplacePut", out, laid_out(places, layout), laid_out(source, layout), False)
    assert_same(out, x.clone().put_(places, source))
    if dtype in (torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.bool):
        return
    out = laid_out(x, layout)
    library.call("aclnnInplacePut", out, laid_out(index, layout), laid_out(source, layout), True)
    assert_same(out, x.clone().put_(index, source, True))


ADVANCED = [
    ((6, 5, 4), [(7,)]),
    ((6, 5, 4), [None, (7,)]),
    ((6, 5, 4), [None, None, (2, 3)]),
    ((6, 5, 4), [(7,), (7,)]),
    ((6, 5, 4), [(7, 1), (2,)]),
    ((6, 5, 4), [(7,), None, (7,)]),
    ((6, 5, 4), [(2, 1), (1, 3), (3,)]),
    ((6, 5, 4), [()]),
    ((6, 50, 40), [None, (7,), None]),
    ((2, 1, 2, 3, 1, 2, 2, 1, 2), [None, None, (2,), (2,), None, None, (2,)]),
]


def _list(
    shape: tuple[int, ...], chosen: list[tuple[int, ...] | None]
) -> list[torch.Tensor | None]:
    return [
        None if sizes is None else indices(sizes, 2 * shape[d], d) - shape[d]
        for d, sizes in enumerate(chosen)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "chosen"), ADVANCED, ids=str)
def test_index(library: Library, shape: tuple[int, ...], chosen: list, layout: str) -> None:
    index = _list(shape, chosen)
    given = [torch.empty(0) if i is None else laid_out(i, layout) for i in index]
    for dtype in ALL:
        x = whole(shape, dtype)
        expected = torch.ops.aten.index(x, index)
        out = unwritten(expected, layout)
        library.call("aclnnIndex", laid_out(x, layout), given, out)
        assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "chosen"), ADVANCED, ids=str)
def test_index_put(library: Library, shape: tuple[int, ...], chosen: list, layout: str) -> None:
    index = _list(shape, chosen)
    given = [torch.empty(0) if i is None else laid_out(i, layout) for i in index]
    for dtype in ALL:
        x = whole(shape, dtype)
        like = torch.ops.aten.index(x, index)
        values = whole(tuple(like.shape), dtype, "values")
        for source in (values, values.flatten()[:1].reshape([1] * values.dim())):
            out = laid_out(x, layout)
            library.call("aclnnIndexPutImpl", out, given, laid_out(source, layout), False, False)
            # For equal indices the last value wins, as on a single thread.
            assert_same(out, torch.ops.aten.index_put(x, index, source.expand_as(like)))
        if dtype in (
            torch.float32,
            torch.float64,
            torch.int64,
            torch.int32,
            torch.int8,
            torch.complex64,
            torch.bool,
        ):
            out = laid_out(x, layout)
            library.call("aclnnIndexPutImpl", out, given, laid_out(values, layout), True, False)
            assert_same(out, torch.ops.aten.index_put(x, index, values, True))


def test_index_with_an_empty_index(library: Library) -> None:
    x = whole((4, 3), torch.int64)
    nothing = torch.zeros(0, dtype=torch.int64)
    library.call("aclnnIndex", x, [nothing], torch.zeros(0, 3, dtype=torch.int64))
    library.call("aclnnIndexPutImpl", x, [nothing], torch.zeros(1, dtype=torch.int64), False, False)
    assert_same(x, whole((4, 3), torch.int64))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_index_add_copy_fill(
    library: Library, shape: tuple[int, ...], dim: int, layout: str
) -> None:
    index = indices((4,), shape[dim])
    once = torch.randperm(shape[dim], generator=seeded(shape))[:2]
    for dtype in ALL:
        x = whole(shape, dtype)

        def source_for(places: torch.Tensor, x: torch.Tensor = x) -> torch.Tensor:
            return whole(tuple(x.index_select(dim, places).shape), x.dtype, "source")

        source = source_for(once)
        expected = x.index_copy(dim, once, source)
        out = unwritten(expected, layout)
        library.call(
            "aclnnIndexCopy", laid_out(x, layout), dim, once, laid_out(source, layout), out
        )
        assert_same(out, expected)
        out = laid_out(x, layout)
        library.call("aclnnInplaceIndexCopy", out, dim, once, laid_out(source, layout))
        assert_same(out, expected)
        expected = x.index_fill(dim, index - shape[dim], 1)
        out = unwritten(expected, layout)
        library.call("aclnnIndexFill", laid_out(x, layout), dim, index - shape[dim], 1, out)
        assert_same(out, expected)
        out = laid_out(x, layout)
        library.call("aclnnInplaceIndexFillTensor", out, dim, index.tolist(), 1)
        assert_same(out, expected)
        source = source_for(index)
        for alpha in (1, 2):
            if dtype == torch.bool and alpha != 1:
                continue
            # Integers and halves below 2^8: every sum is exact.
            expected = x.index_add(dim, index, source, alpha=alpha)
            out = unwritten(expected, layout)
            library.call(
                "aclnnIndexAdd",
                laid_out(x, layout),
                dim,
                index,
                laid_out(source, layout),
                alpha,
                out,
            )
            assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scatter_nd_update(library: Library, layout: str) -> None:
    for dtype in ALL:
        x = whole((5, 4, 3), dtype)
        for rows in (torch.tensor([[3, 1], [0, 0], [4, 3]]), torch.tensor([[[2]], [[4]]])):
            expected = x.clone()
            places = tuple(rows.unbind(-1))
            updates = whole(tuple(expected[places].shape), dtype, "updates")
            expected[places] = updates
            out = laid_out(x, layout)
            library.call(
                "aclnnScatterNdUpdate", out, laid_out(rows, layout), laid_out(updates, layout)
            )
            assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_gather_scatter(library: Library, shape: tuple[int, ...], dim: int, layout: str) -> None:
    part = tuple(max(1, size - 1) for size in shape)
    for index_type in INDEX_TYPES:
        index = indices(part, shape[dim], dtype=index_type)
        widened = index.long()
        for dtype in ALL:
            x = whole(shape, dtype)
            expected = x.gather(dim, widened)
            out = unwritten(expected, layout)
            library.call("aclnnGather", laid_out(x, layout), dim, laid_out(index, layout), out)
            assert_same(out, expected)
            source = whole(shape, dtype, "source")
            expected = x.scatter(dim, widened, source)
            out = unwritten(expected, layout)
            library.call(
                "aclnnScatter",
                laid_out(x, layout),
                dim,
                laid_out(index, layout),
                laid_out(source, layout),
                0,
                out,
            )
            assert_same(out, expected)
            expected = x.scatter(dim, widened, 3)
            out = laid_out(x, layout)
            library.call("aclnnInplaceScatterValue", out, dim, laid_out(index, layout), 3, 0)
            assert_same(out, expected)
            expected = x.scatter_add(dim, widened, source)
            out = unwritten(expected, layout)
            library.call(
                "aclnnScatterAdd",
                laid_out(x, layout),
                dim,
                laid_out(index, layout),
                laid_out(source, layout),
                out,
            )
            assert_same(out, expected)


@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize(("code", "reduce"), enumerate(("sum", "prod", "amax", "amin", "mean"), 1))
def test_scatter_reduce(
    library: Library, dtype: torch.dtype, code: int, reduce: str, include_self: bool
) -> None:
    for shape, dim in (((5, 4), 0), ((5, 4), 1), ((3, 2, 4), 1)):
        index = indices(shape, shape[dim])
        x, source = whole(shape, dtype), whole(shape, dtype, "source")
        if reduce == "prod":  # small factors: exact in every dtype
            x, source = (v.abs().clamp(max=2) if dtype != torch.bool else v for v in (x, source))
        if dtype == torch.bool and reduce in ("mean", "sum", "prod"):
            continue
        reference = x.double() if dtype.is_floating_point else x
        expected = reference.scatter_reduce(
            dim, index, source.to(reference.dtype), reduce, include_self=include_self
        )
        for layout in LAYOUTS:
            out = laid_out(x, layout)
            library.call(
                "aclnnInplaceScatterReduce",
                out,
                dim,
                index,
                laid_out(source, layout),
                code,
                include_self,
            )
            if dtype.is_floating_point:
                assert_sum(out, expected, expected.abs().max() + 20, 2, out.dtype)
            else:
                assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_masks(library: Library, dtype: torch.dtype, layout: str) -> None:
    for shape in ((), (0,), (6, 5, 4), (300, 200), (2, 1, 2, 3, 1, 2, 2, 1, 2)):
        x, mask = whole(shape, dtype), mask_of(shape)
        expected = x.masked_select(mask)
        out = unwritten(torch.zeros(mask.numel(), dtype=dtype), layout)
        got = view_shape(
            library, "aclnnMaskedSelect", laid_out(x, layout), laid_out(mask, layout), out, out=2
        )
        assert got == list(expected.shape)
        assert_same(out[: got[0]], expected)
        source = whole((x.numel() + 3,), dtype, "source")
        out = laid_out(x, layout)
        library.call(
            "aclnnInplaceMaskedScatter", out, laid_out(mask, layout), laid_out(source, layout)
        )
        assert_same(out, x.masked_scatter(mask, source))
        expected = x.nonzero()
        out = torch.full((x.numel(), x.dim()), -1)
        got = view_shape(library, "aclnnNonzero", laid_out(x, layout), out, out=1)
        assert got == list(expected.shape)
        assert_same(out[: got[0]], expected)
        out = torch.full((x.dim(), x.numel()), -1)
        got = view_shape(library, "aclnnNonzeroV2", laid_out(x, layout), out, out=1)
        assert got == list(expected.t().shape)
        assert_same(out.flatten()[: expected.numel()].reshape(got), expected.t())


def test_masks_are_broadcast(library: Library) -> None:
    x, mask = whole((3, 1, 4), torch.float32), mask_of((5, 1))
    expected = x.masked_select(mask)
    out = torch.zeros(60)
    assert view_shape(library, "aclnnMaskedSelect", x, mask, out, out=2) == list(expected.shape)
    assert_same(out[: expected.numel()], expected)
    y = whole((3, 5, 4), torch.float32)
    source = whole((6, 10), torch.float32, "source")
    out = y.clone()
    library.call("aclnnInplaceMaskedScatter", out, mask, source.t())
    assert_same(out, y.masked_scatter(mask, source.t()))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_repeat_interleave(library: Library, dtype: torch.dtype, layout: str) -> None:
    x = whole((3, 4, 2), dtype)
    for times in (0, 1, 3):
        expected = x.repeat_interleave(times)
        out = unwritten(expected, layout)
        library.call("aclnnRepeatInterleaveInt", laid_out(x, layout), times, expected.numel(), out)
        assert_same(out, expected)
        expected = x.repeat_interleave(times, 1)
        out = unwritten(expected, layout)
        library.call(
            "aclnnRepeatInterleaveIntWithDim", laid_out(x, layout), times, 1, 4 * times, out
        )
        assert_same(out, expected)
    repeats = torch.tensor([2, 0, 3, 1])
    for dim in (1, -2):
        expected = x.repeat_interleave(repeats, dim)
        out = unwritten(expected, layout)
        library.call(
            "aclnnRepeatInterleaveWithDim", laid_out(x, layout), repeats.int(), dim, 6, out
        )
        assert_same(out, expected)
    grad = whole((3, 6, 2), dtype)
    if dtype != torch.bool:
        rows = torch.repeat_interleave(repeats)
        expected = torch.zeros(3, 4, 2, dtype=dtype).index_add(1, rows, grad)
        out = unwritten(expected, layout)
        library.call("aclnnRepeatInterleaveGrad", laid_out(grad, layout), repeats, 1, out)
        assert_same(out, expected)
    each = indices((24,), 4)
    expected = x.repeat_interleave(each)
    out = unwritten(expected, layout)
    library.call("aclnnRepeatInterleave", laid_out(x, layout), each, expected.numel(), out)
    assert_same(out, expected)


def test_repeat_interleave_of_indices(library: Library) -> None:
    repeats = torch.tensor([2, 0, 3, 1])
    out = unwritten(torch.repeat_interleave(repeats), "strided")
    library.call("aclnnRepeatInterleaveTensor", repeats, 6, out)
    assert_same(out, torch.repeat_interleave(repeats))


def test_large_tensors(library: Library) -> None:
    """Sizes that are divided among several threads."""
    x = whole((3000, 257), torch.float32)
    rows = indices((5000,), 3000)
    out = torch.zeros(5000, 257)
    library.call("aclnnIndexSelect", x, 0, rows, out)
    assert_same(out, x[rows])
    source = whole((5000, 257), torch.float32, "source")
    out = x.clone()
    library.call("aclnnIndexAdd", out, 0, rows, source, 1, out)
    assert_same(out, x.index_add(0, rows, source))
    index = indices((3000, 257), 257)
    out = torch.zeros(3000, 257)
    library.call("aclnnGather", x, 1, index, out)
    assert_same(out, x.gather(1, index))
    out = x.clone()
    library.call("aclnnScatterAdd", out, 0, index, source[:3000], out)
    assert_same(out, x.scatter_add(0, index, source[:3000]))


X = torch.zeros(3, 4)
FAR = torch.tensor([0, 3])
OUT_OF_RANGE = [
    (
        "aclnnIndexSelect",
        lambda: (X, 0, FAR, torch.zeros(2, 4)),
        "IndexSelect.*index 3 .*dimension 0 of size 3",
    ),
    ("aclnnIndexSelect", lambda: (X, 0, -FAR, torch.zeros(2, 4)), "index -3 is out of range"),
    (
        "aclnnGather",
        lambda: (X, 0, FAR.reshape(2, 1), torch.zeros(2, 1)),
        "Gather.*index 3 .*size 3",
    ),
    ("aclnnEmbedding", lambda: (X, FAR, torch.zeros(2, 4)), "Embedding.*index 3 .*size 3"),
    (
        "aclnnEmbeddingDenseBackward",
        lambda: (torch.zeros(2, 4), FAR, 3, -1, False, X.clone()),
        "index 3 .*size 3",
    ),
    ("aclnnTake", lambda: (X, torch.tensor([12]), torch.zeros(1)), "Take.*index 12 .*size 12"),
    ("aclnnTake", lambda: (X, torch.tensor([-13]), torch.zeros(1)), "index -13"),
    (
        "aclnnIndex",
        lambda: (X, [torch.empty(0), torch.tensor([4])], torch.zeros(3, 1)),
        "index 4 .*dimension 1 of size 4",
    ),
    (
        "aclnnIndexPutImpl",
        lambda: (X.clone(), [torch.tensor([-4])], X[:1], False, False),
        "index -4 .*dimension 0",
    ),
    (
        "aclnnInplacePut",
        lambda: (X.clone(), torch.tensor([12]), X[0, :1], False),
        "index 12 .*size 12",
    ),
    ("aclnnIndexAdd", lambda: (X, 0, FAR, X[:2], 1, X.clone()), "IndexAdd.*index 3 .*size 3"),
    ("aclnnInplaceIndexCopy", lambda: (X.clone(), 0, FAR, X[:2]), "IndexCopy.*index 3 .*size 3"),
    ("aclnnInplaceIndexFill", lambda: (X.clone(), 0, FAR, 1), "IndexFill.*index 3 .*size 3"),
    ("aclnnInplaceIndexFillTensor", lambda: (X.clone(), 0, [5], 1), "index 5 .*size 3"),
    (
        "aclnnScatterNdUpdate",
        lambda: (X.clone(), torch.tensor([[0, 4]]), X[0, :1]),
        "index 4 .*dimension 1 of size 4",
    ),
    (
        "aclnnInplaceScatter",
        lambda: (X.clone(), 0, FAR.reshape(2, 1), X, 0),
        "Scatter.*index 3 .*size 3",
    ),
    (
        "aclnnInplaceScatterValue",
        lambda: (X.clone(), 1, FAR.reshape(1, 2) * -1, 1, 1),
        "index -3 .*size 4",
    ),
    (
        "aclnnInplaceMaskedScatter",
        lambda: (X.clone(), X == 0, X[0]),
        "chooses 12 elements, source has 4",
    ),
    (
        "aclnnRepeatInterleaveTensor",
        lambda: (torch.tensor([1, -1]), 0, FAR[:0]),
        "negative number -1 at 1",
    ),
    (
        "aclnnRepeatInterleave",
        lambda: (X[0], torch.tensor([1, 1, 1, 1]), 3, X[0, :3]),
        "do not sum up to 3",
    ),
]


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    OUT_OF_RANGE,
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_values_that_do_not_fit_are_errors_of_the_run(
    library: Library, operator: str, arguments: object, message: str
) -> None:
    with pytest.raises(AclnnError, match=message):
        library.call(operator, *arguments())
    library.call("aclnnInplaceCopy", X, torch.zeros(3, 4))  # the stream still works


REFUSED = [
    ("aclnnIndexSelect", lambda: (X, 2, FAR, X), INVALID, "dimension 2 does not exist"),
    ("aclnnIndexSelect", lambda: (X, 0, FAR.float(), X), INVALID, "int32 or int64"),
    ("aclnnIndexSelect", lambda: (X, 0, FAR, X.clone()), INVALID, r"\[3, 4\] where \[2, 4\]"),
    ("aclnnIndexSelect", lambda: (X, 0, None, X), NULL, "index is null"),
    ("aclnnGather", lambda: (X, 0, FAR, torch.zeros(2)), INVALID, "does not fit into self"),
    (
        "aclnnIndex",
        lambda: (X, [FAR, FAR, FAR], X),
        INVALID,
        "3 indices for a tensor of 2 dimensions",
    ),
    (
        "aclnnIndex",
        lambda: (X, [FAR, torch.tensor([0, 1, 2])], X),
        INVALID,
        "cannot be broadcast",
    ),
    (
        "aclnnIndexPutImpl",
        lambda: (X, [FAR], torch.zeros(3, 4), False, False),
        INVALID,
        "cannot be broadcast",
    ),
    (
        "aclnnIndexPutImpl",
        lambda: (X, [FAR], torch.zeros(1, dtype=torch.int8), False, False),
        INVALID,
        "differ",
    ),
    ("aclnnIndexAdd", lambda: (X, 0, FAR, X, 1, X.clone()), INVALID, "source has the shape"),
    (
        "aclnnScatter",
        lambda: (X, 0, torch.zeros(4, 4, dtype=torch.int64), X, 0, X.clone()),
        INVALID,
        "into src",
    ),
    (
        "aclnnScatter",
        lambda: (X, 0, torch.zeros(3, 4, dtype=torch.int64), X, 9, X.clone()),
        INVALID,
        "reduction 9",
    ),
    ("aclnnMaskedSelect", lambda: (X, X, torch.zeros(12)), INVALID, "bool or uint8"),
    ("aclnnNonzero", lambda: (X, torch.zeros(12, 2)), INVALID, "it is of int64"),
    ("aclnnRepeatInterleaveInt", lambda: (X, -1, 0, X), INVALID, "negative number -1"),
    (
        "aclnnEmbeddingDenseBackward",
        lambda: (X, FAR, 3, -1, False, X.clone()),
        INVALID,
        "where indices are",
    ),
]


@refusals(REFUSED)
def test_bad_input_is_refused(library: Library, operator, arguments, code, message) -> None:
    check_refused(library, operator, arguments, code, message)
