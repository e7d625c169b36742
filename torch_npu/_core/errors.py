"""Codes of errors and their texts: the line that torch_npu appends to the message of an error.

The line is ``[ERROR] <date> (PID:<pid>, Device:<device>, RankID:<rank>) ERR<module><code> <module> <text>``. Tools search
logs for it, so its form, the codes and the texts are the official plug-in's.
"""

import os
import sys
import time
from enum import Enum

from torch_npu._core import environment, state


class ErrCode(Enum):
    """What is wrong: a number of up to three digits and its text."""

    SUCCESS = (0, "success")
    PARAM = (1, "invalid parameter")
    TYPE = (2, "invalid type")
    VALUE = (3, "invalid value")
    PTR = (4, "invalid pointer")
    INTERNAL = (5, "internal error")
    MEMORY = (6, "memory error")
    NOT_SUPPORT = (7, "feature not supported")
    NOT_FOUND = (8, "resource not found")
    UNAVAIL = (9, "resource unavailable")
    SYSCALL = (10, "system call failed")
    TIMEOUT = (11, "timeout error")
    PERMISSION = (12, "permission error")
    ACL = (100, "call acl api failed")
    HCCL = (200, "call hccl api failed")
    GE = (300, "call ge api failed")
    EXCEPT = (999, "application exception")

    @property
    def code(self) -> int:
        """The number."""
        return self.value[0]

    @property
    def msg(self) -> str:
        """The text."""
        return self.value[1]


# The parts of torch_npu that report errors, with their numbers.
_MODULES = {"PTA": 0, "OPS": 1, "DIST": 2, "GRAPH": 3, "PROF": 4}


def get_env_compact_error_output() -> int:
    """The value of ``TORCH_NPU_COMPACT_ERROR_OUTPUT``: 1 omits the line of the code from messages; 0 is the default."""
    return int(environment.flag("TORCH_NPU_COMPACT_ERROR_OUTPUT"))


def _is_interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules


def _device() -> int:
    """The current device; -1 before the device is used."""
    if not state.is_loaded() or not state.native().is_initialized():
        return -1
    return int(state.native().current_device())


def _rank() -> int:
    """This process's rank; -1 without a process group."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return -1
    return int(distributed.get_rank())


def _line(module: str, error: ErrCode) -> str:
    if get_env_compact_error_output() or _is_interactive():
        return ""
    now = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime())
    return (
        f"\n[ERROR] {now} (PID:{os.getpid()}, Device:{_device()}, RankID:{_rank()}) "
        f"ERR{_MODULES[module]:02d}{error.code:03d} {module} {error.msg}"
    )


def pta_error(error: ErrCode) -> str:
    """The line for an error of the plug-in itself; begins with a line break.

    Empty in interactive sessions and with ``TORCH_NPU_COMPACT_ERROR_OUTPUT=1``.
    """
    return _line("PTA", error)


def ops_error(error: ErrCode) -> str:
    """:func:`pta_error` for an operator."""
    return _line("OPS", error)


def dist_error(error: ErrCode) -> str:
    """:func:`pta_error` for distributed work."""
    return _line("DIST", error)


def graph_error(error: ErrCode) -> str:
    """:func:`pta_error` for graphs."""
    return _line("GRAPH", error)


def prof_error(error: ErrCode) -> str:
    """:func:`pta_error` for the profiler."""
    return _line("PROF", error)
