"""Work on an npu stream that ends only after Python has run: a caller that waits for it with the GIL held deadlocks."""

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from torch_npu import _load

_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Task(ctypes.Structure):
    """softnpuTask of softnpu/include/softnpu/launch.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("cost", ctypes.c_int32),
        ("run", _RUN),
        ("release", _RELEASE),
        ("state", ctypes.c_void_p),
        ("fusible", ctypes.c_void_p),
        ("written", ctypes.c_void_p),
        ("written_count", ctypes.c_size_t),
    )


_kept: list[object] = []  # objects that the runtime may still call


def launch(stream: torch.Stream, work: Callable[[], object]) -> None:
    """Queues ``work`` on ``stream``; the device's thread calls it after it has acquired the GIL."""

    def run(*_: object) -> int:
        work()
        return 0

    task = _Task(b"python", 0, _RUN(run), _RELEASE(lambda _: None), None)
    _kept.append(task)
    # PyDLL keeps the GIL during the call, so that the work cannot run before the caller waits for it.
    acl = ctypes.PyDLL(_load.bound_library())
    acl.softnpuLaunch.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Task)]
    assert acl.softnpuLaunch(stream.native_handle, ctypes.byref(task)) == 0


def launch_on_host(stream: torch.Stream, work: Callable[[], object]) -> None:
    """Queues ``work`` on ``stream`` as a host function: the stream waits for it, the device's thread does not."""
    function = _HOST(lambda _: work() and None)
    _kept.append(function)
    acl = ctypes.PyDLL(_load.bound_library())
    acl.aclrtLaunchHostFunc.argtypes = [ctypes.c_void_p, _HOST, ctypes.c_void_p]
    assert acl.aclrtLaunchHostFunc(stream.native_handle, function, None) == 0


@contextmanager
def no_switching() -> Iterator[None]:
    """This thread keeps the GIL until a call releases it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


class Gate:
    """Holds up a stream until :meth:`open`, or until the end of the context."""

    def __init__(self, stream: torch.Stream) -> None:
        """Takes the stream."""
        self.stream = stream
        self.opened = threading.Event()

    def open(self) -> None:
        """Lets the stream go on."""
        self.opened.set()

    def open_later(self) -> None:
        """Opens it after 50 ms, so that this thread can wait meanwhile."""
        threading.Timer(0.05, self.open).start()

    def __enter__(self) -> "Gate":
        """Holds up work that is enqueued from now on."""
        launch_on_host(self.stream, self.opened.wait)
        return self

    def __exit__(self, *_: object) -> None:
        """Opens the gate."""
        self.open()
