"""Where PyTorch's CPU device is wrong, or leaves a result open, each with its proof: a difference there is not npu's."""

from collections.abc import Callable

import torch

from fuzz.draw import Drawn


def _is_out_of_range(call: Drawn) -> bool:
    _, indices, rows, padding, _ = call.args
    used = indices[indices != padding]
    return bool(((used < 0) | (used >= rows)).any())


def _divides_by_zero(call: Drawn) -> bool:
    """Whether an integer division has a divisor of 0."""
    divisor = call.args[1]
    if isinstance(divisor, torch.Tensor):
        return not divisor.is_floating_point() and bool((divisor == 0).any())
    return divisor == 0


def _overflows(call: Drawn) -> bool:
    return any(
        bool((t.abs() > 80).any())
        for t in call.args
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    )


_DIVISION = (
    _divides_by_zero,
    "integer division by zero: the CPU raises ZeroDivisionError, a device answers without waiting",
)

# Operator -> (whether a call is such a one, why).
KNOWN: dict[str, tuple[Callable[[Drawn], bool], str]] = {
    "embedding_dense_backward": (
        _is_out_of_range,
        "an index out of range: the CPU leaves it out without a word, npu refuses it",
    ),
    "div": _DIVISION,
    "fmod": _DIVISION,
    "remainder": _DIVISION,
    "floor_divide": _DIVISION,
    "hardsigmoid_backward": (
        lambda call: call.args[1].dtype == torch.float64,
        "a sixth is a float32 number on the CPU, whatever the type",
    ),
    "hardswish_backward": (
        lambda call: bool(call.args[1].isnan().any()),
        "NaN takes the last branch in the CPU's scalar loop and stays NaN in its vector loop",
    ),
    "sinc": (
        lambda call: not call.args[0].is_floating_point(),
        "the sine of a multiple of pi: what is left of it is the error of pi",
    ),
    "_foreach_norm": (
        lambda call: len(call.args) > 1 and not 0.5 <= abs(call.args[1]) <= 16,
        "a power of so large or small an order overflows; the CPU takes single elements as they are",
    ),
    "mish_backward": (
        _overflows,
        "exp overflows: the CPU gives NaN where the limit is the gradient or 0",
    ),
    "log_sigmoid_backward": (
        lambda _: True,
        "its buffer holds exp(-|x|) on the CPU alone: with another number in it the CPU's result means nothing",
    ),
}


def known_cpu_error(operator: str, call: Drawn) -> str:
    """Why the CPU is wrong for this call, or nothing."""
    applies, why = KNOWN.get(operator, (None, ""))
    return why if applies is not None and applies(call) else ""
