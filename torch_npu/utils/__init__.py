"""Tools for the device."""

from torch_npu.utils.combine_tensors import (
    get_part_combined_tensor,
    is_combined_tensor_valid,
    npu_combine_tensors,
)
from torch_npu.utils.explanation import Explanation, explain, synchronizations
from torch_npu.utils.packed_weights import packed_weights_bytes

__all__ = ["Explanation", "explain", "packed_weights_bytes", "synchronizations"]
