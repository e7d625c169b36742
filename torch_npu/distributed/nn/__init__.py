"""Collectives with gradients, under the official torch_npu's name: those of :mod:`torch.distributed.nn`."""

from torch.distributed.nn import functional

__all__ = ["functional"]
