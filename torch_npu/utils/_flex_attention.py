"""``torch.nn.attention.flex_attention`` on npu: PyTorch takes devices by their names."""

import sys
from typing import Any

import torch

from torch_npu._core import import_hook

_MODULE = "torch.nn.attention.flex_attention"


def _take_npu() -> None:
    """Lets ``flex_attention`` take npu tensors; it computes them as it does CUDA's, with gradients."""
    module: Any = sys.modules[_MODULE]
    validate, options_of = module._validate_device, module._apply_kernel_options

    def validate_device(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """Raises for devices that neither PyTorch nor this package takes."""
        if query.device.type != "npu":
            validate(query, key, value)

    def apply_kernel_options(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        return_lse: bool,
        kernel_options: dict[str, object] | None,
        return_aux: Any = None,  # noqa: ANN401  # PyTorch's AuxRequest
    ) -> dict[str, object]:
        """The options; without gradients npu writes no logarithms of sums, which the C++ template does not have."""
        options = options_of(query, key, value, return_lse, kernel_options, return_aux)
        has_gradients = query.requires_grad or key.requires_grad or value.requires_grad
        is_asked = return_lse or (return_aux is not None and return_aux.lse)
        if query.device.type == "npu" and not has_gradients and not is_asked:
            options["OUTPUT_LOGSUMEXP"] = False
        return options

    module._validate_device = validate_device
    module._apply_kernel_options = apply_kernel_options


def register() -> None:
    """Acts when a program first imports ``torch.nn.attention.flex_attention``."""
    import_hook.when_imported(_MODULE, _take_npu)
