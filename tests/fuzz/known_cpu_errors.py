"""Where PyTorch's CPU device is wrong, or leaves a result open: a difference there is not npu's.

tests/judge/test_known_cpu_errors.py has the proof of each, on the CPU alone.
"""

from collections.abc import Callable

import torch

from fuzz.draw import Drawn


def _divides_by_zero(call: Drawn) -> bool:
    """Whether a division of integers has a divisor of 0."""
    divisor = call.args[1]
    if isinstance(divisor, torch.Tensor):
        return not divisor.is_floating_point() and bool((divisor == 0).any())
    return divisor == 0


def _is_double(call: Drawn) -> bool:
    return any(t.dtype == torch.float64 for t in call.tensors)


def _has_infinity(call: Drawn) -> bool:
    return bool(call.args[1].isposinf().any())


_DIVISION = (
    _divides_by_zero,
    "integer division by zero: the CPU raises ZeroDivisionError, a device answers without waiting",
)

# Operator -> (whether a call is such a one, why).
KNOWN: dict[str, tuple[Callable[[Drawn], bool], str]] = {
    "div": _DIVISION,
    "fmod": _DIVISION,
    "remainder": _DIVISION,
    "floor_divide": _DIVISION,
    "hardsigmoid_backward": (
        _is_double,
        "hardsigmoid_backward: a sixth is a float32 number on the CPU, in float64, too",
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
