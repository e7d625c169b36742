"""Operators on lists of tensors, against torch on each tensor."""

import math
from collections.abc import Callable

import pytest
import torch

from tests.aclnn.cases import (
    COMPLEX,
    FLOATING,
    INTEGERS,
    SMALL,
    dtype_name,
    off_zero,
    sample,
    seeded,
    unwritten,
)
from tests.aclnn.compare import INVALID, assert_within, widened
from tests.aclnn.library import AclnnError, Library, operators

ALL = FLOATING + INTEGERS + COMPLEX
REAL = FLOATING + INTEGERS
INEXACT = FLOATING + COMPLEX

# Operator -> reference for one tensor, dtypes, and a function that moves inputs to where the slope is moderate.
Prepare = Callable[[torch.Tensor], torch.Tensor]


def _as_is(x: torch.Tensor) -> torch.Tensor:
    return x


def _positive(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_complex() else x.abs()


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x / 4


UNARY = {
    "Abs": (torch.abs, REAL, _as_is),
    "Neg": (torch.neg, ALL, _as_is),
    "Sign": (torch.sign, REAL, _as_is),
    "Copy": (torch.clone, ALL, _as_is),
    "Reciprocal": (torch.reciprocal, INEXACT, _as_is),
    "Sqrt": (torch.sqrt, INEXACT, _positive),
    "Exp": (torch.exp, INEXACT, _as_is),
    "Expm1": (torch.expm1, INEXACT, _as_is),
    "Log": (torch.log, INEXACT, _positive),
    "Log2": (torch.log2, INEXACT, _positive),
    "Log10": (torch.log10, INEXACT, _positive),
    "Log1p": (torch.log1p, INEXACT, _positive),
    "Sin": (torch.sin, INEXACT, _as_is),
    "Cos": (torch.cos, INEXACT, _as_is),
    "Tan": (torch.tan, FLOATING, _unit),
    "Asin": (torch.asin, FLOATING, _unit),
    "Acos": (torch.acos, FLOATING, _unit),
    "Atan": (torch.atan, FLOATING, _as_is),
    "Sinh": (torch.sinh, INEXACT, _as_is),
    "Cosh": (torch.cosh, INEXACT, _as_is),
    "Tanh": (torch.tanh, INEXACT, _as_is),
    "Erf": (torch.erf, FLOATING, _as_is),
    "Erfc": (torch.erfc, FLOATING, _as_is),
    "Sigmoid": (torch.sigmoid, INEXACT, _as_is),
}
# With a list, one scalar, and one scalar per tensor.
BINARY = {
    "Mul": (torch.mul, ALL),
    "Div": (torch.div, INEXACT),
    "Maximum": (torch.maximum, REAL),
    "Minimum": (torch.minimum, REAL),
    "Pow": (torch.pow, (torch.float32, torch.float64)),
}


def _lists(
    name: str, dtype: torch.dtype, count: int, layouts: tuple[str, ...] = SMALL
) -> list[list[torch.Tensor]]:
    """``count`` lists with one tensor per layout."""
    numbers = seeded(name, dtype)
    return [[sample(layout, dtype, numbers, off_zero) for layout in layouts] for _ in range(count)]


def _results(like: list[torch.Tensor], dtype: torch.dtype) -> list[torch.Tensor]:
    return [unwritten(x.to(dtype), layout) for layout, x in zip(SMALL, like, strict=True)]


def _check_all(got: list[torch.Tensor], expected: list[torch.Tensor], factor: float = 8) -> None:
    for one, other in zip(got, expected, strict=True):
        assert_within(one, other, factor)


def _rows(table: dict[str, tuple]) -> list:
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype_name(dtype)}")
        for name, row in table.items()
        for dtype in row[1]
    ]


