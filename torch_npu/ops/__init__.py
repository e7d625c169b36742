"""Fused operators in addition to PyTorch's and CANN's: a convolution block, and an image filter.

They are also examples of custom operators: a module of existing operators (``fused_conv_bn_relu``), and a kernel with
its gradient (``sepia_filter_forward``, ``sepia_filter_backward``).
"""

from torch_npu.ops.conv import FusedConvBnRelu, fused_conv_bn_relu
from torch_npu.ops.image import sepia_filter_backward, sepia_filter_forward

__all__ = [
    "FusedConvBnRelu",
    "fused_conv_bn_relu",
    "sepia_filter_backward",
    "sepia_filter_forward",
]
