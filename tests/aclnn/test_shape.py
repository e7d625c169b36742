"""Operators that rearrange, split, concatenate, pad and generate, against PyTorch on the CPU."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from tests.aclnn.cases import (
    ALL,
    COMPLEX,
    FLOATING,
    INTEGERS,
    LAYOUTS,
    REAL,
    dtype_name,
    laid_out,
    unwritten,
    whole,
)
from tests.aclnn.compare import INVALID, NULL, assert_same, assert_sum
from tests.aclnn.library import AclnnError, Library
from tests.aclnn.refusals import check_refused, refusals


@dataclass(frozen=True)
class Row:
    """One call: the operator, the shapes of its tensors, its attributes, and PyTorch's function for both."""

    operator: str
    shape: tuple[int, ...]
    attributes: tuple[object, ...]
    reference: Callable[[torch.Tensor], torch.Tensor]

    @property
    def id(self) -> str:
        return f"{self.operator}-{'x'.join(map(str, self.shape))}-{self.attributes}".replace(
            " ", ""
        )


def _pad(mode: str, padding: list[int]) -> Callable[[torch.Tensor], torch.Tensor]:
    if mode == "constant":
        return lambda x: torch.nn.functional.pad(x, padding, value=3)
    return lambda x: torch.nn.functional.pad(x.to(torch.complex128), padding, mode=mode).to(x.dtype)


def _row(operator: str, shape: tuple[int, ...], *attributes: object, to: Callable) -> Row:
    return Row(operator, shape, attributes, to)


