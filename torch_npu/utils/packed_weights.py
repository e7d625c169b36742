"""Packed copies of weights in softnpu."""

from torch_npu._core import devices, state


def packed_weights_bytes(device: devices.Device = None) -> int:
    """The size of packed copies of weights on ``device`` (default: the current one), in bytes of device memory.

    Convolutions and float32 products cache frequently used weights in the layout of their kernels. The copies are not
    in the caching allocator: :func:`torch.npu.mem_get_info` includes them, ``torch.npu.memory_stats`` does not. They
    are freed with their weights, and when memory is exhausted. 0 on a CANN other than softnpu.
    """
    if not state.native().is_initialized():
        return 0
    return int(state.native().packed_weights_bytes(devices.device_index(device)))
