"""Triton's backend ``npu``: kernels run in Triton's interpreter on tensors of npu.

The entry point ``triton.backends`` of the package names this module; Triton imports ``driver`` and ``compiler`` of it.
"""
