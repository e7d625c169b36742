"""Acts on modules when a program first imports them: ``import torch`` alone does not import all of PyTorch."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class _Loader(Loader):
    """Runs another loader, then the actions."""

    def __init__(self, loader: Loader, actions: list[Callable[[], None]]) -> None:
        self.loader = loader
        self.actions = actions

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The other loader's module."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, then what waits for it."""
        self.loader.exec_module(module)
        for action in self.actions:
            action()


class _Finder(MetaPathFinder):
    """Finds modules that actions wait for, each once."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[], None]]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's usual spec with a loader that acts; None for other modules."""
        actions = self.waiting.pop(name, None)
        if not self.waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        if actions is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, actions)
        return spec


_finder = _Finder()


def when_imported(module: str, action: Callable[[], None]) -> None:
    """Calls ``action`` after the first import of ``module``: at once where it is imported already."""
    if module in sys.modules:
        action()
        return
    _finder.waiting.setdefault(module, []).append(action)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
