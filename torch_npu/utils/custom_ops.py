"""The operators of namespace npu as functions, by the official torch_npu's name of the module."""

from torch_npu.custom_ops import *  # noqa: F403
from torch_npu.custom_ops import __all__ as __all__
