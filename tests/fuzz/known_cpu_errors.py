"""Calls for which PyTorch's CPU device is wrong or the result is unspecified: a difference is not an error of npu.

tests/judge/test_known_cpu_errors.py has the proof of each, on the CPU alone.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import torch
from opinfo.cancelling import resize_step

from fuzz.draw import Drawn
from fuzz.numbers import INTEGRAL

DOUBLES = (torch.float64, torch.complex128)


def _has_zero(x: object) -> bool:
    """Whether a divisor, or one in a list of divisors, is or contains a zero."""
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


def _has_windows_behind(call: Drawn, sizes: Sequence[int], at: int) -> bool:
    """Whether antialiasing has a result whose window begins after the end of the input; argument ``at`` is
    align_corners."""
    reach = 2 if "bicubic" in call.name else 1
    align = call.args[at]
    for size, wanted, scale in zip(sizes, call.args[1], call.args[at + 1 : at + 3], strict=True):
        if size == wanted:
            continue
        step = resize_step(size, wanted, scale, align=align)
        if step * (wanted - 0.5) - reach * max(step, 1) + 0.5 >= size:
            return True
    return False


def _reads_behind(call: Drawn) -> bool:
    return _has_windows_behind(call, call.args[0].shape[2:], 2)


def _resizes_otherwise(call: Drawn) -> bool:
    return _scales_a_size_that_stays(call) or _has_windows_behind(call, call.args[2][2:], 3)


def _has_negative_sizes_of_nothing(call: Drawn) -> bool:
    return call.args[0].size(0) == 0 and min(call.args[1]) < 0


def _overflows_first(call: Drawn) -> bool:
    """Whether an integer becomes infinite in float16, the type of the other operands."""
    halves = any(t.dtype == torch.float16 for t in call.tensors)
    integers = [t for t in call.tensors if t.dtype in INTEGRAL and t.numel()]
    return halves and any(bool(t.half().isinf().any()) for t in integers)


def _has_huge_attributes_of_nothing(call: Drawn) -> bool:
    numbers = [n for attribute in call.args[1:] for n in attribute]
    return call.args[0].size(0) == 0 and max(map(abs, numbers)) >= 2**30


def _powers_out_of_range(call: Drawn) -> bool:
    """Whether a norm of single elements has powers that are infinite or 0 in the CPU's compute type."""
    x, order, dims, *_ = (*call.args, *(2, None)[max(0, len(call.args) - 1) :])
    sizes = x.shape if dims is None or len(dims) == 0 else [x.size(d) for d in dims if x.dim() > 0]
    if any(size != 1 for size in sizes) or not math.isfinite(order):
        return False
    exponents = x.abs().double().log().nan_to_num(0, 0, 0).mul(order).abs()
    return _exponent_overflows(exponents + 1, x.dtype)


def _quotient_overflows(call: Drawn) -> bool:
    """Whether a quotient of finite numbers is infinite."""
    x, y = (torch.as_tensor(t) for t in call.args[:2])
    if not (x.is_floating_point() or y.is_floating_point()):
        return False
    return bool(((x / y).isinf() & x.isfinite() & (y != 0)).any())


def _remainder(call: Drawn) -> bool:
    return _divides_by_zero(call) or _quotient_overflows(call)


def _exponent_overflows(x: torch.Tensor, dtype: torch.dtype) -> bool:
    most = torch.finfo(torch.float64 if dtype in DOUBLES else torch.float32).max
    return bool((x > math.log(most)).any())


def _differ_by_far(call: Drawn) -> bool:
    x, y = call.args[0], call.args[1]
    common = torch.promote_types(x.dtype, y.dtype)
    apart = x.to(common).real - y.to(common).real
    return common.is_complex and _exponent_overflows(apart.abs(), common)


def _slope_of_infinity(call: Drawn) -> bool:
    x, beta, threshold = call.args[1:4]
    curved = x.double() * beta
    return _overflows_first(call) or _exponent_overflows(curved[~(curved > threshold)], x.dtype)


def _is_infinite_below_its_threshold(call: Drawn) -> bool:
    x, beta, threshold = (*call.args, *(1, 20)[max(0, len(call.args) - 1) :])
    curved = x.double() * beta
    return _exponent_overflows(curved[~(curved > threshold)], x.dtype)


