"""Whether mixed precision can be used at all."""

from torch_npu.npu.device import is_available

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """True if there is no npu."""
    return not is_available()
