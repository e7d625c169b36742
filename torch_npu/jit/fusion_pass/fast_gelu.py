"""GELU by ``x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|))``, which an NPU computes faster than the error function."""

import torch

_BEFORE = """
graph(%x):
    %exact : str = prim::Constant[value='none']()
    %result = aten::gelu(%x, %exact)
    return (%result)
"""
_AFTER = """
graph(%x):
    %result = npu::fast_gelu(%x)
    return (%result)
"""


def fast_gelu_pass(jit_mod: torch.jit.ScriptModule) -> None:
    """Replaces ``aten::gelu(x, 'none')`` by ``npu::fast_gelu(x)`` in the graph of ``jit_mod``, in place.

    Calls of submodules and functions are inlined first. The values change by up to 0.021.

    Raises:
        TypeError: ``jit_mod`` has no TorchScript graph.
    """
    if not hasattr(jit_mod, "graph"):
        raise TypeError(
            f"expected a module or function of torch.jit, not {type(jit_mod).__name__}: torch.jit.script makes one"
        )
    graph = jit_mod.graph
    torch._C._jit_pass_inline(graph)
    torch._C._jit_pass_custom_pattern_based_rewrite_graph(_BEFORE, _AFTER, graph)
