"""``torch.nn.attention.flex_attention`` on npu: PyTorch takes devices by their names."""

import sys
from typing import Any

import torch

from torch_npu._core import import_hook

_MODULE = "torch.nn.attention.flex_attention"


def _take_npu() -> None:
    """Lets ``flex_attention`` take npu tensors; it computes them as it does CUDA's, with gradients."""
    module: Any = sys.modules[_MODULE]
    validate = module._validate_device

    def validate_device(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """Raises for devices that neither PyTorch nor this package takes."""
        if query.device.type != "npu":
            validate(query, key, value)

    module._validate_device = validate_device


def register() -> None:
    """Acts when a program first imports ``torch.nn.attention.flex_attention``."""
    import_hook.when_imported(_MODULE, _take_npu)
