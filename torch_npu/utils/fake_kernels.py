"""Memory-free results of npu's operators that differ from PyTorch's, for ``torch.compile`` and ``torch.export``."""

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_impls import register_op_impl
from torch._subclasses.fake_tensor import FakeTensorMode

_COPIES = 8  # copies of each number of a row, as in aclnn's attention


def _fused_attention(
    _mode: FakeTensorMode,
    _operator: OpOverload,
    query: Tensor,
    key: Tensor,
    _value: Tensor,
    *_: object,
    **__: object,
) -> object:
    """The results of the kernel in torch_npu/csrc/aten/attention.cpp."""
    if query.device.type != "npu":
        return NotImplemented
    batch, heads, queries, channels = query.shape
    out = query.new_empty((batch, queries, heads, channels)).transpose(1, 2)
    rows = (batch, heads, queries, _COPIES)
    greatest, total = (query.new_empty(rows, dtype=torch.float32) for _ in range(2))
    return out, greatest, total, None, queries, key.shape[2], None, None, None


def register() -> None:
    """Registers the kernels with PyTorch's fake tensors, once."""
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
    register_op_impl(operator)(_fused_attention)
