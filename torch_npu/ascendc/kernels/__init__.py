"""Kernels in Ascend C that come with the package, compiled; their sources are in the folders beside this file.

>>> from torch_npu.ascendc.kernels import rms_norm
>>> y = rms_norm(x, weight, epsilon=1e-6)
"""

from torch_npu.ascendc.kernels.add import add
from torch_npu.ascendc.kernels.attention import attention
from torch_npu.ascendc.kernels.grouped_matmul import grouped_matmul
from torch_npu.ascendc.kernels.linear import linear
from torch_npu.ascendc.kernels.rms_norm import rms_norm
from torch_npu.ascendc.kernels.rope import rope
from torch_npu.ascendc.kernels.sepia import sepia
from torch_npu.ascendc.kernels.softmax import softmax
from torch_npu.ascendc.kernels.swiglu import swiglu

__all__ = [
    "add",
    "attention",
    "grouped_matmul",
    "linear",
    "rms_norm",
    "rope",
    "sepia",
    "softmax",
    "swiglu",
]
