"""The schemas with an argument that the operator writes, and what they have in common."""

from collections.abc import Iterator

import torch

Overload = torch._ops.OpOverload


def overload(name: str) -> Overload:
    """The function of ``aten::add.out`` or ``npu::npu_silu_``."""
    namespace, _, rest = name.partition("::")
    base, _, which = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), which or "default")


def is_written(argument: torch._C.Argument) -> bool:
    """Whether the operator writes the argument."""
    return argument.alias_info is not None and argument.alias_info.is_write


def is_out(argument: torch._C.Argument) -> bool:
    """Whether the argument is an output that the caller allocates."""
    return is_written(argument) and argument.kwarg_only


def written(function: Overload) -> list[str]:
    """The names of the arguments that the operator writes."""
    return [a.name for a in function._schema.arguments if is_written(a)]


def has_kernel(function: Overload, key: str) -> bool:
    """Whether a call on the device of that dispatch key reaches a kernel or a decomposition."""
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key(function.name(), key)


def mutable(namespace: str) -> Iterator[Overload]:
    """Every operator of ``namespace`` in the dispatcher that writes an argument, by name."""
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith(f"{namespace}::"):
            function = overload(name)
            if written(function):
                yield function