@pytest.mark.parametrize(("name", "dtype"), _rows(UNARY))
def test_unary(library: Library, name: str, dtype: torch.dtype):
    function, _, prepare = UNARY[name]
    (x,) = _lists(name, dtype, 1)
    x = [prepare(tensor) for tensor in x]
    out = _results(x, dtype)
    library.call(f"aclnnForeach{name}", x, out)
    _check_all(out, [function(widened(tensor)) for tensor in x])


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
def test_zero(library: Library, dtype: torch.dtype):
    (x,) = _lists(
        "zero", dtype, 1, ("contiguous", "transposed", "strided", "scalar", "empty", "nine")
    )
    library.call("aclnnForeachZeroInplace", x)
    assert all(not tensor.any() for tensor in x)


@pytest.mark.parametrize(("name", "dtype"), _rows(BINARY))
def test_binary_list(library: Library, name: str, dtype: torch.dtype):
    function = BINARY[name][0]
    x, y = _lists(name, dtype, 2)
    if name == "Pow":
        x = [tensor.abs() for tensor in x]
    out = _results(x, dtype)
    library.call(f"aclnnForeach{name}List", x, y, out)
    _check_all(out, [function(widened(a), widened(b)) for a, b in zip(x, y, strict=True)], 32)


@pytest.mark.parametrize("variant", ["Scalar", "ScalarV2", "ScalarList"])
@pytest.mark.parametrize(
    ("name", "dtype"), _rows({**BINARY, "Add": (torch.add, ALL), "Sub": (torch.sub, ALL)})
)
def test_binary_scalar(library: Library, name: str, dtype: torch.dtype, variant: str):
    function = getattr(torch, name.lower())
    (x,) = _lists(name, dtype, 1)
    if name == "Pow":
        x = [tensor.abs() for tensor in x]
    numbers = [3 if not dtype.is_floating_point and not dtype.is_complex else 1.5] * len(x)
    given: object = numbers[0]
    if variant == "ScalarList":
        given = numbers = [number + i for i, number in enumerate(numbers)]
    elif variant == "Scalar":
        given = torch.tensor(numbers[0], dtype=dtype)
    out = _results(x, dtype)
    library.call(f"aclnnForeach{name}{variant}", x, given, out)
    number_of = (lambda n: torch.tensor(n)) if name in ("Maximum", "Minimum") else (lambda n: n)
    expected = []
    for tensor, number in zip(x, numbers, strict=True):
        operand = number_of(number)
        if isinstance(operand, torch.Tensor):
            operand = operand.to(widened(tensor).dtype)
        expected.append(function(widened(tensor), operand))
    _check_all(out, expected, 64)


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
@pytest.mark.parametrize("name", ["Add", "Sub"])
@pytest.mark.parametrize("variant", ["List", "ListV2"])
def test_scaled_list(library: Library, name: str, variant: str, dtype: torch.dtype):
    x, y = _lists(name, dtype, 2)
    out = _results(x, dtype)
    alpha = torch.tensor(3, dtype=dtype)
    library.call(f"aclnnForeach{name}{variant}", x, y, alpha if variant == "List" else 3, out)
    function = getattr(torch, name.lower())
    _check_all(
        out, [function(widened(a), widened(b), alpha=3) for a, b in zip(x, y, strict=True)], 16
    )


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
@pytest.mark.parametrize("variant", ["Scalar", "ScalarV2", "ScalarList"])
@pytest.mark.parametrize("name", ["Addcmul", "Addcdiv"])
def test_addc(library: Library, name: str, variant: str, dtype: torch.dtype):
    if name == "Addcdiv" and dtype in INTEGERS:
        pytest.skip("torch has no addcdiv of integers")
    x, y, z = _lists(name, dtype, 3)
    numbers = [2] * len(x) if variant != "ScalarList" else list(range(1, len(x) + 1))
    given = {
        "Scalar": torch.tensor([2], dtype=dtype),
        "ScalarV2": 2,
        "ScalarList": torch.tensor(numbers, dtype=dtype),
    }
    out = _results(x, dtype)
    library.call(f"aclnnForeach{name}{variant}", x, y, z, given[variant], out)
    function = getattr(torch, name.lower())
    rows = zip(x, y, z, numbers, strict=True)
    _check_all(
        out, [function(widened(a), widened(b), widened(c), value=n) for a, b, c, n in rows], 256
    )


