"""``torch-npu overflow script.py``: which operators made infinities or NaN, in which module, on which line.

Runs the script with the overflow check of the runtime (as ``FORCE_OVERFLOW_CHECK=1``) and asks for the flag after each
operator. Operators whose inputs were infinite already pass an overflow on; they are counted, not listed.
"""

import argparse
import os
import runpy
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torch_npu._core import state
from torch_npu.accuracy.location import Modules, location_of_operator

_FLAG = 1  # OverflowCheck::kFlag of torch_npu/csrc/core/overflow.h


@dataclass(frozen=True)
class Found:
    """An operator that made an infinity or NaN of finite inputs."""

    op: str
    result: str  # dtype and shape of its first floating result
    module: str  # name and class; empty outside of modules
    location: str  # file:line: code
    is_backward: bool

    def __str__(self) -> str:
        """Three lines: what, in which module, where."""
        what = "in the backward pass of" if self.is_backward else "at"
        lines = [f"{self.op} -> {self.result}: infinite or NaN"]
        if self.module:
            lines.append(f"  module: {self.module}")
        return "\n".join([*lines, f"  {what} {self.location}"])


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
        self._modules = Modules()

    def __enter__(self) -> "Watch":
        """Starts to follow modules, too."""
        self._modules.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        """Stops."""
        self._modules.stop()
        super().__exit__(*error)

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
        location, is_backward = location_of_operator()
        shape = f"{str(result.dtype).removeprefix('torch.')}{list(result.shape)}"
        module = "" if is_backward else self._modules.current()
        self.found.append(Found(op, shape, module, location, is_backward))


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