def _has_the_least_factor(call: Drawn) -> bool:
    alpha = call.kwargs.get("alpha", 1)
    return _is_integral(call) and alpha in (-(2**63), -(2**31), -(2**15), -(2**7))


def _has_equal_doubles_without_freedom(call: Drawn) -> bool:
    x, dims, *_ = (*call.args, None)
    dims = list(range(x.dim())) if dims is None or len(dims) == 0 else dims
    if x.dtype not in DOUBLES or not x.numel() or call.kwargs.get("correction") is None:
        return False
    count = math.prod(x.size(d) for d in dims if x.dim() > 0)
    parts = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x[..., None]
    spread = parts.amax(dims, True) - parts.amin(dims, True) if x.dim() > 0 else parts * 0
    return call.kwargs["correction"] >= count and bool((spread == 0).any())


def _has_a_variance_of_zero(call: Drawn) -> bool:
    variance, training, eps = call.args[4], call.args[5], call.args[7]
    return not training and variance is not None and bool((variance.double() + eps == 0).any())


def _has_huge_dilation(call: Drawn) -> bool:
    windows = zip(call.args[1].shape[2:], itertools.cycle(call.args[5]), strict=False)
    return any(dilation * (size - 1) >= 2**63 - 1 for size, dilation in windows)


def _is_nearly_infinite(call: Drawn) -> bool:
    return any(
        x.dtype == torch.float64 and bool(((x.abs() > 709.7) & (x.abs() < 710.48)).any())
        for x in call.tensors
    )


def _divides_by_integer_beta(call: Drawn) -> bool:
    return _is_integral(call) and int(call.args[4]) == 0


def _has_no_number(call: Drawn) -> bool:
    return any(isinstance(x, float) and math.isnan(x) for x in call.args)


def _has_infinite_factor(call: Drawn) -> bool:
    return math.isinf(call.kwargs.get("alpha", 1))


def _has_subnormal_exponentials(call: Drawn) -> bool:
    x = call.args[0]
    return x.dtype == torch.float64 and bool(((x < -700) & (x > -760)).any())


def _is_double(call: Drawn) -> bool:
    return any(t.dtype == torch.float64 for t in call.tensors)


def _has_infinity(call: Drawn) -> bool:
    return bool(call.args[1].isposinf().any())


_DIVISION = (
    _divides_by_zero,
    "integer division by zero: the CPU raises ZeroDivisionError, a device answers without waiting",
)

_NO_BOUND = (
    _has_no_number,
    "a bound that is no number: the CPU's vectors have 0, its single numbers the gradient",
)

_RESIZING = (
    _resizes_otherwise,
    "antialiased resizing: the CPU's gradient scales a size that stays, which its forward pass leaves as it is; "
    "memory behind the input as below",
)

_READING_BEHIND = (
    _reads_behind,
    "antialiased resizing: the CPU reads behind its input where a scale leads there",
)

_REMAINDER = (
    _remainder,
    f"{_DIVISION[1]}; a remainder whose quotient is infinite is no number in the CPU's vectors",
)

_NEARLY_INFINITE = (
    _is_nearly_infinite,
    "sinh and cosh of float64 next to the largest number: the CPU's vectors have infinity",
)

_NEGATIVE_POOLS = (
    _has_negative_sizes_of_nothing,
    "pooling of no images to a negative size: the CPU gives such a tensor",
)

_NEGATIVE_SIZES = (
    _has_huge_attributes_of_nothing,
    "windows and paddings of no images: the CPU gives a tensor with a negative size",
)

_LEAST_FACTOR = (
    _has_the_least_factor,
    "alpha is the least number of its type: the CPU negates it, and there is no such number",
)

_NO_FREEDOM = (
    _has_equal_doubles_without_freedom,
    "the variance of equal doubles is not 0 on the CPU: divided by 0 it is infinite",
)

_INFINITE_SCALE = (
    _has_a_variance_of_zero,
    "batch norm of a variance and eps of 0: the CPU scales an input and its mean by infinity before it subtracts",
)

