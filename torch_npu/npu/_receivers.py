"""npu tensors among the arguments of processes that ``multiprocessing`` starts, until the process has opened them.

Only that process can open them, so that its death ends their use. What a queue or pipe transports has no such receiver:
while the queue exists, any process that has it may be the next to read.
"""

import contextlib
import os
import select
import threading
import weakref
from collections.abc import Callable
from multiprocessing.context import get_spawning_popen

# By the process's Popen: what to call when it ends; that does nothing for a tensor that was opened.
_started: dict[weakref.ref, list[Callable[[], None]]] = {}
_lock = threading.Lock()


def _leave_to_parent() -> None:
    """In a forked child, whose parent started the processes."""
    global _lock
    _lock = threading.Lock()
    _started.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


def on_death(release: Callable[[], None]) -> None:
    """Calls ``release`` if the process that this thread is about to start ends; nothing if it starts none."""
    process = get_spawning_popen()
    if process is None:
        return
    with _lock:
        _started.setdefault(weakref.ref(process), []).append(release)


def _has_ended(process: object | None) -> bool:
    """A Popen is dropped after its process was waited for, or if its start has failed."""
    if process is None:
        return True
    pid = getattr(process, "pid", None)
    if pid is None:  # it starts just now
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))
    finally:
        os.close(descriptor)


def collect() -> None:
    """Releases what processes that have ended did not open."""
    with _lock:
        ended = [process for process in _started if _has_ended(process())]
        releases = [release for process in ended for release in _started.pop(process)]
    for release in releases:
        # Without the sender's socket there is nothing to release.
        with contextlib.suppress(RuntimeError):
            release()
