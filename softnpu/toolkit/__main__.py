"""Writes the toolkit's folder: ``python -m softnpu.toolkit --output FOLDER TABLE...``.

Below FOLDER: ``include/acl``, ``include/aclnn``, ``include/aclnnop`` with a header for each family of operators,
``ascendc/include`` for kernels, ``bin`` with ``ascendc`` and ``npu-smi``, ``tools/profiler`` with ``msprof``,
``python/site-packages`` with the module ``acl``, data files below ``x86_64-linux`` or ``aarch64-linux``, and
``set_env.sh``. ``lib64`` is the folder of the libraries; torch_npu/softnpu.py links it.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from softnpu.opgen.model import Operator, header_of
from softnpu.opgen.parse import parse
from softnpu.toolkit import platform_files
from softnpu.toolkit.headers import HeaderError, headers, read_names

_SOURCE = Path(__file__).resolve().parent
_INCLUDE = _SOURCE.parent / "include"
_KERNEL_INCLUDE = _SOURCE.parent / "ascendc" / "include"
# softnpu/include/softnpu is of this project only.
_COPIED = ("acl", "aclnn", "dcmi", "driver", "mstx", "profiling", "runtime")
# Programs include aclnn_base.h for the functions that make the objects.
_BASE = "aclnn/aclnn_base.h"
_BASE_MORE = '\n#include "aclnn/acl_meta.h"\n'
_ONCE = "#pragma once\n"
_BOOL = "#include <stdbool.h>\n"  # for C


def _by_hand() -> dict[str, str]:
    """The headers of aclnnop that are written by hand: name to text."""
    return {path.name: path.read_text() for path in sorted((_INCLUDE / "aclnnop").glob("*.h"))}


def _make_relative(include: Path) -> None:
    """Lets the headers include one another relatively, so that they need no folder on the compiler's path."""
    for header in include.rglob("*.h"):

        def relative(found: re.Match[str], folder: Path = header.parent) -> str:
            return f'#include "{os.path.relpath(include / found[1], folder)}"'

        header.write_text(
            re.sub(r'#include "(acl(?:nn|nnop)?/[^"]+)"', relative, header.read_text())
        )


def _write_kernel_headers(output: Path) -> None:
    """What the driver ``ascendc`` compiles kernels with."""
    shutil.copytree(_KERNEL_INCLUDE, output)
    (output / "softnpu").mkdir()
    shutil.copy(_INCLUDE / "softnpu" / "kernel_entry.h", output / "softnpu")


def _write_profiler(output: Path) -> None:
    """The program ``msprof``, at the place where an installed toolkit has it."""
    program = output / "profiler_tool" / "analysis" / "msprof"
    shutil.copytree(
        _SOURCE / "msprof", program, ignore=shutil.ignore_patterns("__pycache__", "msprof")
    )
    (output / "bin").mkdir()
    shutil.copy(_SOURCE / "msprof" / "msprof", output / "bin")


def write(output: Path, operators: Iterable[Operator]) -> None:
    """Writes the folder anew.

    Raises:
        HeaderError: headers.txt names a function that no table has.
    """
    shutil.rmtree(output, ignore_errors=True)
    for name in _COPIED:
        shutil.copytree(_INCLUDE / name, output / "include" / name)
    base = output / "include" / _BASE
    base.write_text(base.read_text().replace(_ONCE, _ONCE + _BOOL, 1) + _BASE_MORE)
    folder = output / "include" / "aclnnop"
    folder.mkdir()
    by_hand = _by_hand()
    written = headers(operators, read_names(_SOURCE / "headers.txt"))
    # aclnnCalculateMatmulWeightSizeV2 is no operator of a table: the header of the conversion includes it.
    size = "aclnn_calculate_matmul_weight_size_v2.h"
    written[header_of("aclnnTransMatmulWeight")] += f'\n#include "aclnnop/{size}"\n'
    for name, text in (written | by_hand).items():
        (folder / name).write_text(text)
    _make_relative(output / "include")
    for name in ("bin", "python"):
        shutil.copytree(_SOURCE / name, output / name, ignore=shutil.ignore_patterns("__pycache__"))
    platform_files.write(
        output, platform_files.cann_version(_SOURCE.parent / "ascendcl" / "init.cpp")
    )
    _write_profiler(output / "tools" / "profiler")
    _write_kernel_headers(output / "ascendc" / "include")
    shutil.copy(_SOURCE / "set_env.sh", output / "set_env.sh")


def main(arguments: list[str]) -> int:
    """Writes the folder; returns 1 and prints one sentence if a name is unknown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("tables", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    try:
        write(options.output, [o for table in options.tables for o in parse(table).operators])
    except HeaderError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
