"""``flex_attention`` compiled for npu: the CPU's C++ template, which has no gradients."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch._inductor.lowering import lowerings


def _forward(lower: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(lower)
    def lower_forward(
        query: Any, key: Any, value: Any, subgraph: Any, block_mask: Any, scale: Any,
        kernel_options: dict[str, Any], *buffers: Any,
    ) -> Any:  # fmt: skip
        given = (query, key, value, subgraph, block_mask, scale, kernel_options, *buffers)
        if query.get_device().type != "npu":
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
