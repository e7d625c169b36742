"""Calls whose results on npu have other strides than the CPU's, each with the reason."""

from fuzz.draw import Drawn

# Operators, whatever the call.
OTHER_LAYOUTS: dict[str, str] = {}


def _converts(call: Drawn) -> bool:
    return call.is_pointwise and len({t.dtype for t in call.tensors}) > 1


def other_layout(operator: str, call: Drawn) -> str:
    """The reason why strides may differ for this call; empty if they must be the CPU's."""
    if _converts(call):
        return "operands of several types: the CPU orders a result by the copies that it converts, FakeTensor and npu do not"
    return OTHER_LAYOUTS.get(operator, "")