@pytest.mark.parametrize("dtype", INEXACT, ids=dtype_name)
@pytest.mark.parametrize("variant", ["Scalar", "List"])
def test_lerp(library: Library, variant: str, dtype: torch.dtype):
    x, y, weight = _lists("Lerp", dtype, 3)
    out = _results(x, dtype)
    library.call(f"aclnnForeachLerp{variant}", x, y, weight if variant == "List" else 0.3, out)
    weights = weight if variant == "List" else [0.3] * len(x)
    rows = zip(x, y, weights, strict=True)
    _check_all(out, [torch.lerp(widened(a), widened(b), widened(w)) for a, b, w in rows], 64)


def test_power_of_a_scalar(library: Library):
    (exponents,) = _lists("base", torch.float32, 1)
    out = _results(exponents, torch.float32)
    library.call("aclnnForeachPowScalarAndTensor", 2.5, exponents, out)
    _check_all(out, [torch.pow(2.5, x.double()) for x in exponents], 32)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("variant", ["", "V2"])
@pytest.mark.parametrize(
    ("mode", "function"),
    [(1, torch.round), (2, torch.floor), (3, torch.ceil), (5, torch.trunc), (7, torch.frac)],
)
def test_round(library: Library, variant: str, dtype: torch.dtype, mode: int, function: Callable):
    (x,) = _lists("round", dtype, 1)
    x[0].flatten()[:4] = torch.tensor([0.5, 1.5, -0.5, -2.5])
    out = _results(x, dtype)
    given = torch.tensor(mode, dtype=torch.int8) if variant == "" else mode
    library.call(f"aclnnForeachRoundOffNumber{variant}", x, given, out)
    for got, tensor in zip(out, x, strict=True):
        assert torch.equal(got, function(tensor))


@pytest.mark.parametrize("dtype", INEXACT, ids=dtype_name)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, math.inf, -math.inf])
def test_norm(library: Library, dtype: torch.dtype, order: float):
    (x,) = _lists("norm", dtype, 1)
    x.append(sample("contiguous", dtype, seeded("norm"), off_zero).repeat(20, 1, 1))
    real = torch.empty(0, dtype=dtype).real.dtype
    out = [torch.full((), 7, dtype=real) for _ in x]
    library.call("aclnnForeachNorm", x, order, out)
    expected = [
        torch.linalg.vector_norm(widened(t), order)
        if t.numel()
        else torch.zeros((), dtype=torch.float64)
        for t in x
    ]
    # Values beyond float16 become infinite. The float64 reference has an error of at most one rounding per term.
    expected = [e.to(real).double() if e > torch.finfo(real).max else e for e in expected]
    for got, one, tensor in zip(out, expected, x, strict=True):
        assert_within(got, one, 4 if real != torch.float64 else 4 + tensor.numel())


def test_norm_keeps_nan(library: Library):
    x = [torch.tensor([1.0, math.nan, 2.0]), torch.tensor([math.nan, 3.0])]
    for order in (1, 2, math.inf, -math.inf):
        out = [torch.zeros(()), torch.zeros(())]
        library.call("aclnnForeachNorm", x, order, out)
        assert all(one.isnan() for one in out)


