"""The version of the operator library."""

from torch_npu.npu.versions import get_cann_version

__all__ = ["version"]


def version() -> str:
    """The version of the CANN whose aclnn operators run, such as ``"8.5.0"``."""
    return get_cann_version()
