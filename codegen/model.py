"""What is generated, as frozen values: no text of C++ in here, no reading of files."""

from dataclasses import dataclass
from enum import Enum


class Route(Enum):
    """How an operator of PyTorch runs on npu."""

    OWN = "own"  # a kernel written by hand registers itself
    UNBOXED = "unboxed"  # the CPU's kernel on npu's bytes, by a generated wrapper
    BOXED = "boxed"  # the same by the boxed fallback
    COMPOSITE = "composite"  # PyTorch decomposes it


@dataclass(frozen=True)
class Settings:
    """``npu_native_functions.yaml``."""

    backend: str
    cpp_namespace: str
    supported: frozenset[str]  # written by hand
    supported_derived: frozenset[str]  # written by hand for sparse, quantized, nested tensors
    boxed: frozenset[str]  # CPU kernels that stay with the boxed fallback
    as_on_cpu: frozenset[str]  # decomposed by PyTorch, but boxed here
    takes_cpu_tensors: frozenset[str]  # CPU tensors may stand beside npu tensors


@dataclass(frozen=True)
class Kernel:
    """One CPU kernel of ATen with the signature that the dispatcher calls."""

    operator: str  # "add.Tensor"
    header: str  # "add": ATen/ops/add_cpu_dispatch.h declares it
    function: str  # "add", "add_outf", "add_"
    returns: str  # C++ type
    arguments: tuple[str, ...]  # C++ types

    @property
    def pointer(self) -> str:
        """The C++ type of a pointer to it."""
        return f"{self.returns} (*)({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Operator:
    """An operator with the route that it takes; ``kernel`` is there for UNBOXED."""

    name: str
    route: Route
    kernel: Kernel | None = None
    takes_cpu_tensors: bool = False
