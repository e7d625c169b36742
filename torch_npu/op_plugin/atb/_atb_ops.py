"""What libraries call before they use an operator of namespace atb."""

import torch

from torch_npu.npu import unavailable_reason

__all__: list[str] = []


def _register_atb_extensions() -> None:
    """Checks that the operators of namespace atb are there; the official plug-in loads them now.

    Raises:
        RuntimeError: torch_npu's native library is not loaded.
    """
    if not hasattr(torch.ops.atb, "_npu_reshape_and_cache"):
        raise RuntimeError(
            "The operators of namespace atb are not registered: torch_npu's native library is not loaded "
            f"({unavailable_reason()})"
        )
