"""Accuracy of float32 functions over the whole range: special values, and random bit patterns, against float64."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.aclnn.library import Library

COUNT = 1 << 18
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 1 / 3, 100.0, 1e10, 1 - 2**-24, 1 + 2**-23, math.inf]
SPECIAL += [2.0**-149, 1e-38, 1e38, 2.0**24, 2.0**24 - 1, 2.0**128 - 2.0**104]
SPECIAL += [-x for x in SPECIAL] + [math.nan]


def mish(x: torch.Tensor) -> torch.Tensor:
    e = x.clamp(max=40).exp()
    return x * (e * (e + 2) / (e * (e + 2) + 2))


def logit(x: torch.Tensor) -> torch.Tensor:
    return torch.log(x) - torch.log1p(-x)


def softplus(x: torch.Tensor) -> torch.Tensor:
    return torch.logaddexp(x, torch.zeros_like(x))


# Operator, further arguments, function in float64, bounds of a second range, tolerated units in the last place.
ONE: list[tuple[str, tuple, Callable, float, float, float]] = [
    ("Tan", (), torch.tan, -20, 20, 1),
    ("Asin", (), torch.asin, -1, 1, 2),
    ("Acos", (), torch.acos, -1, 1, 2),
    ("Sinh", (), torch.sinh, -90, 90, 1),
    ("Cosh", (), torch.cosh, -90, 90, 1),
    ("Tanh", (), torch.tanh, -10, 10, 2),
    ("Asinh", (), torch.asinh, -3, 3, 1),
    ("Acosh", (), torch.acosh, 1, 3, 1),
    ("Atanh", (), torch.atanh, -1, 1, 1),
    ("Exp2", (), torch.exp2, -150, 129, 2),
    ("Erfc", (), torch.erfc, -5, 11, 1),
    ("Erfinv", (), torch.erfinv, -1, 1, 4),
    ("Mish", (), mish, -105, 25, 1),
    ("Log1p", (), torch.log1p, -1, 3, 2),
    ("Softplus", (1, math.inf), softplus, -110, 30, 2),
    ("LogSigmoidForward", (), torch.nn.functional.logsigmoid, -30, 110, 2),
    ("Logit", (-1.0,), logit, 0, 1, 1),
]
TWO: list[tuple[str, Callable]] = [
    ("Atan2", torch.atan2),
    ("PowTensorTensor", torch.pow),
    ("XLogYTensor", torch.xlogy),
    ("LogAddExp", torch.logaddexp),
    ("LogAddExp2", torch.logaddexp2),
]


def patterns(seed: int) -> torch.Tensor:
    """Random bit patterns, after the special values."""
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(-(2**31), 2**31, (COUNT,), generator=generator)
    x = bits.to(torch.int32).view(torch.float32)
    x[: len(SPECIAL)] = torch.tensor(SPECIAL)
    return x


def pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    special = torch.tensor(SPECIAL)
    generator = torch.Generator().manual_seed(2)
    a, b = (torch.randn(COUNT, generator=generator) for _ in range(2))
    return [
        (special.repeat_interleave(len(special)), special.repeat(len(special))),
        (patterns(0), patterns(1)),
        (a, b),
        (20 * a, 3 * b),
        (a, (10 * b).round()),
    ]


def assert_digits(got: torch.Tensor, exact: torch.Tensor, units: float) -> None:
    y, exact = got.numpy(), exact.numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected) & np.isfinite(y)
    same = (y == expected) | (np.isnan(y) & np.isnan(expected))
    assert same[~finite].all(), (y[~finite & ~same], expected[~finite & ~same])
    assert (np.signbit(y) == np.signbit(expected))[finite & (exact == 0)].all()
    unit = np.ldexp(1.0, np.maximum(np.frexp(exact[finite])[1] - 1, -126) - 23)
    off = np.abs(y[finite].astype(np.float64) - exact[finite]) / unit
    assert off.max() <= units


def run(library: Library, name: str, *arguments: object) -> torch.Tensor:
    out = torch.zeros_like(next(x for x in arguments if isinstance(x, torch.Tensor)))
    buffer = [torch.zeros(0)] if name == "LogSigmoidForward" else []
    library.call(f"aclnn{name}", *arguments, out, *buffer)
    return out


@pytest.mark.parametrize(
    ("name", "others", "function", "low", "high", "units"), ONE, ids=[row[0] for row in ONE]
)
def test_one_value(library: Library, name, others, function, low, high, units):
    for x in (patterns(0), torch.linspace(low, high, COUNT)):
        exact = function(x.double())
        if name == "LogSigmoidForward":  # 0 minus a number that float32 does not have
            exact = torch.where(x > 104, -0.0, exact)
        assert_digits(run(library, name, x, *others), exact, units)


@pytest.mark.parametrize(("name", "function"), TWO, ids=[row[0] for row in TWO])
def test_two_values(library: Library, name, function):
    for a, b in pairs():
        exact = function(a.double(), b.double())
        if name == "LogAddExp2":  # float64's own is wrong for two equal numbers
            exact = torch.where(a == b, a.double() + 1, exact)
        # If a sum of logarithms cancels, float64's precision is exhausted as well.
        assert_digits(run(library, name, a, b), exact, 4 if name.startswith("LogAdd") else 1)


def test_sinc_is_zero_only_at_integers(library: Library):
    x = torch.linspace(-20, 20, 40 * 64 + 1)
    got = run(library, "Sinc", x)
    assert (got == 0).equal((x == x.round()) & (x != 0))
    exact = torch.sinc(x.double())
    assert_digits(got[got != 0], exact[got != 0], 1)
    nans = run(library, "Sinc", torch.tensor([math.inf, -math.inf, math.nan]))
    assert nans.isnan().all()


def test_remainders_are_exact(library: Library):
    for a, b in [*pairs(), (patterns(0), torch.tensor(0.75).expand(COUNT))]:
        exact = torch.fmod(a.double(), b.double()).float()
        assert_digits(run(library, "FmodTensor", a, b), exact.double(), 0)
        of_divisor = torch.where((exact != 0) & ((exact < 0) != (b < 0)), exact + b, exact)
        assert_digits(run(library, "RemainderTensorTensor", a, b), of_divisor.double(), 0)


def test_floor_of_quotients(library: Library):
    for a, b in pairs():
        got, expected = run(library, "FloorDivide", a, b), torch.floor_divide(a, b)
        assert torch.equal(got.nan_to_num(nan=7), expected.nan_to_num(nan=7))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int32])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 2.5, -3, math.inf])
def test_powers_by_a_number(library: Library, dtype: torch.dtype, exponent: float):
    if dtype.is_floating_point:
        x = patterns(0).to(dtype)
    else:
        x = torch.arange(-50, 50, dtype=dtype)
        if exponent < 0 or isinstance(exponent, float):
            pytest.skip("no power of integers is an integer there")
    if dtype is torch.float16:
        x = x[x > 0]  # PyTorch's roots of other numbers differ from those of float32
    out = torch.zeros_like(x)
    library.call("aclnnPowTensorScalar", x, exponent, out)
    expected = torch.pow(x, exponent)
    if dtype is not torch.float32 or exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5):
        torch.testing.assert_close(out, expected, equal_nan=True)
    else:
        assert_digits(out, torch.pow(x.double(), exponent), 1)


@pytest.mark.parametrize("exponent", [2, 3])
def test_powers_of_complex_integers_are_integers(library: Library, exponent: int):
    parts = torch.arange(-30.0, 31, dtype=torch.float64)
    x = torch.complex(*torch.meshgrid(parts, parts, indexing="ij"))
    out = torch.zeros_like(x)
    library.call("aclnnPowTensorScalar", x, exponent, out)
    assert torch.equal(out, x * x if exponent == 2 else x * x * x)


@pytest.mark.parametrize(
    "name", [row[0] for row in ONE if not row[1]] + ["Sinc"] + [row[0] for row in TWO]
)
def test_bits_do_not_depend_on_the_position(library: Library, name: str):
    inputs = [torch.randn(257, generator=torch.Generator().manual_seed(seed)) for seed in range(2)]
    inputs = inputs[: 2 if name in dict(TWO) else 1]
    whole = run(library, name, *inputs)
    for first, last in ((0, 1), (1, 18), (250, 257), (33, 200)):
        part = run(library, name, *(x[first:last].clone() for x in inputs))
        assert torch.equal(part.view(torch.int32), whole[first:last].view(torch.int32))
