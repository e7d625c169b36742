"""Checks of results against references, and of rejected calls."""

from typing import TypeVar

import pytest
import torch

from tests.aclnn.library import AclnnError, Library
from torch_npu import accuracy
from torch_npu.accuracy import Kind, Tolerance, tolerance_of
from torch_npu.accuracy.dtypes import epsilon, is_inexact

# CANN's error codes.
NULL, INVALID = 161001, 161002

_Value = TypeVar("_Value")


def widened(value: _Value) -> _Value:
    """Tensors, also in lists and tuples, in the widest type of their kind; other values unchanged."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value.to(torch.complex128)
        return value.double() if value.is_floating_point() else value
    if isinstance(value, list | tuple):
        return type(value)(map(widened, value))
    return value


def assert_same(got: torch.Tensor, want: torch.Tensor) -> None:
    """Bitwise equal except for the sign of zero; NaN equals NaN."""
    assert got.dtype == want.dtype
    accuracy.assert_close(got, want, Tolerance())


def assert_near(
    got: torch.Tensor, want: torch.Tensor, rtol: float, atol: float | torch.Tensor = 0
) -> None:
    """Integers and bool are equal; other types are within ``rtol`` of the result plus ``atol`` (a number or a
    tensor)."""
    accuracy.assert_close(got, want, Tolerance(rtol, atol), check_dtype=False)


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
    """A sum of ``terms`` products whose absolute values add up to ``magnitude``; numbers below the smallest normal one
    may be flushed to 0. Integers are equal."""
    if not is_inexact(got.dtype):
        assert torch.equal(got, exact.long().to(got.dtype))
        return
    tolerance = tolerance_of(
        Kind.PRODUCT, got.dtype, terms=terms, magnitude=magnitude, accumulated=added
    )
    flushed = Tolerance(absolute=torch.finfo(got.dtype).smallest_normal)
    accuracy.assert_close(got, exact, tolerance + flushed, check_dtype=False)


def refused(
    library: Library, name: str, *arguments: object, code: int = INVALID, message: str = ""
) -> str:
    """Calls an operator that must fail with ``code`` and a message that matches ``message``; returns the message."""
    with pytest.raises(AclnnError, match=message) as error:
        library.call(name, *arguments)
    assert error.value.code == code, str(error.value)
    return str(error.value)
