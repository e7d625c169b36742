"""What a device can do, under torch.cuda's names."""

import re

from torch_npu._core import devices, environment
from torch_npu._core.warnings import warn
from torch_npu.npu.monitor import checked

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


def can_device_access_peer(device_id: devices.Device, peer_device_id: devices.Device) -> bool:
    """Whether one device can read and write the memory of another: True for two software NPUs of one process.

    Raises:
        AssertionError: a device does not exist.
    """
    return checked(device_id, "device") != checked(peer_device_id, "peer device")


def current_blas_handle() -> None:
    """CUDA's handle of its matrix library. NPUs have none: warns and returns None."""
    warn("NPU does not use blas handle.", stacklevel=2)


def is_bf16_supported(including_emulation: bool = False) -> bool:
    """Whether bfloat16 is supported: True.

    Args:
        including_emulation: accepted for torch.cuda's signature.
    """
    return True
