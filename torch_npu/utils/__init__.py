"""Tools around the device."""

from torch_npu.utils.explanation import Explanation, explain, synchronizations

__all__ = ["Explanation", "explain", "synchronizations"]