# Operator -> (whether a call is affected, the reason).
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
    "fmod": _REMAINDER,
    "remainder": _REMAINDER,
    "rsub": _LEAST_FACTOR,
    "_foreach_sub": _LEAST_FACTOR,
    "std": _NO_FREEDOM,
    "var": _NO_FREEDOM,
    "std_mean": _NO_FREEDOM,
    "var_mean": _NO_FREEDOM,
    "native_batch_norm": _INFINITE_SCALE,
    "convolution": (
        _has_huge_dilation,
        "a window that is longer than numbers go: the CPU wraps its length, and computes something",
    ),
    "softplus": (
        _is_infinite_below_its_threshold,
        "softplus: exp(inf) makes infinity on the CPU, where the argument is the limit",
    ),
    "logaddexp": (
        _differ_by_far,
        "logaddexp of complex numbers that are far apart: an exponential overflows on the CPU",
    ),
    "softplus_backward": (
        _slope_of_infinity,
        "softplus_backward: exp(inf) makes NaN on the CPU, where the limit is the gradient; infinite integers as below",
    ),
    "gelu_backward": (
        _overflows_first,
        "an integer beyond float16: the CPU multiplies infinity by a slope that is 0 in float32",
    ),
    "_adaptive_avg_pool2d": _NEGATIVE_POOLS,
    "_adaptive_avg_pool3d": _NEGATIVE_POOLS,
    "sinh": _NEARLY_INFINITE,
    "cosh": _NEARLY_INFINITE,
    "_foreach_sinh": _NEARLY_INFINITE,
    "_foreach_cosh": _NEARLY_INFINITE,
    "smooth_l1_loss_backward": (
        _divides_by_integer_beta,
        "smooth_l1_loss_backward of integers: the CPU's vectors divide by a beta of 0, which ends the process",
    ),
    "hardshrink_backward": _NO_BOUND,
    "hardtanh_backward": _NO_BOUND,
    "softshrink_backward": _NO_BOUND,
    "addmm": (
        _has_infinite_factor,
        "addmm with an infinite alpha: the CPU multiplies each term by it, which may be infinities of both signs",
    ),
    "floor_divide": _DIVISION,
    "hardsigmoid_backward": (
        _is_double,
        "hardsigmoid_backward: a sixth is a float32 number on the CPU, in float64, too",
    ),
    "gcd": (
        _has_least_number,
        "gcd of an integer type's least number: the CPU's is negative, for its magnitude is no number of the type",
    ),
    "_upsample_bilinear2d_aa": _READING_BEHIND,
    "_upsample_bicubic2d_aa": _READING_BEHIND,
    "im2col": _NEGATIVE_SIZES,
    "reflection_pad2d": _NEGATIVE_SIZES,
    "linalg_vector_norm": (
        _powers_out_of_range,
        "the norm of one element is its magnitude: the CPU takes a root of a power that is infinite or 0",
    ),
    "mish": (
        _has_subnormal_exponentials,
        "mish of numbers below -708 in float64: an exponential that is subnormal has lost digits",
    ),
    "mish_backward": (
        _has_infinity,
        "mish_backward: exp(inf) makes NaN on the CPU, where the limit is the gradient",
    ),
}

# Operators whose CPU kernels read or write tensors with gaps as if they were dense; npu gives them dense copies
# (cpu_reads_dense and cpu_reads_dense_lists in the YAML). tests/schemas/test_strides.py finds and proves them.
IGNORES_STRIDES = {
    "_fused_adagrad_": "all lists are read and written as if they were dense",
    "_fused_adam_": "all lists are read and written as if they were dense",
    "_fused_adamw_": "all lists are read and written as if they were dense",
    "_fused_sgd_": "all lists are read and written as if they were dense",
    "_scaled_dot_product_flash_attention_for_cpu_backward": "its tensors are read as if they were the forward pass's",
    "adaptive_max_pool3d_backward": "gradients and indices are read as if they were dense",
    "native_group_norm": "weight and bias are read as if they were dense",
    "native_group_norm_backward": "all are read as if they were dense",
}


def known_cpu_error(operator: str, call: Drawn) -> str:
    """The reason why the CPU is wrong for this call; empty if it is not."""
    applies, why = KNOWN.get(operator, (None, ""))
    return why if applies is not None and applies(call) else ""
