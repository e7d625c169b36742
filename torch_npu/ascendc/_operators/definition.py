"""Defines operators of PyTorch whose implementations are kernels in Ascend C."""

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path

import torch

from torch_npu.ascendc import binary
from torch_npu.ascendc._operators.launch_site import report_launch_sites
from torch_npu.ascendc._operators.operator import Launch, Operator
from torch_npu.ascendc.errors import AscendcError

_definitions: dict[str, "_Definition"] = {}  # by operator, which lives as long as its definition
_lock = threading.Lock()  # of _definitions


class _Definition:
    """An operator as PyTorch knows it: later definitions with the same schema change what it does.

    Removing a definition while another thread calls it would crash.
    """

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.operator: Operator | None = None
        self.backward: Callable[..., object] | None = None
        self.setup_context: Callable[..., None] | None = None
        self.library: torch.library.Library | None = None

    def call(self, *arguments: object, **by_name: object) -> object:
        assert self.operator is not None
        return self.operator(*arguments, **by_name)

    def fake(self, *arguments: object, **by_name: object) -> object:
        assert self.operator is not None
        return self.operator.fake(*arguments, **by_name)

    def save(self, ctx: object, **known: object) -> None:
        # The gradient of this call, whatever is defined later.
        ctx.npu_backward = self.backward  # type: ignore[attr-defined]
        if self.setup_context is not None:
            self.setup_context(ctx=ctx, **known)

    @staticmethod
    def gradients(ctx: object, *grads: object) -> object:
        return ctx.npu_backward(ctx, *grads)  # type: ignore[attr-defined]

    def define(self, space: str, short: str) -> None:
        """Registers the operator with PyTorch."""
        library = torch.library.Library(space, "FRAGMENT")
        library.define(self.schema)
        has_tensors = "Tensor" in self.schema.split("->")[0]
        library.impl(
            short, self.call, "PrivateUse1" if has_tensors else "CompositeExplicitAutograd"
        )
        qualified = f"{space}::{short}"
        if has_tensors:
            library.impl(short, _refuse_cpu(qualified), "CPU")
        torch.library.register_fake(qualified, self.fake, lib=library)
        if not any(a.alias_info is not None for a in torch._C.parse_schema(self.schema).arguments):
            torch.library.register_autograd(
                qualified, self.gradients, setup_context=self.save, lib=library
            )
        self.library = library

    def remove(self) -> None:
        """Takes the operator from PyTorch again."""
        if self.library is not None:
            self.library._destroy()


def _refuse_cpu(name: str) -> Callable[..., object]:
    def refuse(*_: object, **__: object) -> object:
        raise ValueError(
            f"{name} is an operator of npu tensors, and these are on the CPU: move them, x.npu()"
        )

    return refuse


def _without_gradient(name: str) -> Callable[..., object]:
    def refuse(*_: object) -> object:
        raise RuntimeError(f"{name} has no gradient: it was defined without backward=...")

    return refuse


def define(
    name: str,
    path: Path,
    schema: str,
    launch: Callable[..., Launch],
    outputs: Callable[..., object] | None,
    kernel: str | None,
    backward: Callable[..., object] | None,
    setup_context: Callable[..., None] | None,
) -> Callable[..., object]:
    """Defines the operator; a definition of the same name by load_ascendc() is replaced.

    Raises:
        RuntimeError: the schema or the kernel's name is wrong.
        ValueError: as Operator does.
    """
    parsed = torch._C.parse_schema(schema)
    if parsed.overload_name:
        raise RuntimeError(
            f"load_ascendc({name!r}): {parsed.name}.{parsed.overload_name} is an overload: use a name without a dot,"
            " and kernel=... for that of the kernel"
        )
    space, _, short = parsed.name.rpartition("::")
    space = space or name
    qualified = f"{space}::{short}"
    try:
        compiled = binary.Kernel(ctypes.CDLL(str(path)), path, kernel or short)
    except AscendcError as error:
        raise RuntimeError(f"load_ascendc({name!r}): {error}") from None
    report_launch_sites()
    operator = Operator(qualified, parsed, compiled, launch, outputs)
    unqualified = schema.split("::")[-1] if schema.startswith(f"{space}::") else schema
    with _lock:
        definition = _definitions.get(qualified)
        if definition is not None and definition.schema != unqualified:
            _definitions.pop(qualified).remove()
            definition = None
        is_new = definition is None
        definition = definition or _Definition(unqualified)
        definition.operator = operator
        definition.backward = backward or _without_gradient(qualified)
        definition.setup_context = setup_context
        if is_new:
            definition.define(space, short)
            _definitions[qualified] = definition
    return getattr(getattr(torch.ops, space), short)
