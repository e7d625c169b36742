"""Calls whose results on npu have other strides than the CPU's, each with the reason."""

import torch
from opinfo import layouts

from fuzz.draw import Drawn

_CONVERTED = (
    "operands that are converted: the CPU orders a result by the copies, FakeTensor and npu do not"
)

_SMALL = "convolution: the CPU's library, which chooses the memory format, leaves one image to plain loops where it is transposed"
# Elementwise operators without PyTorch's tag.
_UNTAGGED = {
    "elu_backward",
    "hardsigmoid_backward",
    "hardshrink_backward",
    "hardswish_backward",
    "hardtanh_backward",
    "leaky_relu_backward",
    "mish_backward",
    "rsub",
    "softplus_backward",
    "softshrink_backward",
}


def _gives_floats(call: Drawn, results: list) -> bool:
    return not any(t.is_floating_point() or t.is_complex() for t in call.tensors) and any(
        isinstance(t, torch.Tensor) and t.is_floating_point() for t in results
    )


def _converts(call: Drawn, results: list) -> bool:
    types = {t.dtype for t in call.tensors}
    is_pointwise = call.is_pointwise or call.name.split(".")[1] in _UNTAGGED
    return is_pointwise and (len(types) > 1 or _gives_floats(call, results))


def _takes_plain_loops(call: Drawn) -> bool:
    """Whether the CPU computes a transposed convolution's gradients without its library (use_mkldnn in ATen's Convolution.cpp)."""
    given, weight = call.tensors[1:3]
    return (
        call.argument("transposed")
        and call.argument("groups") == 1
        and given.shape[0] == 1
        and given.numel() <= 20480
        and min(weight.shape[-2:]) <= 3
    )


def other_layout(operator: str, call: Drawn, results: list) -> str:
    """The reason why strides may differ for this call, whose results on the CPU are given; empty if they may not."""
    if _converts(call, results):
        return _CONVERTED
    if operator == "convolution_backward" and _takes_plain_loops(call):
        return _SMALL
    return layouts.other_layout(operator, call.tensors[0].dtype)
