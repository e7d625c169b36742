"""Whether npu's results have the CPU's strides and take no more memory."""

from typing import NamedTuple

import torch
from torch.utils._pytree import tree_leaves

# The allocator's unit of memory in bytes.
BLOCK = 512

# Operators and OpInfos whose strides on npu are others than the CPU's, each with the reason.
OTHER_LAYOUTS = {
    "nn.functional.scaled_dot_product_attention": "the fused kernel's result is [batch, queries, heads, size] in memory, as"
    " FakeTensor has it on npu; the CPU computes small sizes by other operators",
    "renorm": "the gradient is a difference of float32 and float64: the CPU orders it by the copy that it converts,"
    " FakeTensor and npu by the operands",
}

# The beginnings of convolutions' names.
_CONVOLUTIONS = ("nn.functional.conv", "nn.functional.conv_transpose", "convolution")


def other_layout(name: str, dtype: torch.dtype) -> str:
    """Why strides on npu may differ from the CPU's; empty if they may not."""
    if dtype != torch.float32 and name.startswith(_CONVOLUTIONS):
        return "the CPU's library, which chooses the memory format, serves some types only"
    if dtype == torch.float64 and name == "nn.functional.rms_norm":
        return "the CPU composes it of other operators for float64"
    return OTHER_LAYOUTS.get(name, "")


class Layout(NamedTuple):
    """Where a tensor's elements are in its storage, whose size is in bytes."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    nbytes: int


def layout_of(t: torch.Tensor) -> Layout:
    """The layout of a strided tensor."""
    return Layout(tuple(t.shape), tuple(t.stride()), t.untyped_storage().nbytes())


def significant(layout: Layout) -> tuple[int, ...]:
    """The strides that determine where an element is; strides of one element, or of none, determine nothing."""
    if 0 in layout.sizes:
        return ()
    return tuple(s for n, s in zip(layout.sizes, layout.strides, strict=True) if n > 1)


def layout_problem(expected: Layout, actual: Layout) -> str:
    """What is wrong with npu's layout, if the CPU's is ``expected``; empty if it is right."""
    if significant(expected) != significant(actual):
        return f"strides {actual.strides} of {actual.sizes}, not {expected.strides}"
    most = -(-expected.nbytes // BLOCK) * BLOCK
    if actual.nbytes > most:
        return f"a storage of {actual.nbytes} bytes, not of at most {most}"
    return ""


def _is_strided(t: object) -> bool:
    return isinstance(t, torch.Tensor) and t.layout == torch.strided and not t._is_zerotensor()


def layout_problems(expected: object, actual: object) -> list[str]:
    """`layout_problem` of each strided tensor of two trees of the same form, with its number."""
    pairs = zip(tree_leaves(expected), tree_leaves(actual), strict=True)
    return [
        f"result {number} has {text}"
        for number, (e, a) in enumerate(pairs)
        if _is_strided(e)
        and _is_strided(a)
        and (text := layout_problem(layout_of(e), layout_of(a)))
    ]
