"""GELU by ``x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|))``, which an NPU computes faster than the error function."""

import torch

from torch_npu._core import state


def _share_values(source: torch._C.ScriptModule, copy: torch._C.ScriptModule) -> None:
    """Gives ``copy`` the parameters and buffers of ``source``, in all submodules."""
    for values in (torch._C.ParameterDict(source), torch._C.BufferDict(source)):
        for name, value in values.items():
            copy.setattr(name, value)
    for name, module in torch._C.ModuleDict(source).items():
        _share_values(module, copy.getattr(name))


def _give_own_code(jit_mod: torch.jit.ScriptModule) -> None:
    """Copies the code of ``jit_mod``: it is that of all instances of its class, and compiled once it ran."""
    copy = torch._C._hack_do_not_use_clone_module_with_class(jit_mod._c, [], [])
    _share_values(jit_mod._c, copy)
    jit_mod._reconstruct(copy)
    for module in jit_mod.modules():
        for name in module._c._method_names():
            module.__dict__[name] = module._c._get_method(name)


def fast_gelu_pass(jit_mod: torch.jit.ScriptModule | torch.jit.ScriptFunction) -> None:
    """Replaces ``aten::gelu(x, 'none')`` by ``npu::fast_gelu(x)`` in ``jit_mod``, in place.

    In a module this is its ``forward``. Calls of submodules and functions are inlined first. The values change by up to
    0.021. Parameters stay the same, and other instances of the same class do not change.

    Raises:
        TypeError: ``jit_mod`` is no module or function of ``torch.jit``.
    """
    if isinstance(jit_mod, torch.jit.ScriptFunction):
        _rewrite(jit_mod.graph)
        state.native().recompile_function(jit_mod)
        return
    if isinstance(jit_mod, torch.jit.TopLevelTracedModule):  # around the module that runs
        jit_mod = vars(jit_mod)["_actual_script_module"]
    if not isinstance(jit_mod, torch.jit.RecursiveScriptModule):
        raise TypeError(
            f"expected a module or function of torch.jit, not {type(jit_mod).__name__}: torch.jit.script makes one"
        )
    _give_own_code(jit_mod)
    _rewrite(jit_mod.graph)


def _rewrite(graph: torch._C.Graph) -> None:
    torch._C._jit_pass_inline(graph)
    for node in graph.findAllNodes("aten::gelu"):
        x, approximate = node.inputs()
        if approximate.toIValue() == "none":
            fast = graph.create("npu::fast_gelu", [x], 1).insertBefore(node)
            fast.output().setType(node.output().type())
            node.output().replaceAllUsesWith(fast.output())
            node.destroy()