NINE = (2, 1, 2, 3, 1, 2, 2, 1, 2)
ROWS = [
    _row("aclnnFlip", (3, 4, 5), [0], to=lambda x: x.flip(0)),
    _row("aclnnFlip", (3, 4, 5), [-1, 1], to=lambda x: x.flip(2, 1)),
    _row("aclnnFlip", (3, 4, 5), [], to=torch.clone),
    _row("aclnnFlip", (), [], to=torch.clone),
    _row("aclnnFlip", (0, 3), [1], to=torch.clone),
    _row("aclnnFlip", NINE, [0, 3, 8], to=lambda x: x.flip(0, 3, 8)),
    _row("aclnnRoll", (3, 4, 5), [7], [], to=lambda x: x.roll(7)),
    _row("aclnnRoll", (3, 4, 5), [-1], [], to=lambda x: x.roll(-1)),
    _row("aclnnRoll", (3, 4, 5), [1, -2], [0, 2], to=lambda x: x.roll((1, -2), (0, 2))),
    _row("aclnnRoll", (3, 4), [1, 2], [1, 1], to=lambda x: x.roll((1, 2), (1, 1))),
    _row("aclnnRoll", (0, 4), [1], [0], to=torch.clone),
    _row("aclnnRoll", NINE, [1, 1, 1], [0, 3, 8], to=lambda x: x.roll((1, 1, 1), (0, 3, 8))),
    _row("aclnnRepeat", (3, 4), [2, 3], to=lambda x: x.repeat(2, 3)),
    _row("aclnnRepeat", (3, 4), [2, 1, 3], to=lambda x: x.repeat(2, 1, 3)),
    _row("aclnnRepeat", (3, 4), [2, 0], to=lambda x: x.repeat(2, 0)),
    _row("aclnnRepeat", (), [3], to=lambda x: x.repeat(3)),
    _row("aclnnRepeat", (), [], to=torch.clone),
    _row("aclnnPermute", (3, 4, 5), [2, 0, 1], to=lambda x: x.permute(2, 0, 1)),
    _row("aclnnPermute", (67, 131), [1, 0], to=lambda x: x.permute(1, 0)),
    _row("aclnnPermute", (2, 40, 3, 70), [0, -1, 2, 1], to=lambda x: x.permute(0, 3, 2, 1)),
    _row(
        "aclnnPermute",
        NINE,
        [8, 7, 6, 5, 4, 3, 2, 1, 0],
        to=lambda x: x.permute(8, 7, 6, 5, 4, 3, 2, 1, 0),
    ),
    _row(
        "aclnnChannelShuffle",
        (2, 6, 3),
        3,
        to=lambda x: x.unflatten(1, (3, 2)).transpose(1, 2).flatten(1, 2),
    ),
    _row("aclnnConstantPadNd", (3, 4), [1, 2], 3, to=_pad("constant", [1, 2])),
    _row("aclnnConstantPadNd", (3, 4), [1, 2, 0, 3], 3, to=_pad("constant", [1, 2, 0, 3])),
    _row("aclnnConstantPadNd", (3, 4), [-1, 2, 3, -2], 3, to=_pad("constant", [-1, 2, 3, -2])),
    _row("aclnnConstantPadNd", (3, 4), [4, -4], 3, to=_pad("constant", [4, -4])),
    _row("aclnnConstantPadNd", (0, 4), [1, 2, 1, 0], 3, to=_pad("constant", [1, 2, 1, 0])),
    _row("aclnnTril", (4, 5), 0, to=lambda x: x.tril()),
    _row("aclnnTril", (2, 5, 3), 1, to=lambda x: x.tril(1)),
    _row("aclnnTril", (2, 5, 3), -9, to=lambda x: x.tril(-9)),
    _row("aclnnTriu", (4, 5), 0, to=lambda x: x.triu()),
    _row("aclnnTriu", (2, 5, 3), -2, to=lambda x: x.triu(-2)),
    _row("aclnnTriu", (2, 5, 3), 9, to=lambda x: x.triu(9)),
]
PADS = [
    ("Reflection", "reflect", 1, (2, 3, 5), [2, 4]),
    ("Reflection", "reflect", 1, (3, 5), [0, 1]),
    ("Reflection", "reflect", 2, (2, 4, 5), [1, 4, 3, 0]),
    ("Reflection", "reflect", 2, (2, 2, 4, 5), [-1, 2, 1, -1]),
    ("Reflection", "reflect", 3, (2, 3, 4, 3), [1, 2, 3, 0, 2, 1]),
    ("Replication", "replicate", 1, (2, 3, 5), [2, 7]),
    ("Replication", "replicate", 2, (2, 4, 5), [1, 9, 3, 0]),
    ("Replication", "replicate", 2, (2, 2, 4, 5), [-1, 2, 1, -1]),
    ("Replication", "replicate", 3, (2, 2, 3, 4, 3), [1, 2, 3, 0, 2, 4]),
]
ROWS += [
    _row(f"aclnn{kind}Pad{dims}d", shape, padding, to=_pad(mode, padding))
    for kind, mode, dims, shape, padding in PADS
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_moves_elements(library: Library, row: Row, layout: str) -> None:
    for dtype in ALL:
        x = whole(row.shape, dtype, row.id)
        expected = row.reference(x)
        for result in (layout, "contiguous"):
            out = unwritten(expected, result)
            library.call(row.operator, laid_out(x, layout), *row.attributes, out)
            assert_same(out, expected)


@pytest.mark.parametrize("operator", ["Tril", "Triu"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_triangle_in_place(library: Library, operator: str, layout: str) -> None:
    for dtype in ALL:
        x = whole((3, 6, 4), dtype)
        out = laid_out(x, layout)
        library.call(f"aclnnInplace{operator}", out, -1)
        assert_same(out, getattr(x, operator.lower())(-1))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_cat_stack_split(library: Library, dtype: torch.dtype, layout: str) -> None:
    parts = [whole((3, size, 2), dtype, size) for size in (4, 0, 1, 5)]
    for dim in (1, -2):
        expected = torch.cat(parts, dim)
        out = unwritten(expected, layout)
        library.call("aclnnCat", [laid_out(p, layout) for p in parts], dim, out)
        assert_same(out, expected)
    pieces = [unwritten(p, layout) for p in parts]
    library.call("aclnnSplitWithSize", laid_out(expected, layout), [4, 0, 1, 5], 1, pieces)
    for chunk, part in zip(pieces, parts, strict=True):
        assert_same(chunk, part)
    same = [whole((3, 2), dtype, k) for k in range(3)]
    for dim in (0, 1, 2, -1):
        out = unwritten(torch.stack(same, dim), layout)
        library.call("aclnnStack", [laid_out(p, layout) for p in same], dim, out)
        assert_same(out, torch.stack(same, dim))


def test_cat_converts_and_skips_empty_ones(library: Library) -> None:
    parts = [whole((2, 3), dtype) for dtype in (torch.int32, torch.float16, torch.bool)]
    expected = torch.cat(parts)
    out = unwritten(expected, "contiguous")
    library.call("aclnnCat", [torch.empty(0), *parts], 0, out)
    assert_same(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("kind", "mode", "dims", "shape", "padding"), PADS, ids=str)
def test_pad_backward(
    library: Library,
    kind: str,
    mode: str,
    dims: int,
    shape: tuple[int, ...],
    padding: list[int],
    layout: str,
) -> None:
    for dtype in (*FLOATING, *COMPLEX):
        widened = torch.complex128 if dtype.is_complex else torch.float64
        x = torch.zeros(shape, dtype=widened, requires_grad=True)
        y = torch.nn.functional.pad(x, padding, mode=mode)
        grad = whole(tuple(y.shape), dtype, shape)
        (expected,) = torch.autograd.grad(y, x, grad.to(widened))
        y = torch.nn.functional.pad(x, padding, mode=mode)
        (magnitude,) = torch.autograd.grad(y, x, grad.abs().to(widened))
        out = unwritten(expected.to(dtype), layout)
        library.call(
            f"aclnn{kind}Pad{dims}dBackward",
            laid_out(grad, layout),
            expected.to(dtype),
            padding,
            out,
        )
        terms = y.numel() // max(1, x.numel()) + sum(map(abs, padding))
        assert_sum(out, expected, magnitude.abs(), terms, out.dtype)


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_copy_of_any_layouts(library: Library, dtype: torch.dtype) -> None:
    x = whole((2, 37, 3, 65), dtype)
    for order in ((0, 1, 2, 3), (3, 1, 0, 2), (0, 3, 2, 1), (1, 0, 3, 2), (3, 2, 1, 0)):
        source = x.permute(order).contiguous().permute(sorted(range(4), key=order.__getitem__))
        for layout in LAYOUTS:
            out = unwritten(x, layout)
            library.call("aclnnInplaceCopy", out, source)
            assert_same(out, x)
            library.call("aclnnInplaceCopy", out, source[:, :1])
            assert_same(out, x[:, :1].expand_as(x).contiguous())


def test_large_copies(library: Library) -> None:
    for dtype, shape in (
        (torch.float32, (1030, 517)),
        (torch.uint8, (700, 1100)),
        (torch.bfloat16, (5, 300, 301)),
    ):
        x = whole(shape, dtype)
        for source in (x, x.transpose(-1, -2).contiguous().transpose(-1, -2), x[..., ::2]):
            out = unwritten(source, "contiguous")
            library.call("aclnnInplaceCopy", out, source)
            assert_same(out, source)


@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
def test_eye_and_diagonals(library: Library, dtype: torch.dtype) -> None:
    for n, m in ((3, 3), (2, 5), (5, 2), (0, 3)):
        out = unwritten(torch.eye(n, m).to(dtype), "strided")
        library.call("aclnnEye", n, m, out)
        assert_same(out, torch.eye(n, m).to(dtype))
    for shape in ((3, 5), (13, 3), (4, 3), (5, 3), (2, 1), (3, 3, 3)):
        for wrap in (False, True):
            x = whole(shape, dtype)
            out = laid_out(x, "strided")
            library.call("aclnnInplaceFillDiagonal", out, 7, wrap)
            assert_same(out, x.clone().fill_diagonal_(7, wrap))


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGERS, *COMPLEX], ids=dtype_name)
def test_trace(library: Library, dtype: torch.dtype) -> None:
    x = whole((7, 5), dtype)
    exact = x.to(torch.complex128 if dtype.is_complex else torch.float64).trace()
    out = torch.zeros((), dtype=dtype if dtype in (*FLOATING, *COMPLEX) else torch.int64)
    library.call("aclnnTrace", laid_out(x, "strided"), out)
    assert_same(out, exact.to(out.dtype))


RANGES = [(0, 10, 1), (3, -4, -2), (1, 2, 0.3), (0.5, 4.25, 0.25), (5, 5, 1)]


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGERS[1:4]], ids=dtype_name)
@pytest.mark.parametrize("bounds", RANGES, ids=str)
def test_ranges(library: Library, dtype: torch.dtype, bounds: tuple[float, float, float]) -> None:
    if not dtype.is_floating_point and any(isinstance(b, float) for b in bounds):
        pytest.skip("numbers that are not whole are truncated first")
    largest = torch.tensor(max(abs(b) for b in bounds))
    for operator, function in (("aclnnArange", torch.arange), ("aclnnRange", torch.range)):
        if operator == "aclnnArange" and bounds[0] == bounds[1]:
            continue
        exact = function(*bounds, dtype=torch.float64)
        out = unwritten(exact.to(dtype), "strided")
        library.call(operator, *bounds, out)
        assert_sum(out, exact, largest, 2, out.dtype)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int32, torch.int64, *COMPLEX], ids=dtype_name)
