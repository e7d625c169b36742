"""``flex_attention`` compiled for npu: the CPU's C++ template, which has no gradients."""

import operator
from collections.abc import Callable
from functools import wraps
from typing import NoReturn

import torch
from torch._inductor.ir import TensorBox
from torch._inductor.lowering import lowerings
from torch._inductor.virtualized import V


def _is_npu(tensor: TensorBox) -> bool:
    device = tensor.get_device()
    return device is not None and device.type == "npu"


def _refuse() -> NoReturn:
    raise NotImplementedError(
        "flex_attention compiled for npu has no gradients, no return_lse and no return_aux: call it uncompiled, or "
        "without tensors that require gradients, those that score_mod captures included"
    )


def _has_sums(node: torch.fx.Node) -> bool:
    """Whether the program or its backward reads more than the attention: logarithms of sums, or largest scores."""
    return any(
        user.target is not operator.getitem or (user.args[1] != 0 and bool(user.users))
        for user in node.users
    )


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
        given = (query, key, value, subgraph, block_mask, scale)
        if not _is_npu(query):
            return lower(*given, kernel_options, *buffers)
        # Backward needs the sums of every call that has gradients, whichever tensor they are for; PyTorch asks for
        # them wherever gradients are enabled.
        if _has_sums(V.graph.current_node):
            _refuse()
        from torch._inductor.kernel.flex.flex_cpu import lower_cpu

        return lower_cpu(*given, {**kernel_options, "OUTPUT_LOGSUMEXP": False}, *buffers)

    return lower_forward


def _backward(lower: Callable[..., object]) -> Callable[..., object]:
    @wraps(lower)
    def lower_backward(query: TensorBox, *rest: object) -> object:
        if _is_npu(query):
            _refuse()
        return lower(query, *rest)

    return lower_backward


def lower_to_cpp() -> None:
    """Lowers ``flex_attention`` of npu tensors to the C++ template, and refuses its gradients; once."""
    operators = torch.ops.higher_order
    for op, wrap in (
        (operators.flex_attention, _forward),
        (operators.flex_attention_backward, _backward),
    ):
        if op in lowerings:
            lowerings[op] = wrap(lowerings[op])
