"""Calls whose results on npu have other strides than the CPU's, each with the reason."""

import torch

from fuzz.draw import Drawn

# Operators, whatever the call.
OTHER_LAYOUTS: dict[str, str] = {}


def _converts(call: Drawn) -> bool:
    return call.is_pointwise and len({t.dtype for t in call.tensors}) > 1


def other_layout(operator: str, call: Drawn) -> str:
    """The reason why strides may differ for this call; empty if they must be the CPU's."""
    if _converts(call):
        return "operands of several types: the CPU orders a result by the copies that it converts, FakeTensor and npu do not"
    if operator.startswith("convolution") and call.tensors[0].dtype == torch.float16:
        return "float16: the CPU's memory format depends on the instructions of the machine"
    return OTHER_LAYOUTS.get(operator, "")