@pytest.mark.parametrize("steps", [0, 1, 2, 7, 10000])
def test_linspace(library: Library, dtype: torch.dtype, steps: int) -> None:
    for start, end in ((0, 1000), (3, -4)):
        exact = torch.linspace(
            start, end, steps, dtype=dtype if not dtype.is_floating_point else torch.float64
        )
        out = unwritten(exact.to(dtype), "strided")
        library.call("aclnnLinspace", start, end, steps, out)
        if dtype in INTEGERS:
            assert_same(out, exact)
        else:
            assert_sum(out, exact, torch.tensor(1000.0), 4, out.dtype)
    if dtype.is_floating_point:
        exact = torch.logspace(-1, 2, steps, 2.0, dtype=torch.float64)
        out = unwritten(exact.to(dtype), "contiguous")
        library.call("aclnnLogSpace", -1.0, 2.0, steps, 2.0, out)
        assert_sum(out, exact, torch.tensor(4.0), 4, out.dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=dtype_name)
def test_one_hot(library: Library, dtype: torch.dtype) -> None:
    x = whole((3, 4), dtype).abs() % 5
    expected = torch.nn.functional.one_hot(x.long(), 5)
    for axis, result in ((-1, expected), (0, expected.permute(2, 0, 1))):
        for out_dtype in (torch.int64, torch.float16, dtype):
            out = unwritten(result.to(out_dtype), "strided")
            on, off = torch.ones(1, dtype=out_dtype), torch.zeros(1, dtype=out_dtype)
            library.call("aclnnOneHot", laid_out(x, "strided"), 5, on, off, axis, out)
            assert_same(out, result.to(out_dtype))


