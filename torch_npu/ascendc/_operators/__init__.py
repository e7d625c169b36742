"""Operators of PyTorch whose implementations are kernels in Ascend C: what ``load_ascendc`` and the kernels beside it use.

Unlike the driver in the folder above, these modules import torch.
"""
