"""Versions of the bound CANN, under the name of ``torch.npu``."""

from torch_npu.utils.versions import _is_gte_cann_version, get_cann_version

__all__ = ["_is_gte_cann_version", "get_cann_version"]