def test_one_hot_refuses_a_class_out_of_range(library: Library) -> None:
    one, zero = torch.ones(1), torch.zeros(1)
    with pytest.raises(AclnnError, match="class 5 does not exist: there are 5"):
        library.call("aclnnOneHot", torch.tensor([1, 5, 2]), 5, one, zero, -1, torch.zeros(3, 5))


X = torch.zeros(3, 4)
REFUSED = [
    ("aclnnCat", ([], 0, X), INVALID, "holds no tensor"),
    ("aclnnCat", ([X, torch.zeros(3, 5, 1)], 0, X), INVALID, "does not fit"),
    ("aclnnCat", ([X, X], 2, X), INVALID, "dimension 2 does not exist"),
    ("aclnnCat", ([X, X], 0, X), INVALID, r"\[3, 4\] where \[6, 4\]"),
    ("aclnnCat", (None, 0, X), NULL, "tensors is null"),
    ("aclnnStack", ([X, X[:2]], 0, torch.zeros(2, 3, 4)), INVALID, "is needed"),
    ("aclnnSplitWithSize", (X, [2, 2], 0, [X[:2], X[:2]]), INVALID, "do not sum up"),
    ("aclnnFlip", (X, [0, -2], X.clone()), INVALID, "flipped twice"),
    (
        "aclnnFlip",
        (X, [0], torch.zeros(3, 4, dtype=torch.int32)),
        INVALID,
        "differ in data type",
    ),
    ("aclnnRoll", (X, [1, 2], [0], X.clone()), INVALID, "2 shifts for 1 dimensions"),
    ("aclnnRepeat", (X, [2], X.clone()), INVALID, "1 repeats"),
    ("aclnnRepeat", (X, [1, -1], X.clone()), INVALID, "negative number -1"),
    ("aclnnPermute", (X, [0, 0], X.clone()), INVALID, "there twice"),
    ("aclnnConstantPadNd", (X, [1], 0, X.clone()), INVALID, "a dimension takes two"),
    ("aclnnConstantPadNd", (X, [-3, -3], 0, X.clone()), INVALID, "cannot be padded by -3"),
    ("aclnnReflectionPad1d", (X, [4, 0], torch.zeros(3, 8)), INVALID, "cannot be reflected"),
    ("aclnnReflectionPad2d", (X, [1, 1, 1, 1], X.clone()), INVALID, "3 or 4 dimensions"),
    ("aclnnTril", (X[0], 0, X[0].clone()), INVALID, "2 dimensions"),
    ("aclnnEye", (3, 3, X), INVALID, "is needed"),
    ("aclnnArange", (0, 5, 0, X), INVALID, "step is 0"),
    ("aclnnArange", (0, 5, -1, X), INVALID, "no steps of -1"),
    ("aclnnArange", (0, 50, 1, torch.zeros(5)), INVALID, "50 elements are needed"),
    ("aclnnLinspace", (0, 5, -1, X), INVALID, "elements are needed"),
    ("aclnnInplaceFillDiagonal", (torch.zeros(2, 3, 4), 1, False), INVALID, "one size"),
    ("aclnnInplaceCopy", (X, torch.zeros(3, 3)), INVALID, "broadcast"),
]


@refusals(REFUSED)
def test_bad_input_is_refused(library: Library, operator, arguments, code, message) -> None:
    check_refused(library, operator, arguments, code, message)


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 3, 1), (1, 100, 2), (-3, -1, 1), (2, 2, 1), (0, 6, 5)]
)
def test_slice(library: Library, dim: int, start: int, end: int, step: int) -> None:
    x = whole((4, 5, 7), torch.float16, "slice")
    index = [slice(None)] * 3
    index[dim] = slice(start, end, step)
    expected = x[tuple(index)]
    for layout in LAYOUTS:
        out = unwritten(expected, layout)
        library.call("aclnnSlice", laid_out(x, layout), dim, start, end, step, out)
        assert_same(out, expected)


def test_slices_that_are_refused(library: Library) -> None:
    x = torch.zeros(4, 5)
    for arguments, message in [((1, 0, 3, 0), "step is 0"), ((2, 0, 3, 1), "dimension 2")]:
        with pytest.raises(AclnnError, match=message):
            library.call("aclnnSlice", x, *arguments, torch.zeros(4, 3))
    with pytest.raises(AclnnError, match="out"):
        library.call("aclnnSlice", x, 1, 0, 3, 1, torch.zeros(4, 4))
