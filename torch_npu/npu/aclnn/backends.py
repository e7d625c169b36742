"""The version of the operator library."""

from torch_npu.npu import _state

__all__ = ["version"]


def version() -> str:
    """The version of the CANN whose aclnn operators run, such as ``"8.5.0"``."""
    return str(_state.native().cann_version())
