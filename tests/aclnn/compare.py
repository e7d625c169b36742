"""Tolerances of results, as formulas of rounding steps, and checks of rejected calls."""

from typing import TypeVar

import pytest
import torch

from tests.aclnn.library import AclnnError, Library

# CANN's error codes.
NULL, INVALID = 161001, 161002

_Value = TypeVar("_Value")
_HALF = (torch.float16, torch.bfloat16)


def _inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def epsilon(dtype: torch.dtype) -> float:
    """The epsilon of a floating-point or complex type; 0 for integers."""
    return torch.finfo(dtype).eps if _inexact(dtype) else 0.0


def computed(dtype: torch.dtype) -> float:
    """The epsilon of the compute type of ``dtype``: float32 for half types."""
    return epsilon(torch.float32 if dtype in _HALF else dtype)


def wide(value: _Value) -> _Value:
    """Tensors, also in lists and tuples, in the widest type of their kind; other values unchanged."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value.to(torch.complex128)
        return value.double() if value.is_floating_point() else value
    if isinstance(value, list | tuple):
        return type(value)(map(wide, value))
    return value


def assert_same(got: torch.Tensor, want: torch.Tensor) -> None:
    """Bitwise equal except for the sign of zero; NaN equals NaN."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def assert_near(
    got: torch.Tensor, want: torch.Tensor, rtol: float, atol: float | torch.Tensor = 0
) -> None:
    """Integers and bool are equal; other types are within ``rtol`` of the result plus ``atol`` (a number or a
    tensor)."""
    assert got.shape == want.shape
    want = want.detach()
    if not _inexact(got.dtype):
        assert torch.equal(got, want.to(got.dtype))
        return
    rounded = wide(want.to(got.dtype))  # rounded like the best result: infinities compare equal
    got, want = wide(got), want.to(rounded.dtype)
    same = (got == rounded) | ((got != got) & (want != want))
    near = same | ((got - want).abs() <= rtol * want.abs() + atol)
    assert near.all(), f"off by {(got - want).abs()[~near].max()} at {int((~near).sum())} places"


def assert_within(got: torch.Tensor, want: torch.Tensor, factor: float = 4) -> None:
    """The error is below ``factor`` times the epsilon of the result's dtype, relative to the value and to 1."""
    tolerance = factor * epsilon(got.dtype)
    assert_near(got, want, tolerance, tolerance)


def assert_sum(
    got: torch.Tensor,
    exact: torch.Tensor,
    magnitude: torch.Tensor,
    terms: int,
    added: torch.dtype | None = None,
) -> None:
    """A sum of ``terms`` products whose absolute values add up to ``magnitude``: the error is at most one epsilon of
    the type in which it is ``added`` (float32 for half types) per addition, and one rounding to its own type.
    Integers are equal."""
    if not _inexact(got.dtype):
        assert torch.equal(got, exact.long().to(got.dtype))
        return
    step = computed(got.dtype) if added is None else epsilon(added)
    factor = 4 if got.dtype.is_complex else 1
    atol = factor * (terms + 4) * step * magnitude.double() + torch.finfo(got.dtype).smallest_normal
    assert_near(got, exact, epsilon(got.dtype), atol)


def refused(
    library: Library, name: str, *arguments: object, code: int = INVALID, said: str = ""
) -> str:
    """Calls an operator that must fail with ``code`` and a message that matches ``said``; returns the message."""
    with pytest.raises(AclnnError, match=said) as error:
        library.call(name, *arguments)
    assert error.value.code == code, str(error.value)
    return str(error.value)
