"""Runs commands: each command is printed, and a failure ends the program with one sentence."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.paths import ROOT


class DevError(Exception):
    """Ends `./dev` with exit code 1 and its text, which says what to do."""


def say(text: str) -> None:
    """Prints one line of progress immediately, also if the output is a pipe."""
    print(f"\033[1m==>\033[0m {text}" if sys.stdout.isatty() else f"==> {text}", flush=True)


def run(
    command: Sequence[str | Path],
    *,
    hint: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    quiet: bool = False,
) -> None:
    """Runs `command` with its output shown; with `quiet` only if it fails.

    Raises DevError with the command and `hint` if it fails.
    """
    words = [str(word) for word in command]
    started = time.monotonic()
    capture = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if quiet else {}
    try:
        result = subprocess.run(
            words, cwd=cwd, env={**os.environ, **(env or {})}, check=False, text=True, **capture
        )
    except FileNotFoundError as error:
        if error.filename != words[0]:
            raise
        raise DevError(f"{words[0]} is not installed: ./dev setup installs it as root") from None
    if result.returncode != 0:
        print(result.stdout or "", end="", flush=True)
        shown = " ".join(words if len(words) < 12 else [*words[:12], "…"])
        seconds = time.monotonic() - started
        raise DevError(
            f"failed with exit code {result.returncode} after {seconds:.0f} s: {shown}"
            + (f"\n{hint}" if hint else "")
        )


def output(command: Sequence[str | Path]) -> str:
    """The standard output of `command`; empty if it fails or the program does not exist."""
    try:
        result = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return result.stdout if result.returncode == 0 else ""
