"""Runs calls in processes of their own, which may crash."""

import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def outcomes(
    module: str,
    names: Iterable[str],
    *arguments: str,
    seconds: float,
    env: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What `python -m module arguments` writes of each name: it reads names, one a line, from standard input, and writes
    "try NAME" before each and "NAME OUTCOME" after it.

    A process that ends at a name gives "the process ended with CODE: the end of its output"; one that writes no line for
    ``seconds`` is ended. The next process takes the names that are left.

    Raises:
        AssertionError: a process ended between two names.
    """
    found: dict[str, str] = {}
    left = list(names)
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}", **(env or {})}
    command = [sys.executable, "-m", module, *arguments]
    while left:
        trying = ""
        with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile("w+") as errors:
            asked.write("\n".join(left))
            asked.seek(0)
            process = subprocess.Popen(
                command, stdin=asked, stdout=subprocess.PIPE, stderr=errors, env=environment
            )
            for line in _lines(process, seconds):
                word, _, rest = line.partition(" ")
                if word == "try":
                    trying = rest
                elif word == trying:
                    found[word] = rest
                    trying = ""
            code = process.wait()
            errors.seek(0)
            message = errors.read()
        if code == 0:
            return found
        if not trying:
            raise AssertionError(message)
        found[trying] = f"the process ended with {code}: {message[-500:]}"
        left = left[left.index(trying) + 1 :]
    return found


def _lines(process: subprocess.Popen, seconds: float) -> Iterator[str]:
    """The lines of its output; kills it if none comes for that long."""
    assert process.stdout is not None
    unfinished = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(seconds):
                process.kill()
                return
            read = os.read(process.stdout.fileno(), 1 << 16)
            if not read:
                return
            *lines, unfinished = (unfinished + read).split(b"\n")
            yield from (line.decode() for line in lines)
