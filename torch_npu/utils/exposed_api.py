"""The operators of namespace npu that are functions of ``torch_npu``, by the official torch_npu's name of the module."""

from torch_npu.exposed_api import public_npu_functions

__all__ = ["public_npu_functions"]
