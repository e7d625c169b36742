"""Fused operators beside PyTorch's and CANN's: a convolution's block, and a filter of images.

They are also examples of one's own operators: a module over operators that exist (``fused_conv_bn_relu``), and a kernel
with its gradient (``sepia_filter_forward``, ``sepia_filter_backward``).
"""

from torch_npu.ops.conv import FusedConvBnRelu, fused_conv_bn_relu
from torch_npu.ops.image import sepia_filter_backward, sepia_filter_forward

__all__ = [
    "FusedConvBnRelu",
    "fused_conv_bn_relu",
    "sepia_filter_backward",
    "sepia_filter_forward",
]
