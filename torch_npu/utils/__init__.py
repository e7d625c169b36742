"""Tools for the device."""

from torch_npu.utils.batch_size import find_optimal_batch_size
from torch_npu.utils.explanation import Explanation, explain, synchronizations
from torch_npu.utils.packed_weights import packed_weights_bytes

__all__ = [
    "Explanation",
    "explain",
    "find_optimal_batch_size",
    "packed_weights_bytes",
    "synchronizations",
]
