"""The command ``torch-npu``, also ``python -m torch_npu``: the tools of the package under one name."""

import difflib
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch_npu import softnpu
from torch_npu._core import environment
from torch_npu.accuracy import command_line as accuracy
from torch_npu.ascendc import command_line as ascendc
from torch_npu.profiler.reporting import command_line as report
from torch_npu.tools.migrate import __main__ as migrate
from torch_npu.utils import accuracy_command, collect_env, doctor, overflow_command
from torch_npu.version import __version__

PROGRAM = "torch-npu"


class Command(NamedTuple):
    """What a word does with the arguments behind it, and its line of the help."""

    run: Callable[[list[str]], int]
    help: str


def _without_arguments(name: str, run: Callable[[], object]) -> Callable[[list[str]], int]:
    def checked(arguments: list[str]) -> int:
        if arguments:
            print(f"{PROGRAM} {name} takes no argument {arguments[0]!r}", file=sys.stderr)
            return 2
        return int(bool(run()))

    return checked


def _variables(arguments: list[str]) -> int:
    """Prints the rows of the table whose names contain one of the words, all without words."""
    words = [word.upper() for word in arguments]
    rows = [
        variable
        for variable in environment.VARIABLES.values()
        if not words or any(word in variable.name for word in words)
    ]
    given = dict(environment.all_set())
    for variable in rows:
        if variable.reason:
            print(f"{variable.name}: no effect: {variable.reason}")
            continue
        values = "0, 1" if variable.type == "flag" else variable.values
        default = f"; default {variable.default}" if variable.default else ""
        now = f"; now {given[variable.name]}" if variable.name in given else ""
        print(f"{variable.name} ({values}{default}{now}): {variable.meaning}")
    if not rows:
        print(f"no variable has {' or '.join(arguments)} in its name", file=sys.stderr)
    return 0 if rows else 1


COMMANDS = {
    "doctor": Command(
        _without_arguments("doctor", doctor.main), "what is bound, and what is missing"
    ),
    "env": Command(
        _without_arguments("env", collect_env.main), "versions and machine, for reports of problems"
    ),
    "variables": Command(
        _variables, "environment variables with their values, those whose names contain a word"
    ),
    "paths": Command(
        lambda arguments: softnpu.main(arguments, f"{PROGRAM} paths"),
        "folders of libraries, of a CANN toolkit, of CMake's package",
    ),
    "compare": Command(
        lambda arguments: accuracy.main(arguments, f"{PROGRAM} compare"),
        "compares two saved results, tensors or state dicts, element by element",
    ),
    "migrate": Command(
        lambda arguments: migrate.main(arguments, f"{PROGRAM} migrate"),
        "what in a program is written for CUDA, and what it is on npu",
    ),
    "accuracy": Command(
        accuracy_command.main,
        "runs a script; which operators differ from the CPU, in which module and line",
    ),
    "overflow": Command(
        overflow_command.main,
        "runs a script; which operator, module and line made infinities or NaN",
    ),
    "report": Command(
        report.main, "where the time of a recording went, and what to change in the program"
    ),
    "ascendc": Command(ascendc.main, "compiles kernels in Ascend C; the command ascendc"),
}


def usage() -> str:
    """The commands, one a line."""
    lines = [f"  {name:10} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join((f"usage: {PROGRAM} COMMAND [arguments]   (--version)", "", *lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; its exit code, 2 where there is no such command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("help", "-h", "--help"):
        print(usage(), file=sys.stdout if given else sys.stderr)
        return 0 if given else 2
    name, *rest = given
    if name == "--version":
        print(f"torch_npu {__version__}")
        return 0
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f": did you mean {close[0]!r}?" if close else ""
        print(f"{PROGRAM}: there is no command {name!r}{hint}\n{usage()}", file=sys.stderr)
        return 2
    return COMMANDS[name].run(rest)
