"""Tools for the device."""

from torch_npu.utils.affinity import reset_thread_affinity, set_thread_affinity
from torch_npu.utils.asd_detector import register_asd_hook, set_asd_loss_scale
from torch_npu.utils.batch_size import find_optimal_batch_size
from torch_npu.utils.combine_tensors import (
    get_part_combined_tensor,
    is_combined_tensor_valid,
    npu_combine_tensors,
)
from torch_npu.utils.explanation import Explanation, Tuned, explain, synchronizations
from torch_npu.utils.flops_count import FlopsCounter
from torch_npu.utils.packed_weights import packed_weights_bytes
from torch_npu.utils.serialization import save_async
from torch_npu.utils.versions import get_cann_version

__all__ = [
    "Explanation",
    "FlopsCounter",
    "Tuned",
    "explain",
    "find_optimal_batch_size",
    "get_cann_version",
    "get_part_combined_tensor",
    "is_combined_tensor_valid",
    "npu_combine_tensors",
    "packed_weights_bytes",
    "register_asd_hook",
    "reset_thread_affinity",
    "save_async",
    "set_asd_loss_scale",
    "set_thread_affinity",
    "synchronizations",
]
