"""Collectives of npu tensors: the backend ``hccl`` of :mod:`torch.distributed`, and what it has beyond PyTorch's.

``torch.distributed.init_process_group("hccl")`` needs nothing of this module: importing torch registers the backend.
"""

import importlib

from torch_npu._core import state
from torch_npu.distributed import nn
from torch_npu.distributed.distributed_c10d import (
    all_gather_into_tensor_uneven,
    all_to_all_vc,
    is_hccl_available,
    reduce_scatter_tensor_uneven,
    reinit_process_group,
)

__all__ = [
    "all_gather_into_tensor_uneven",
    "all_to_all_vc",
    "fsdp",
    "is_hccl_available",
    "nn",
    "reduce_scatter_tensor_uneven",
    "reinit_process_group",
]


def is_available() -> bool:
    """Whether this build of ``torch_npu`` has collectives."""
    return state.is_loaded() and hasattr(state.native(), "_c10d_npu_init")


def __getattr__(name: str) -> object:
    if name == "fsdp":  # PyTorch's needs a second to import
        return importlib.import_module("torch_npu.distributed.fsdp")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
