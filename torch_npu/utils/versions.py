"""Versions of the bound CANN, under the name of ``torch_npu.utils``."""

from torch_npu.npu.versions import _is_gte_cann_version, get_cann_version

__all__ = ["_is_gte_cann_version", "get_cann_version"]
