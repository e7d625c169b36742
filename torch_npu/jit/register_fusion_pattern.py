"""Rewrites the graph of a scripted or traced module for npu."""

import torch

from torch_npu.jit.fusion_pass.fast_gelu import fast_gelu_pass

__all__ = ["optimize"]


def optimize(jit_mod: torch.jit.ScriptModule | torch.jit.ScriptFunction) -> None:
    """Replaces GELU by npu's approximation in ``jit_mod``, in place: :func:`fast_gelu_pass`.

    Args:
        jit_mod: what ``torch.jit.script``, ``torch.jit.trace`` or ``torch.jit.freeze`` returned.

    Raises:
        TypeError: ``jit_mod`` is no module or function of ``torch.jit``.
    """
    fast_gelu_pass(jit_mod)
