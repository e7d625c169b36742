"""Where in a program an operator is called: the line of Python, and the module of torch.nn."""

import os
import re
import traceback
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as global_hooks

# In a checkout the package's files are links.
_PACKAGES = tuple(
    str(folder) + os.sep
    for folder in (
        Path(torch.__path__[0]).resolve(),
        Path(__file__).parents[1],
        Path(__file__).resolve().parents[1],
    )
)
_FRAME = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+), in .*\n\s*(?P<code>.*)')
OUTSIDE = "a line outside of the script"


def _is_own(file: str) -> bool:
    """Whether a frame is the program's: not PyTorch's, the plug-in's or the interpreter's."""
    return not file.startswith(("<", *_PACKAGES)) and not file.startswith(
        os.path.dirname(os.__file__)
    )


def _location(frames: list[tuple[str, int, str]]) -> str:
    own = [frame for frame in frames if _is_own(os.path.realpath(frame[0]))]
    if not own:
        return OUTSIDE
    file, line, code = own[-1]
    return f"{file}:{line}: {code.strip()}"


def location_of_operator() -> tuple[str, bool]:
    """The line that calls the running operator, "train.py:12: y = f(x)", and whether it is in a backward pass.

    In a backward pass it is the line of the forward pass, if ``torch.autograd.set_detect_anomaly(True)`` was set then.
    """
    node = torch._C._current_autograd_node()
    metadata: Any = {} if node is None else node.metadata
    if lines := metadata.get("traceback_"):
        frames = [
            (found["file"], int(found["line"]), found["code"])
            for found in filter(None, map(_FRAME.search, lines))
        ]
    else:
        frames = [(f.filename, f.lineno or 0, f.line or "") for f in traceback.extract_stack()]
    return _location(frames), node is not None


class Modules:
    """Follows the modules of torch.nn whose forward passes run."""

    def __init__(self) -> None:
        """Follows nothing before :meth:`start`."""
        self._running: list[torch.nn.Module] = []
        self._names: dict[int, str] = {}
        self._hooks: list[torch.utils.hooks.RemovableHandle] = []

    def start(self) -> None:
        """Begins to follow."""
        self._hooks = [
            global_hooks.register_module_forward_pre_hook(self._enter),
            global_hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    def stop(self) -> None:
        """Ends it."""
        for hook in self._hooks:
            hook.remove()

    def _enter(self, module: torch.nn.Module, _: object) -> None:
        if not self._running:
            self._names = {id(child): name for name, child in module.named_modules()}
        self._running.append(module)

    def _leave(self, *_: object) -> None:
        self._running.pop()

    def current(self) -> str:
        """Name and class of the innermost running module, "layer1.0 (Block)"; empty outside of modules."""
        if not self._running:
            return ""
        module = self._running[-1]
        name = self._names.get(id(module), "")
        return f"{name} ({type(module).__name__})" if name else type(module).__name__
