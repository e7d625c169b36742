"""Which results of npu may have other strides than the CPU's."""

import torch

# Operators and OpInfos whose strides on npu are others than the CPU's, each with the reason.
OTHER_LAYOUTS = {
    "nn.functional.scaled_dot_product_attention": "the fused kernel's result is [batch, queries, heads, size] in memory, as"
    " FakeTensor has it on npu; the CPU computes small sizes by other operators",
    "nn.functional.pixel_shuffle": "the CPU's kernel keeps channels last; PyTorch's composition for other devices, and"
    " its rule without memory, are contiguous",
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
