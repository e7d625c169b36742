"""``msprof``: exports and analyses profiles of a software NPU, and collects them.

msprof --export=on --output=PROF_FOLDER [--type=text|db]
msprof --analyze=on --output=PROF_FOLDER [--type=text|db]
msprof --output=FOLDER --application="python train.py"
msprof --output=FOLDER python train.py
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import communication
import export
from records import Profile, ProfileError, find, read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="msprof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    switch = {"choices": ("on", "off"), "default": "off"}
    parser.add_argument("--export", **switch, help="write the files of the profiles in --output")
    parser.add_argument("--analyze", **switch, help="write the analysis of their communication")
    parser.add_argument("--output", type=Path, help="a folder PROF_*, or one that holds some")
    parser.add_argument(
        "--type", choices=("text", "db"), default="text", help="tables and timeline, or a database"
    )
    parser.add_argument("--application", help="a command that is run and recorded")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the same, as separate words")
    return parser


def _for_each(folder: Path, write: Callable[[Profile], list[Path]]) -> None:
    for profile in find(folder):
        for path in write(read(profile)):
            print(path)


def _collect(command: list[str], output: Path) -> int:
    """Runs ``command`` with a profile of all its work on NPUs, exports it, and returns the command's status."""
    output.mkdir(parents=True, exist_ok=True)
    before = set(output.glob("PROF_*"))
    # PROFILER_SAMPLECONFIG tells torch_npu.profiler that a profile is being collected.
    environment = {
        **os.environ,
        "SOFTNPU_PROFILE": str(output.resolve()),
        "PROFILER_SAMPLECONFIG": "{}",
    }
    try:
        status = subprocess.run(command, env=environment).returncode
    except OSError as error:
        raise ProfileError(f"{command[0]}: cannot be run ({error.strerror})") from None
    result = sorted(set(output.glob("PROF_*")) - before)
    if not result:
        raise ProfileError(
            f"{command[0]}: did no work on an NPU of softnpu: there is no profile in {output}"
        )
    for folder in result:
        _for_each(folder, export.write_text)
        _for_each(folder, communication.write_text)
    return status if status >= 0 else 128 - status


def main(arguments: Sequence[str]) -> int:
    """Returns 0, the status of the command that was collected, or 1 after one sentence about what is wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    command = shlex.split(options.application) if options.application else options.command
    is_on = [options.export == "on", options.analyze == "on", bool(command)]
    if sum(is_on) != 1:
        parser.error("choose one of --export=on, --analyze=on and a command to run")
    try:
        if command:
            return _collect(command, options.output or Path.cwd())
        if options.output is None:
            parser.error("--output is missing: a folder PROF_*, or one that holds some")
        if options.export == "on":
            write = export.write_database if options.type == "db" else export.write_text
        else:
            write = (
                communication.write_database if options.type == "db" else communication.write_text
            )
        _for_each(options.output, write)
        return 0
    except ProfileError as error:
        print(f"msprof: {error}", file=sys.stderr)
    except OSError as error:
        print(f"msprof: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
