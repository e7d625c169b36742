"""The rule for one element: equal, or finite and within its bound."""

import torch

from torch_npu.accuracy.dtypes import epsilon, widened

# Types without a comparison of their own, and wider ones that hold their numbers.
_COMPARED_AS = {
    torch.complex32: torch.complex64,
    torch.uint16: torch.int64,
    torch.uint32: torch.int64,
}


def _comparable(t: torch.Tensor) -> torch.Tensor:
    if t.dtype.is_floating_point and t.dtype.itemsize == 1:
        return t.to(torch.float32)
    if t.dtype == torch.uint64:
        return t.view(torch.int64)
    return t.to(_COMPARED_AS.get(t.dtype, t.dtype))


def equal_elements(
    expected: torch.Tensor,
    actual: torch.Tensor,
    *,
    equal_nan: bool = True,
    signed_zeros: bool = False,
) -> torch.Tensor:
    """Where two tensors of one shape and dtype have the same numbers, as bool.

    Args:
        expected: any dtype, on the CPU.
        actual: the same dtype and shape.
        equal_nan: NaN equals NaN.
        signed_zeros: 0.0 differs from -0.0; for real numbers.
    """
    expected, actual = _comparable(expected), _comparable(actual)
    same = expected == actual
    if not epsilon(expected.dtype):
        return same
    if signed_zeros and not expected.is_complex():
        same &= (expected != 0) | (expected.signbit() == actual.signbit())
    return same | ((expected != expected) & (actual != actual)) if equal_nan else same


def within(
    expected: torch.Tensor, actual: torch.Tensor, bound: torch.Tensor | float
) -> torch.Tensor:
    """Where two numbers are finite and differ by ``bound`` at most, as bool.

    Args:
        expected: floating-point or complex, on the CPU; float64 and complex128 are not rounded.
        actual: of the same shape.
        bound: the allowed absolute difference, a number or a tensor that broadcasts to the shape.
    """
    e, a = widened(expected), widened(actual)
    return ((a - e).abs() <= bound) & e.isfinite() & a.isfinite()
