"""The location of softnpu: ``python -m torch_npu.softnpu --lib-dir``.

CANN applications (the official plug-in, a C program) find the software NPU if this folder is on ``LD_LIBRARY_PATH``.
"""

import argparse
import sys
from pathlib import Path


def lib_dir() -> Path:
    """The folder with softnpu's libraries under CANN's names.

    Raises:
        FileNotFoundError: the native part is missing.
    """
    package = Path(__file__).absolute().parent
    # In a wheel beside the sources; in a checkout in the build folder, and the sources may be links.
    source = Path(__file__).resolve().parent
    for folder in (package, source.parent / "build" / "python" / "torch_npu"):
        libraries = folder / "lib" / "cann"
        if (libraries / "libascendcl.so").exists():
            return libraries
    raise FileNotFoundError(
        f"softnpu's libraries are not beside {package}: in a checkout, run ./dev build"
    )


def main(arguments: list[str]) -> int:
    """Prints the requested path; returns 1 with a message if it does not exist."""
    parser = argparse.ArgumentParser(prog="python -m torch_npu.softnpu", description=__doc__)
    parser.add_argument(
        "--lib-dir", action="store_true", required=True, help="print the folder of the libraries"
    )
    parser.parse_args(arguments)
    try:
        print(lib_dir())
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
