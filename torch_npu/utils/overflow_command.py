"""``torch-npu overflow script.py``: which operators made infinities or NaN, in which module, on which line.

Runs the script with the overflow check of the runtime (as ``FORCE_OVERFLOW_CHECK=1``) and asks for the flag after each
operator. Operators whose inputs were infinite already pass an overflow on; they are counted, not listed.
"""

import argparse
import os
import re
import runpy
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as global_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torch_npu._core import state

_FLAG = 1  # OverflowCheck::kFlag of torch_npu/csrc/core/overflow.h
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


@dataclass(frozen=True)
class Found:
    """An operator that made an infinity or NaN of finite inputs."""

    op: str
    result: str  # dtype and shape of its first floating result
    module: str  # name and class; empty outside of modules
    place: str  # file:line: code
    is_backward: bool

    def __str__(self) -> str:
        """Three lines: what, in which module, where."""
        what = "in the backward pass of" if self.is_backward else "at"
        lines = [f"{self.op} -> {self.result}: infinite or NaN"]
        if self.module:
            lines.append(f"  module: {self.module}")
        return "\n".join([*lines, f"  {what} {self.place}"])


def _is_own(file: str) -> bool:
    """Whether a frame is the program's: not PyTorch's, the plug-in's or the interpreter's."""
    return not file.startswith(("<", *_PACKAGES)) and not file.startswith(
        os.path.dirname(os.__file__)
    )


def _place(frames: list[tuple[str, int, str]]) -> str:
    own = [frame for frame in frames if _is_own(os.path.realpath(frame[0]))]
    if not own:
        return "a line outside of the script"
    file, line, code = own[-1]
    return f"{file}:{line}: {code.strip()}"


def _is_floating_npu(leaf: object) -> bool:
    return (
        isinstance(leaf, torch.Tensor)
        and leaf.device.type == "npu"
        and (leaf.is_floating_point() or leaf.is_complex())
        and leaf.layout is torch.strided
    )


class Watch(TorchDispatchMode):
    """Asks for the overflow flag after each operator of this thread and of the backward passes that it starts."""

    def __init__(self) -> None:
        """Watches nothing until it is entered."""
        super().__init__()
        self.found: list[Found] = []
        self.passed_on = 0
        self._modules: list[torch.nn.Module] = []
        self._names: dict[int, str] = {}
        self._hooks: list[torch.utils.hooks.RemovableHandle] = []

    def __enter__(self) -> "Watch":
        """Starts to follow modules, too."""
        self._hooks = [
            global_hooks.register_module_forward_pre_hook(self._enter_module),
            global_hooks.register_module_forward_hook(self._leave_module, always_call=True),
        ]
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        """Stops."""
        for hook in self._hooks:
            hook.remove()
        super().__exit__(*error)

    def _enter_module(self, module: torch.nn.Module, _: object) -> None:
        if not self._modules:
            self._names = {id(child): name for name, child in module.named_modules()}
        self._modules.append(module)

    def _leave_module(self, *_: object) -> None:
        self._modules.pop()

    def _module(self) -> str:
        if not self._modules:
            return ""
        module = self._modules[-1]
        name = self._names.get(id(module), "")
        return f"{name} ({type(module).__name__})" if name else type(module).__name__

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        """Runs the operator, then reads and clears the flags of its devices."""
        kwargs = kwargs or {}
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if _is_floating_npu(leaf)]
        # The program's own infinities, and those that an earlier operator made.
        was_finite = all(bool(torch.isfinite(leaf).all()) for leaf in inputs)
        native = state.native()
        if not was_finite:  # the check itself, which computes, has set the flag
            for device in {leaf.device.index for leaf in inputs}:
                native.clear_overflow_flag(device)
        result = func(*args, **kwargs)
        results = [leaf for leaf in tree_leaves((result, args)) if _is_floating_npu(leaf)]
        overflowed = False
        for device in {leaf.device.index for leaf in results}:
            if native.overflow_flag(device):
                native.clear_overflow_flag(device)
                overflowed = True
        if overflowed and was_finite:
            self._add(str(func), results[0])
        self.passed_on += overflowed and not was_finite
        return result

    def _add(self, op: str, result: torch.Tensor) -> None:
        node = torch._C._current_autograd_node()
        metadata: Any = {} if node is None else node.metadata
        if lines := metadata.get("traceback_"):
            frames = [
                (found["file"], int(found["line"]), found["code"])
                for found in filter(None, map(_FRAME.search, lines))
            ]
        else:
            frames = [(f.filename, f.lineno or 0, f.line or "") for f in traceback.extract_stack()]
        shape = f"{str(result.dtype).removeprefix('torch.')}{list(result.shape)}"
        module = "" if node is not None else self._module()
        self.found.append(Found(op, shape, module, _place(frames), node is not None))


def watch_script(script: str, arguments: list[str]) -> tuple[Watch, BaseException | None]:
    """Runs a script under a :class:`Watch`.

    Args:
        script: its file.
        arguments: what it finds in ``sys.argv``.

    Returns:
        The watch, and what the script raised; leaving with exit code 0 is None.
    """
    state.native().set_overflow_check(_FLAG)
    watch = Watch()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    error: BaseException | None = None
    with watch, torch.autograd.set_detect_anomaly(True, check_nan=False):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as left:
            error = left if left.code else None
        except BaseException as raised:
            error = raised
    return watch, error


def main(arguments: list[str], program: str = "torch-npu overflow") -> int:
    """Runs a script and lists its overflows; 1 if there are any or if it failed, 2 if it cannot be read.

    Args:
        arguments: of the command.
        program: its name, for help and errors.
    """
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--most", type=int, default=10, help="how many to list (10)")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not os.path.isfile(options.script):
        print(f"{program}: there is no file {options.script}", file=sys.stderr)
        return 2
    watch, error = watch_script(options.script, options.arguments)
    if error is not None:
        traceback.print_exception(error)
    different = list(dict.fromkeys(watch.found))
    for found in different[: options.most]:
        print(found)
    rest = len(different) - options.most
    if rest > 0:
        print(f"and {rest} more")
    print(
        f"{len(watch.found)} overflows at {len(different)} places; {watch.passed_on} operators passed one on"
        if watch.found
        else "no overflow"
    )
    return int(bool(watch.found) or error is not None)
