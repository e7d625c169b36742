"""What the current device has allocated, once nothing is left to free."""

import gc

import torch


def settled() -> int:
    """Bytes allocated on the current device after garbage, finished work and shared memory that nobody reads are gone.

    Cycles that an earlier test left behind would otherwise be collected between two readings.
    """
    gc.collect()
    torch.npu.synchronize()
    torch.npu.ipc_collect()
    return torch.npu.memory_allocated()
