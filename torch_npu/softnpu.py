"""The location of softnpu: ``torch-npu paths --lib-dir``, ``--cann-dir``, ``--cmake-dir`` or ``--onnxruntime-provider``.

CANN applications (the official plug-in, a C program) find the software NPU if the folder of the libraries is on
``LD_LIBRARY_PATH``. Programs that are built against CANN take the other folder for an installed toolkit::

    source "$(torch-npu paths --cann-dir)/set_env.sh"

``python -m torch_npu.softnpu`` is the same command. The third folder is for ``CMAKE_PREFIX_PATH``: it has the package ``Torch_npu`` for extensions in C++.
The last is a file: the library that ``onnxruntime.register_execution_provider_library`` takes.
"""

import argparse
import hashlib
import os
import platform
import sys
from pathlib import Path

from torch_npu._core import environment


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


def cmake_dir() -> Path:
    """The folder with the CMake package ``Torch_npu``.

    Raises:
        FileNotFoundError: the native part is missing.
    """
    return lib_dir().parents[1] / "share" / "cmake"


def onnxruntime_provider() -> Path:
    """The library with the execution provider that ONNX Runtime 1.23 and newer registers.

    Raises:
        FileNotFoundError: the native part is missing.
    """
    return lib_dir().parent / "libonnxruntime_providers_ascend.so"


def _link(link: Path, target: Path) -> None:
    """Makes ``link`` a symbolic link to ``target``, in one step where another process does the same."""
    if link.is_symlink() and link.readlink() == target:
        return
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def cann_dir() -> Path:
    """A folder laid out as an installed CANN toolkit: include, lib64, bin/npu-smi, tools/profiler, opp, set_env.sh.

    Its name is ``cann``, from which programs tell where a toolkit begins. It has links to the files of this installation, and is in the folder for caches (``XDG_CACHE_HOME``, else
    ``~/.cache``), since a wheel holds no links and may be installed where the user cannot write.

    Raises:
        FileNotFoundError: the native part is missing.
        OSError: the folder cannot be written.
    """
    libraries = lib_dir()
    toolkit = libraries.parents[1] / "cann"
    if not (toolkit / "include").is_dir():
        raise FileNotFoundError(f"{toolkit} has no headers: in a checkout, run ./dev build")
    cache = environment.text("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(os.fsencode(toolkit)).hexdigest()[:12]
    folder = Path(cache).absolute() / "torch_npu" / name / "cann"
    # Operators of users are installed below it.
    (folder / "opp" / "vendors").mkdir(parents=True, exist_ok=True)
    parts = ("include", "bin", "tools", "python", "set_env.sh", f"{platform.machine()}-linux")
    for part in parts:
        _link(folder / part, toolkit / part)
    _link(folder / "lib64", libraries)
    return folder


def main(arguments: list[str], program: str = "python -m torch_npu.softnpu") -> int:
    """Prints the requested path; returns 1 with a message if it does not exist.

    Args:
        arguments: of the command.
        program: its name, for help and errors.
    """
    parser = argparse.ArgumentParser(
        prog=program,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--lib-dir", action="store_true", help="print the folder of the libraries")
    wanted.add_argument(
        "--cann-dir",
        action="store_true",
        help="print a folder laid out as an installed CANN toolkit",
    )
    wanted.add_argument(
        "--cmake-dir",
        action="store_true",
        help="print the folder of the CMake package Torch_npu",
    )
    wanted.add_argument(
        "--onnxruntime-provider",
        action="store_true",
        help="print the library with ONNX Runtime's execution provider",
    )
    options = parser.parse_args(arguments)
    try:
        if options.cann_dir:
            print(cann_dir())
        elif options.onnxruntime_provider:
            print(onnxruntime_provider())
        else:
            print(cmake_dir() if options.cmake_dir else lib_dir())
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
