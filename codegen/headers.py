"""``python -m codegen.headers``: writes the folder of headers that C++ extensions include.

Below the output: the headers of the plug-in's extension interface as they are, the generated functions of namespace
``npu``, and CANN's headers under ``third_party/acl/inc``. CANN's are one line each, which includes the toolkit's: a
program that includes both paths sees each declaration once. Unchanged files stay untouched, so that nothing is
compiled again.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Where extensions include the generated functions of namespace npu from, through CustomFunctions.h.
GENERATED = "torch_npu/csrc/aten/GeneratedFunctions.h"
CANN = "third_party/acl/inc"


def _copies(source: Path) -> Iterator[tuple[str, str]]:
    for header in sorted(source.rglob("*.h")):
        yield header.relative_to(source).as_posix(), header.read_text()


def _forwarders(toolkit: Path, output: Path) -> Iterator[tuple[str, str]]:
    for header in sorted(toolkit.rglob("*.h")):
        name = f"{CANN}/{header.relative_to(toolkit).as_posix()}"
        target = os.path.relpath(header, (output / name).parent)
        yield name, f'#pragma once\n\n#include "{target}"\n'


def write(source: Path, generated: Path, toolkit: Path, output: Path) -> None:
    """Writes ``output`` and removes what is no longer part of it.

    Args:
        source: the headers of the extension interface.
        generated: the generated functions' header.
        toolkit: the headers of CANN, in the same package as ``output``.
        output: the folder to write.
    """
    files = dict(_copies(source)) | {GENERATED: generated.read_text()}
    files |= dict(_forwarders(toolkit, output))
    for name, text in files.items():
        path = output / name
        if path.is_file() and path.read_text() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in output.rglob("*"):
        if path.is_file() and path.relative_to(output).as_posix() not in files:
            path.unlink()


def main(arguments: list[str]) -> int:
    """Writes the folder."""
    parser = argparse.ArgumentParser(prog="python -m codegen.headers", description=__doc__)
    for name in ("source", "generated", "toolkit", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args(arguments)
    write(options.source, options.generated, options.toolkit, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
