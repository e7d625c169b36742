"""``flex_attention`` compiled for npu: the CPU's C++ template, which has no gradients."""

from collections.abc import Callable
from functools import wraps

import torch
from torch._inductor.ir import TensorBox
from torch._inductor.lowering import lowerings


def _forward(lower: Callable[..., object]) -> Callable[..., object]:
    @wraps(lower)
    def lower_forward(
        query: TensorBox,
        key: TensorBox,
        value: TensorBox,
        subgraph: object,
        block_mask: object,
        scale: object,
        kernel_options: dict[str, object],
        *buffers: object,
    ) -> object:
        given = (query, key, value, subgraph, block_mask, scale, kernel_options, *buffers)
        device = query.get_device()
        if device is None or device.type != "npu":
            return lower(*given)
        if kernel_options["OUTPUT_LOGSUMEXP"]:
            raise NotImplementedError(
                "flex_attention compiled for npu has no gradients and no return_lse: call it uncompiled, or without "
                "tensors that require gradients"
            )
        from torch._inductor.kernel.flex.flex_cpu import lower_cpu

        return lower_cpu(*given)

    return lower_forward


def lower_to_cpp() -> None:
    """Lowers ``flex_attention`` of npu tensors to the C++ template, once."""
    operator = torch.ops.higher_order.flex_attention
    if operator in lowerings:
        lowerings[operator] = _forward(lowerings[operator])