def test_norm_does_not_overflow(library: Library):
    out = [torch.zeros(())]
    library.call("aclnnForeachNorm", [torch.full((4,), 1e30)], 2, out)
    assert_within(out[0], torch.tensor(2e30, dtype=torch.float64))


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("bad", [None, math.inf, -math.inf, math.nan])
def test_unscale(library: Library, dtype: torch.dtype, bad: float | None):
    numbers = seeded("unscale", dtype)
    layouts = ("contiguous", "transposed", "strided", "scalar", "empty", "nine")
    grads = [sample(layout, dtype, numbers, off_zero) for layout in layouts]
    if bad is not None:
        grads[2][-1, -1] = bad
    before = [grad.clone() for grad in grads]
    found, scale = torch.zeros(1), torch.tensor([0.37])
    library.call("aclnnForeachNonFiniteCheckAndUnscale", grads, found, scale)
    assert found.item() == (bad is not None)
    _check_all(grads, [grad.double() * scale.item() for grad in before], 2)


def test_found_inf_is_not_reset(library: Library):
    found = torch.ones(1)
    library.call("aclnnForeachNonFiniteCheckAndUnscale", [torch.ones(3)], found, torch.ones(1))
    assert found.item() == 1


@pytest.mark.parametrize("count", [0, 1, 60])
def test_lists_of_any_length(library: Library, count: int):
    x = [torch.arange(i + 1.0) for i in range(count)]
    out = [torch.empty_like(tensor) for tensor in x]
    library.call("aclnnForeachAddScalarV2", x, 1.0, out)
    for got, tensor in zip(out, x, strict=True):
        assert torch.equal(got, tensor + 1)


def test_large_tensors_in_place(library: Library):
    x = [torch.arange(300_000.0), torch.arange(5.0), torch.arange(400_000.0).reshape(2, -1)]
    expected = [tensor * 3 for tensor in x]
    library.call("aclnnForeachMulScalarV2", x, 3.0, x)
    assert all(map(torch.equal, x, expected))


def test_repeated_tensors_are_computed_in_order(library: Library):
    x = torch.arange(300_000.0)
    expected = x + 2
    library.call("aclnnForeachAddScalarV2", [x, x], 1.0, [x, x])
    assert torch.equal(x, expected)


def test_lengths_differ(library: Library):
    x = [torch.ones(2), torch.ones(3)]
    with pytest.raises(AclnnError, match="1 tensors where 2 are needed") as error:
        library.call("aclnnForeachMulList", x, x[:1], x)
    assert error.value.code == INVALID
    with pytest.raises(AclnnError, match="3 scalars are given for 2 tensors"):
        library.call("aclnnForeachAddScalarList", x, [1.0, 2.0, 3.0], x)
    with pytest.raises(AclnnError, match="1 elements where 2"):
        library.call("aclnnForeachAddcmulScalarList", x, x, x, torch.ones(1), x)


def test_shapes_differ(library: Library):
    with pytest.raises(AclnnError, match="tensor 1 of the list") as error:
        library.call("aclnnForeachMulList", *[[torch.ones(2), torch.ones(n)] for n in (2, 3, 2)])
    assert error.value.code == INVALID


def test_what_torch_refuses(library: Library):
    integers = [torch.ones(2, dtype=torch.int32)]
    with pytest.raises(AclnnError, match="floating-point and complex"):
        library.call("aclnnForeachNorm", integers, 2, [torch.ones(())])
    with pytest.raises(AclnnError, match="rounding mode 4"):
        library.call("aclnnForeachRoundOffNumberV2", [torch.ones(2)], 4, [torch.ones(2)])
    values = [torch.ones(2, dtype=torch.complex64)]
    with pytest.raises(AclnnError, match="not defined for complex64"):
        library.call("aclnnForeachMaximumList", values, values, values)
    with pytest.raises(AclnnError, match="one float32"):
        library.call(
            "aclnnForeachNonFiniteCheckAndUnscale", [torch.ones(2)], torch.ones(2), torch.ones(1)
        )


def test_every_foreach_operator_is_exported(library: Library):
    names = [name for name in operators() if name.startswith("aclnnForeach")]
    assert len(names) == 68
    assert all(hasattr(library.operators, name) for name in names)
