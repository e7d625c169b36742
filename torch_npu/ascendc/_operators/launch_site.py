"""The Python line that launches a kernel in Ascend C or allocates a tensor, for the reports of checked mode."""

import ctypes
import os
import sys
import threading
from pathlib import Path
from types import FrameType

import torch

from torch_npu._core import environment, state
from torch_npu.ascendc.paths import installation

# Frames of these folders are not the program's.
_OTHERS = tuple(
    f"{folder}{os.sep}" for folder in (Path(torch.__file__).parent, Path(__file__).parents[2])
)
_kept = threading.local()  # the text that the library may still read, of each thread


def launch_site() -> str | None:
    """The innermost frame outside of torch and torch_npu, as ``train.py:12``; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OTHERS) and not name.startswith("<"):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return None


@ctypes.CFUNCTYPE(ctypes.c_void_p)
def _say() -> int | None:
    site = launch_site()
    if site is None:
        return None
    _kept.text = ctypes.create_string_buffer(os.fsencode(site))
    return ctypes.addressof(_kept.text)


def checks_kernels() -> bool:
    """Whether this process checks its kernels."""
    return environment.text("SOFTNPU_KERNEL_CHECK") != "0"


def report_allocation_sites() -> None:
    """Tells the allocator where Python allocates tensors, if this process checks its kernels."""
    if checks_kernels():
        state.native().set_allocation_site(ctypes.cast(_say, ctypes.c_void_p).value)


def report_launch_sites() -> None:
    """Tells the library of kernels where Python launches them, if it checks kernels or writes their timeline."""
    if not checks_kernels() and not environment.text("SOFTNPU_KERNEL_TIMELINE"):
        return
    library = ctypes.CDLL(str(installation().libraries / "libsoftnpu_kernel.so"))
    library.softnpuKernelSetLaunchSite(_say)
