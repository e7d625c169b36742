"""Registers npu with Dynamo when a program first imports its device interfaces: ``import torch`` alone does not."""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_MODULE = "torch._dynamo.device_interface"


def _register() -> None:
    from torch_npu import _dynamo_interface

    _dynamo_interface.register()


class _Loader(Loader):
    """Runs another loader, then registers."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The other loader's module."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module and registers npu."""
        self.loader.exec_module(module)
        _register()


class _Finder(MetaPathFinder):
    """Finds Dynamo's device interfaces, once."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's usual spec with a loader that registers; None for other modules."""
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def install() -> None:
    """Registers at once where Dynamo is imported already, else at its import."""
    if _MODULE in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Finder())
