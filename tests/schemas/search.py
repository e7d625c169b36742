"""Finds arguments that the CPU accepts, in processes that may crash.

python -m schemas.search: reads overloads from standard input; writes a line "name number" for each that the CPU ran, else
"name reason". python -m schemas.search --write writes TABLE for all operators that the tests call.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

ATTEMPTS = 60
TESTS = Path(__file__).resolve().parents[1]
# With glibc's debug library a free of memory that was written beyond its end ends the process.
HEAP_CHECKS = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3"}
# One line an overload: the attempt's number, or why there is none.
TABLE = Path(__file__).with_name("arguments.txt")


def _try_all(names: list[str], write: int) -> None:
    """Runs in a child: tries each, and writes what it found."""
    import torch

    from schemas.draw import UnbuildableError, drawn

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name in names:
        os.write(write, f"try {name}\n".encode())
        answer = ""
        for number in range(ATTEMPTS):
            try:
                call = drawn(name, number)
                call.function(*call.args, **call.kwargs)
                del call  # frees the arguments: glibc looks for writes beyond them
            except UnbuildableError as error:
                answer = str(error)
                break
            except Exception as error:
                answer = (
                    answer
                    or f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
                )
            else:
                answer = str(number)
                break
        os.write(write, f"{name} {answer}\n".encode())


def _in_children(names: list[str]) -> Iterator[str]:
    """The lines for all names; one that ends the child is its own answer."""
    left = names
    while left:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            os.dup2(null, 1)
            _try_all(left, write)
            os._exit(0)
        os.close(write)
        trying = ""
        with open(read) as lines:
            for line in lines:
                if line.startswith("try "):
                    trying = line.split()[1]
                else:
                    yield line.rstrip("\n")
                    trying = ""
        os.waitpid(child, 0)
        if not trying:
            return
        yield f"{trying} the CPU's process crashes"
        left = left[left.index(trying) + 1 :]


def table() -> tuple[dict[str, int], dict[str, str]]:
    """What :func:`search` found when TABLE was written."""
    return _parsed(TABLE.read_text())


def _parsed(lines: str) -> tuple[dict[str, int], dict[str, str]]:
    found: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for line in lines.splitlines():
        name, _, answer = line.partition(" ")
        if answer.isdigit():
            found[name] = int(answer)
        else:
            reasons[name] = answer
    return found, reasons


def _write_table() -> None:
    """Searches for all; operators without arguments that PyTorch's own cases call are marked so."""
    from fuzz.recorded import record

    from schemas.draw import UNCHECKED, all_wanted

    found, reasons = search([name for name in all_wanted() if name not in UNCHECKED])
    lost = {name.split(".")[1] for name in reasons}
    recorded = set(record(lost))
    for name in reasons:
        if name.split(".")[1] in recorded:
            reasons[name] = "PyTorch's own cases call it"
    for name, what in UNCHECKED.items():
        reasons[name] = f"the CPU does not check {what}"
    lines = {name: f"{name} {answer}\n" for name, answer in [*found.items(), *reasons.items()]}
    TABLE.write_text("".join(lines[name] for name in sorted(lines)))


def search(names: list[str]) -> tuple[dict[str, int], dict[str, str]]:
    """The attempt of each overload that the CPU runs, and the reason for each other."""
    command = [sys.executable, "-m", "schemas.search"]
    environment = {
        **os.environ,
        **HEAP_CHECKS,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTHONPATH": str(TESTS),
    }
    lines = subprocess.run(
        command, input="\n".join(names), capture_output=True, text=True, check=True, env=environment
    ).stdout
    return _parsed(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        _write_table()
    else:
        for text in _in_children(sys.stdin.read().split()):
            print(text, flush=True)
