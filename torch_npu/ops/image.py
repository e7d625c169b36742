"""Image filters."""

import torch
from torch import Tensor


def sepia_filter_forward(input: Tensor) -> Tensor:
    """The sepia filter, in one pass over the image.

    ``R' = 0.393 R + 0.769 G + 0.189 B``, ``G' = 0.349 R + 0.686 G + 0.168 B``, ``B' = 0.272 R + 0.534 G + 0.131 B``,
    not clamped.

    Args:
        input: npu tensor ``[..., channels, height, width]`` of a floating-point dtype, with any strides. One channel
            is used for all three colors, 3 are red, green and blue.

    Returns:
        ``[..., 3, height, width]`` of the dtype of ``input``; differentiable.

    Raises:
        RuntimeError: ``input`` has another shape or dtype, or the bound CANN does not have the operator.
    """
    return torch.ops.npu.sepia_filter_forward(input)


def sepia_filter_backward(grad_output: Tensor, input: Tensor) -> Tensor:
    """The gradient of :func:`sepia_filter_forward`.

    Args:
        grad_output: ``[..., 3, height, width]``, of its result.
        input: the image; only its shape and dtype are used.

    Returns:
        A tensor like ``input``.

    Raises:
        RuntimeError: shapes or dtypes do not match.
    """
    return torch.ops.npu.sepia_filter_backward(grad_output, input)
