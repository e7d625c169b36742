"""Names of CUDA that have no counterpart on npu: using them raises an error that says so."""

from collections.abc import Callable
from typing import NoReturn


def explanation(name: str) -> str:
    """The text of the error for ``name``, such as ``torch.cuda.list_gpu_processes``."""
    return (
        f"{name} has no counterpart on npu, so transfer_to_npu cannot map it. Remove the call, or make it only where "
        "the device is a CUDA GPU; `python -m torch_npu.tools.migrate` lists all such names of a script"
    )


def stand_in(name: str, original: object) -> object:
    """What ``name`` becomes: a function or class that raises RuntimeError where it is called. Values stay."""
    if not callable(original):
        return original

    def refuse(*_: object, **__: object) -> NoReturn:
        raise RuntimeError(explanation(name))

    short = name.rpartition(".")[2]
    if isinstance(original, type):
        return type(short, (), {"__new__": refuse, "__module__": original.__module__})
    function: Callable = refuse
    function.__name__ = function.__qualname__ = short
    return function
