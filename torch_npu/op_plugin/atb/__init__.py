"""Operators of namespace atb: they are registered with the others when torch_npu is imported."""

from torch_npu.op_plugin.atb import _atb_ops

__all__ = ["_atb_ops"]
