"""The official plug-in's package of operators, by the names that libraries import."""

from torch_npu.op_plugin import atb

__all__ = ["atb"]
