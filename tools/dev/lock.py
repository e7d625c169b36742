"""The lock on build/: one command at a time builds there or runs what stands there."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.run import say

# Set for what a locked command starts, so that a ./dev within ./dev does not wait for itself.
HELD = "TORCH_NPU_DEV_LOCK"


@contextmanager
def locked(folder: Path, command: str) -> Iterator[None]:
    """Holds the lock on ``folder`` for the block; where another process has it, says who, and waits.

    The kernel drops the lock with the process that held it, however that ended.
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
