"""The lock on build/: only one command at a time builds there or runs programs of it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.run import say

# Set in the environment of a locked command's children, so that a ./dev within ./dev does not wait for itself.
HELD = "TORCH_NPU_DEV_LOCK"


@contextmanager
def locked(folder: Path, command: str) -> Iterator[None]:
    """Holds the lock on ``folder`` for the block; if another process has it, names its command and waits.

    The kernel releases the lock when the process that holds it ends, for any reason.
    """
    if os.environ.get(HELD) == str(folder):
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            say(f"{folder.name}/ is in use by {file.read().strip() or 'another command'}: waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate()
        file.write(f"{command} (process {os.getpid()}, since {time.strftime('%H:%M:%S')})\n")
        file.flush()
        os.environ[HELD] = str(folder)
        try:
            yield
        finally:
            del os.environ[HELD]
            file.seek(0)
            file.truncate()
