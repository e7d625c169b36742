"""Memory-free results of npu's operators that differ from PyTorch's, for ``torch.compile`` and ``torch.export``."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._prims_common import suggest_memory_format
from torch._subclasses.fake_impls import op_implementations_dict, register_op_impl
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
    largest, total = (query.new_empty(rows, dtype=torch.float32) for _ in range(2))
    return out, largest, total, None, queries, key.shape[2], None, None, None


def _as_image(tensor: Tensor) -> Tensor:
    """A signal, [batch, channels, length], as an image of one row; an image or a volume as it is."""
    return tensor.unsqueeze(2) if tensor.dim() == 3 else tensor


def _image_format(image: Tensor, weight: Tensor) -> torch.memory_format:
    """The memory format of a convolution's results, as torch_npu/csrc/aten/aclnn/rules.h has it."""
    formats = {suggest_memory_format(_as_image(t)) for t in (image, weight)}
    for wanted in (torch.channels_last, torch.channels_last_3d):
        if wanted in formats and image.dtype != torch.float64:
            return wanted
    return torch.contiguous_format


def _convolution(general: Callable, first: int) -> Callable:
    """PyTorch's kernel with npu's memory format. ``first``: the place of the image, before the weight."""

    @wraps(general)
    def convolve(
        mode: FakeTensorMode, operator: OpOverload, *args: object, **kwargs: object
    ) -> object:
        results = general(mode, operator, *args, **kwargs)
        image, weight = (
            kwargs.get(name, args[location] if location < len(args) else None)
            for location, name in enumerate(("input", "weight"), first)
        )
        if (
            image.device.type != "npu"
            or image.dim() not in (3, 4, 5)
            or weight.dim() != image.dim()
        ):
            return results
        wanted = _image_format(image, weight)

        def laid_out(result: Tensor | None) -> Tensor | None:
            if result is None or result.dim() < 3:
                return result
            copied = _as_image(result).contiguous(memory_format=wanted)
            return copied.squeeze(2) if result.dim() == 3 else copied

        return tuple(map(laid_out, results)) if isinstance(results, tuple) else laid_out(results)

    return convolve


def register() -> None:
    """Registers the kernels with PyTorch's fake tensors, once."""
    aten = torch.ops.aten
    for convolution, first in (
        (aten.convolution.default, 0),
        (aten._convolution.default, 0),
        (aten._convolution.deprecated, 0),
        (aten.convolution_backward.default, 1),
    ):
        general = op_implementations_dict[convolution]
        op_implementations_dict[convolution] = _convolution(general, first)
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
    register_op_impl(operator)(_fused_attention)
