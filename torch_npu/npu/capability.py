"""What a device can do, under torch.cuda's names."""

import os
import re
import time

from torch_npu._core import devices, environment
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn
from torch_npu.npu.device import device_count

_SAMPLE_SECONDS = 0.02
_CAPABILITY = "TORCH_NPU_DEVICE_CAPABILITY"


def get_device_capability(device: devices.Device = None) -> tuple[int, int] | None:
    """The numbers of the variable ``TORCH_NPU_DEVICE_CAPABILITY``, for programs that ask for CUDA's capability.

    Args:
        device: accepted for torch.cuda's signature.

    Returns:
        ``(8, 0)`` for ``TORCH_NPU_DEVICE_CAPABILITY=8.0``; None if the variable is not set or is not of this form.

    Warns:
        Always: it says nothing about the NPU.
    """
    meaning = "is only for compatibility with PyTorch and does not represent the actual capability of the NPU device."
    text = environment.text("TORCH_NPU_DEVICE_CAPABILITY")
    if not text:
        warn(
            f"You can set the device capability via the environment variable {_CAPABILITY}. "
            f"The return value of get_device_capability {meaning}",
            stacklevel=2,
        )
        return None
    found = re.fullmatch(r"(\d+)\.(\d+)", text)
    if found is None:
        warn(
            f"torch.npu.get_device_capability can't parse {_CAPABILITY} environment variable: {text}. "
            "Expected format is 'major.minor' where major and minor are non-negative integers (e.g., '8.0').",
            stacklevel=2,
        )
        return None
    warn(f"The return value of get_device_capability {meaning}", stacklevel=2)
    return int(found[1]), int(found[2])


def _checked(device: devices.Device, what: str) -> int:
    index = device if isinstance(device, int) else devices.device_index(device)
    if not 0 <= index < device_count():
        raise AssertionError(
            f"Invalid {what} id: npu:{index}, there are {device_count()} devices"
            + pta_error(ErrCode.VALUE)
        )
    return index


def can_device_access_peer(device_id: devices.Device, peer_device_id: devices.Device) -> bool:
    """Whether one device can read and write the memory of another: True for two software NPUs of one process.

    Raises:
        AssertionError: a device does not exist.
    """
    return _checked(device_id, "device") != _checked(peer_device_id, "peer device")


def utilization(device: devices.Device = None) -> int:
    """The load of the host cores that play the device, by this process, in percent.

    Measured for 20 ms, during which the call waits.

    Raises:
        AssertionError: the device does not exist.
    """
    _checked(device, "device")
    cores = len(os.sched_getaffinity(0))
    wall, busy = time.perf_counter(), time.process_time()
    time.sleep(_SAMPLE_SECONDS)
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    return min(100, round(100 * busy / (wall * cores)))


def current_blas_handle() -> None:
    """CUDA's handle of its matrix library. NPUs have none: warns and returns None."""
    warn("NPU does not use blas handle.", stacklevel=2)


def is_bf16_supported(including_emulation: bool = False) -> bool:
    """Whether bfloat16 is supported: True.

    Args:
        including_emulation: accepted for torch.cuda's signature.
    """
    return True
