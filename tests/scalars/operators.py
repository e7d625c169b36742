"""Calls of every operator of npu_native_functions.yaml that takes a number: name -> call(x, number)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

ATEN = torch.ops.aten
Call = Callable[[torch.Tensor, object], object]

# The number may also be a tensor without dimensions.
OPERANDS: dict[str, Call] = {
    **{
        name: lambda x, s, name=name: getattr(torch, name)(x, s)
        for name in (
            "add", "sub", "rsub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "eq", "ne", "lt", "le", "gt",
            "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "xlogy",
            "float_power",
        )
    },
    **{
        f"{name}_": lambda x, s, name=name: getattr(x.clone(), f"{name}_")(s)
        for name in ("add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "lt")
    },
    "div-trunc": lambda x, s: torch.div(x, s, rounding_mode="trunc"),
    "div-floor": lambda x, s: torch.div(x, s, rounding_mode="floor"),
    "add-left": lambda x, s: s + x,
    "sub-left": lambda x, s: s - x,
    "mul-left": lambda x, s: torch.mul(s if torch.is_tensor(s) else torch.tensor(s), x),
    "div-left": lambda x, s: s / x,
    "pow-left": lambda x, s: torch.pow(s, x),
    "lt-left": lambda x, s: torch.lt(s if torch.is_tensor(s) else torch.tensor(s), x),
    "remainder-left": lambda x, s: torch.remainder(s, x),
    "xlogy-left": lambda x, s: torch.xlogy(s, x),
    "where": lambda x, s: torch.where(x == 1, x, s),
    "where-left": lambda x, s: torch.where(x == 1, s, x),
    "masked_fill": lambda x, s: x.masked_fill(x == 1, s),
    "index_fill": lambda x, s: x.index_fill(0, _half(x), s),
    "isin": torch.isin,
    "setitem": lambda x, s: _set(x, s),
}  # fmt: skip

# Tensors without dimensions beside another tensor, with their own type promotion.
TENSORS: dict[str, Call] = {
    name: lambda x, s, name=name: getattr(torch, name)(x, s)
    for name in (
        "maximum", "minimum", "atan2", "gcd", "logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2",
        "clamp_min", "clamp_max",
    )
}  # fmt: skip

# Attributes, which are host numbers.
ATTRIBUTES: dict[str, Call] = {
    "add-alpha": lambda x, s: torch.add(x, x, alpha=s),
    "sub-alpha": lambda x, s: torch.sub(x, x, alpha=s),
    "rsub-alpha": lambda x, s: torch.rsub(x, x, alpha=s),
    "add-number-alpha": lambda x, s: torch.add(x, 3, alpha=s),
    "fill_": lambda x, s: x.clone().fill_(s),
    "full": lambda x, s: torch.full((40,), s, dtype=x.dtype, device=x.device),
    "constant_pad_nd": lambda x, s: F.pad(x, (2, 3), value=s),
    "scatter.value": lambda x, s: x.scatter(0, _half(x), s),
    "scatter.value_reduce": lambda x, s: x.scatter(0, _half(x), s, reduce="add"),
    "index_add": lambda x, s: x.index_add(0, _half(x), x[: len(x) // 2], alpha=s),
    "clamp": lambda x, s: torch.clamp(x, s, 2),
    "clamp.min": lambda x, s: torch.clamp_min(x, s),
    "clamp.max": lambda x, s: torch.clamp_max(x, s),
    "hardshrink": lambda x, s: F.hardshrink(x, s),
    "softshrink": lambda x, s: F.softshrink(x, s),
    "threshold": lambda x, s: F.threshold(x, s, 3),
    "threshold-value": lambda x, s: F.threshold(x, 1, s),
    "leaky_relu": lambda x, s: F.leaky_relu(x, s),
    "hardtanh": lambda x, s: F.hardtanh(x, -abs(s), abs(s)),
    "elu": lambda x, s: F.elu(x, s),
    "celu": lambda x, s: F.celu(x, s),
    "softplus": lambda x, s: F.softplus(x, s),
    "softplus-threshold": lambda x, s: F.softplus(x, 1, s),
    "lerp": lambda x, s: torch.lerp(x, x, s),
    "addcmul": lambda x, s: torch.addcmul(x, x, x, value=s),
    "addcdiv": lambda x, s: torch.addcdiv(x, x, x, value=s),
    "nan_to_num": lambda x, s: torch.nan_to_num(x, s, s, s),
    "threshold_backward": lambda x, s: ATEN.threshold_backward(x, x, s),
    "hardtanh_backward": lambda x, s: ATEN.hardtanh_backward(x, x, -3, s),
    "leaky_relu_backward": lambda x, s: ATEN.leaky_relu_backward(x, x, s, False),
    "hardshrink_backward": lambda x, s: ATEN.hardshrink_backward(x, x, s),
    "softshrink_backward": lambda x, s: ATEN.softshrink_backward(x, x, s),
    "elu_backward": lambda x, s: ATEN.elu_backward(x, s, 1, 1, False, x),
    "softplus_backward": lambda x, s: ATEN.softplus_backward(torch.ones_like(x), x, s, 20),
    "_foreach_add": lambda x, s: torch._foreach_add([x, x], s),
    "_foreach_sub": lambda x, s: torch._foreach_sub([x, x], s),
    "_foreach_mul": lambda x, s: torch._foreach_mul([x, x], s),
    "_foreach_div": lambda x, s: torch._foreach_div([x, x], s),
    "_foreach_maximum": lambda x, s: torch._foreach_maximum([x, x], s),
    "_foreach_minimum": lambda x, s: torch._foreach_minimum([x, x], s),
    "_foreach_clamp_min": lambda x, s: torch._foreach_clamp_min([x, x], s),
    "_foreach_clamp_max": lambda x, s: torch._foreach_clamp_max([x, x], s),
    "_foreach_pow": lambda x, s: torch._foreach_pow([x, x], s),
    "_foreach_lerp": lambda x, s: torch._foreach_lerp([x, x], [x, x], s),
    "_foreach_addcmul": lambda x, s: torch._foreach_addcmul([x, x], [x, x], [x, x], s),
    "_foreach_addcdiv": lambda x, s: torch._foreach_addcdiv([x, x], [x, x], [x, x], s),
    "_foreach_add-alpha": lambda x, s: torch._foreach_add([x, x], [x, x], alpha=s),
    "_foreach_add-list": lambda x, s: torch._foreach_add([x, x], [s, s]),
}

# More than one rounding, or a function that two libraries round differently.
INEXACT = {
    "pow", "pow_", "pow-left", "xlogy", "xlogy-left", "float_power", "atan2", "logaddexp", "logaddexp2", "elu", "celu",
    "softplus", "softplus-threshold", "elu_backward", "softplus_backward", "addcmul", "addcdiv", "lerp", "_foreach_pow",
    "_foreach_lerp", "_foreach_addcmul", "_foreach_addcdiv", "add-alpha", "sub-alpha", "rsub-alpha", "add-number-alpha",
    "_foreach_add-alpha", "index_add",
}  # fmt: skip


def _half(x: torch.Tensor) -> torch.Tensor:
    """Every second element."""
    return torch.arange(0, len(x) // 2 * 2, 2, device=x.device)


def _set(x: torch.Tensor, s: object) -> torch.Tensor:
    y = x.clone()
    y[::2] = s
    return y
