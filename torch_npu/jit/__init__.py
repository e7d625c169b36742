"""Passes over TorchScript graphs."""

from torch_npu.jit.register_fusion_pattern import optimize

__all__ = ["optimize"]
