"""Stopping a device and using it again."""

from torch_npu._core import devices, state
from torch_npu.npu.device import _lazy_init


def stop_device(device_id: int) -> int:
    """Drops the queued work of the device. Later work raises until :func:`restart_device`.

    Returns:
        0, the code of success.

    Raises:
        RuntimeError: the device does not exist.
    """
    _lazy_init()
    state.native().stop_device(devices.device_index(device_id))
    return 0


def restart_device(
    device_id: int, rebuild_all_resources: bool = False, disable_tensor_unsafe_check: bool = False
) -> None:
    """Makes a device that :func:`stop_device` stopped usable again.

    Args:
        device_id: the device.
        rebuild_all_resources: on hardware, makes new streams. Here streams and memory survive the stop.
        disable_tensor_unsafe_check: on hardware, allows tensors from before the restart, which always stay valid here.

    Raises:
        RuntimeError: the device does not exist.
    """
    _lazy_init()
    state.native().restart_device(devices.device_index(device_id))


def check_uce_in_memory(device_id: int) -> int:
    """Asks the device for memory errors that it could not correct.

    Returns:
        0 if there are none, else 3: some, at addresses that are not known to belong to tensors.
    """
    _lazy_init()
    return 3 if state.native().memory_errors(devices.device_index(device_id)) else 0
