"""The C++ compiler of this machine."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from .errors import AscendcError

_LEAST = {"g++": 12, "clang++": 16}  # C++20 with std::source_location and _Float16
_WAYS = "install g++ 12 or newer (Debian, Ubuntu: apt-get install g++), or set CXX to a compiler"


def find() -> list[str]:
    """The command of the compiler: ``$CXX``, else c++, g++ or clang++.

    Raises:
        AscendcError: there is none, or it is too old.
    """
    named = os.environ.get("CXX", "").split()
    if named:
        if shutil.which(named[0]) is None:
            raise AscendcError(f"CXX={' '.join(named)}: there is no such program; {_WAYS}")
        command = named
    else:
        program = next((p for p in ("c++", "g++", "clang++") if shutil.which(p)), None)
        if program is None:
            raise AscendcError(f"there is no C++ compiler (c++, g++, clang++) on PATH: {_WAYS}")
        command = [program]
    _check(command)
    return command


def _check(command: Sequence[str]) -> None:
    asked = [*command, "-dM", "-E", "-x", "c++", os.devnull]
    done = subprocess.run(asked, capture_output=True, text=True)
    macros = dict(re.findall(r"^#define (__clang_major__|__GNUC__) (\d+)$", done.stdout, re.M))
    if done.returncode != 0 or not macros:
        raise AscendcError(f"{' '.join(command)} is no g++ or clang++: {_WAYS}")
    kind = "clang++" if "__clang_major__" in macros else "g++"
    version = int(macros["__clang_major__" if kind == "clang++" else "__GNUC__"])
    if version < _LEAST[kind]:
        raise AscendcError(
            f"{' '.join(command)} is {kind} {version}, which lacks parts of C++20: {kind} {_LEAST[kind]} is needed;"
            f" {_WAYS}"
        )
