"""The Python line that launches a kernel in Ascend C, for the reports of checked mode."""

import ctypes
import os
import sys
import threading
from pathlib import Path

import torch

from torch_npu.ascendc.paths import installation

# Frames of these folders are not the program's.
_OTHERS = tuple(f"{Path(file).parent}{os.sep}" for file in (torch.__file__, Path(__file__).parent))
_kept = threading.local()  # the text that the library may still read, of each thread


def launch_site() -> str | None:
    """The innermost frame outside of torch and torch_npu, as ``train.py:12``; None where there is none."""
    frame = sys._getframe(1)
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


def report_launch_sites() -> None:
    """Tells the library of kernels where Python launches them, if this process checks its kernels."""
    if os.environ.get("SOFTNPU_KERNEL_CHECK", "0") in ("", "0"):
        return
    library = ctypes.CDLL(str(installation().libraries / "libsoftnpu_kernel.so"))
    library.softnpuKernelSetLaunchSite(_say)
