"""Where PyTorch's CPU device is wrong, or leaves a result open: a difference there is not npu's.

tests/judge/test_known_cpu_errors.py has the proof of each, on the CPU alone.
"""

from collections.abc import Callable

import torch

from fuzz.draw import Drawn
from fuzz.numbers import INTEGRAL


def _has_zero(x: object) -> bool:
    """Whether a divisor, or one of a list, is or has a zero."""
    if isinstance(x, list | tuple):
        return any(map(_has_zero, x))
    return bool((x == 0).any()) if isinstance(x, torch.Tensor) else x == 0


def _is_integral(call: Drawn) -> bool:
    return not any(t.is_floating_point() or t.is_complex() for t in call.tensors)


def _divides_by_zero(call: Drawn) -> bool:
    """Whether a division of integers has a divisor of 0."""
    divisor = call.args[1]
    return _is_integral(call) and not isinstance(divisor, float) and _has_zero(divisor)


def _divides_complex_by_zero(call: Drawn) -> bool:
    return any(t.is_complex() for t in call.tensors) and _has_zero(call.args[1])


def _div(call: Drawn) -> bool:
    return _divides_by_zero(call) or _divides_complex_by_zero(call)


def _scales_a_size_that_stays(call: Drawn) -> bool:
    scales = zip(call.args[1], call.args[2][2:], call.args[4:6], strict=True)
    return any(out == given and scale is not None for out, given, scale in scales)


def _has_least_number(call: Drawn) -> bool:
    return any(
        t.dtype in INTEGRAL and t.dtype.is_signed and bool((t == torch.iinfo(t.dtype).min).any())
        for t in call.tensors
    )


def _has_windows_of_nothing(call: Drawn) -> bool:
    numbers = [n for attribute in call.args[1:] for n in attribute]
    return call.args[0].size(0) == 0 and max(map(abs, numbers)) >= 2**31


def _is_double(call: Drawn) -> bool:
    return any(t.dtype == torch.float64 for t in call.tensors)


def _has_infinity(call: Drawn) -> bool:
    return bool(call.args[1].isposinf().any())


_DIVISION = (
    _divides_by_zero,
    "integer division by zero: the CPU raises ZeroDivisionError, a device answers without waiting",
)

_RESIZING = (
    _scales_a_size_that_stays,
    "antialiased resizing: the CPU's gradient scales a size that stays, which its forward pass leaves as it is",
)

# Operator -> (whether a call is such a one, why).
KNOWN: dict[str, tuple[Callable[[Drawn], bool], str]] = {
    "div": (_div, f"{_DIVISION[1]}; complex numbers as below"),
    "_foreach_div": (
        _divides_complex_by_zero,
        "complex division by -0.0: the CPU divides by 0.0",
    ),
    "_upsample_bilinear2d_aa_backward": _RESIZING,
    "_upsample_bicubic2d_aa_backward": _RESIZING,
    "sinc": (
        _is_integral,
        "sinc of an integer but 0 is 0: what the CPU has there is the error of pi",
    ),
    "fmod": _DIVISION,
    "remainder": _DIVISION,
    "floor_divide": _DIVISION,
    "hardsigmoid_backward": (
        _is_double,
        "hardsigmoid_backward: a sixth is a float32 number on the CPU, in float64, too",
    ),
    "gcd": (
        _has_least_number,
        "gcd of an integer type's least number: the CPU's is negative, for its magnitude is no number of the type",
    ),
    "im2col": (
        _has_windows_of_nothing,
        "im2col of no images: the CPU gives a tensor with a negative size",
    ),
    "mish_backward": (
        _has_infinity,
        "mish_backward: exp(inf) makes NaN on the CPU, where the limit is the gradient",
    ),
}


def known_cpu_error(operator: str, call: Drawn) -> str:
    """Why the CPU is wrong for this call, or nothing."""
    applies, why = KNOWN.get(operator, (None, ""))
    return why if applies is not None and applies(call) else ""
