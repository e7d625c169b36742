"""Direct calls of the runtime (``torch.npu.npurt()``). Each returns the runtime's code, with 0 for success."""

import ctypes

from torch_npu._core import devices, state


def npuStreamCreate(stream: int) -> int:  # noqa: N802
    """Makes a stream on the current device and stores its handle at the address ``stream``."""
    ctypes.c_void_p.from_address(stream).value = state.native().create_raw_stream(
        devices.device_index()
    )
    return 0


def npuStreamDestroy(stream: int) -> int:  # noqa: N802
    """Destroys the stream with the handle ``stream``.

    Raises:
        RuntimeError: there is no such stream.
    """
    state.native().destroy_raw_stream(stream)
    return 0


def npuHostRegister(ptr: int, size: int, flags: int) -> int:  # noqa: N802
    """Makes ``size`` bytes of host memory at ``ptr`` accessible to the device.

    Raises:
        RuntimeError: the range or the flags are not valid, or it is registered already.
    """
    state.native().host_register(ptr, size, flags)
    return 0


def npuHostUnregister(ptr: int) -> int:  # noqa: N802
    """Undoes :func:`npuHostRegister`.

    Raises:
        RuntimeError: nothing is registered at ``ptr``.
    """
    state.native().host_unregister(ptr)
    return 0
