"""Copies that softnpu keeps of weights."""

from torch_npu.npu import _state


def packed_weights_bytes(device: _state.Device = None) -> int:
    """Device memory that packed copies of weights take on ``device``, by default the current one.

    Convolutions and float32 products keep weights that they meet again in the layout that suits them. The copies are
    beside what the caching allocator has and counts: :func:`torch.npu.mem_get_info` counts them,
    ``torch.npu.memory_stats`` does not. They go with their weights, and when memory runs out. 0 on a CANN other than
    softnpu.
    """
    if not _state.native().is_initialized():
        return 0
    return int(_state.native().packed_weights_bytes(_state.device_index(device)))
