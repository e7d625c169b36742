"""What a report of a problem needs to say about the machine: ``torch-npu env``, ``python -m torch_npu.utils.collect_env``."""

import os
import warnings
from collections import namedtuple
from pathlib import Path

import torch
from torch.utils import collect_env as of_torch

from torch_npu._core import environment, state
from torch_npu.version import __version__

# Line by line: the field, its heading; a heading that ends in a line break has the value below it.
_LINES = {
    "torch_version": "PyTorch version: ",
    "torch_npu_version": "Torch-npu version: ",
    "is_debug_build": "Is debug build: ",
    "os": "OS: ",
    "gcc_version": "GCC version: ",
    "clang_version": "Clang version: ",
    "cmake_version": "CMake version: ",
    "libc_version": "Libc version: ",
    "python_version": "\nPython version: ",
    "python_platform": "Python platform: ",
    "is_xnnpack_available": "Is XNNPACK available: ",
    "cpu_info": "\nCPU:\n",
    "cann_version": "\nCANN:\n",
    "pip_packages": "\nVersions of relevant libraries:\n",
    "conda_packages": "",
}
_UNPRINTED = ("pip_version", "caching_allocator_config")
SystemEnv = namedtuple("SystemEnv", [*_LINES, *_UNPRINTED])
_ALLOCATOR_VARIABLES = ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def get_torch_npu_install_path() -> str:
    """The folder that has the package ``torch_npu``."""
    return str(Path(__file__).parents[2])


def check_directory_path_readable(path: str | os.PathLike) -> None:
    """Checks that a file or folder exists, is no symbolic link and may be read.

    Raises:
        RuntimeError: one of them is not so.
    """
    if not os.path.exists(path):
        raise RuntimeError(f"The path does not exist: {path}")
    if os.path.islink(path):
        raise RuntimeError(f"Invalid path is a symbolic link: {path}")
    if not os.access(path, os.R_OK):
        raise RuntimeError(f"The path permission check failed: {path}")


def check_path_owner_consistent(path: str) -> None:
    """Deprecated: checks only that ``path`` exists.

    Raises:
        RuntimeError: it does not.
    """
    warnings.warn(
        "check_path_owner_consistent does not check the owner: use check_directory_path_readable",
        FutureWarning,
        stacklevel=2,
    )
    if not os.path.exists(path):
        raise RuntimeError(f"The path does not exist: {path}")


def get_cann_version() -> str:
    """The version of the bound CANN, and softnpu's if it is that; else why there is none."""
    if not state.is_loaded():
        return f"none: {state.unavailable_reason()}"
    softnpu = state.native().softnpu_version()
    version = state.native().cann_version()
    return f"{version} (softnpu {softnpu})" if softnpu else str(version)


def get_torch_npu_version() -> str:
    """The version of this package."""
    return __version__


def get_env_info() -> SystemEnv:
    """Versions of PyTorch, this package, compilers, system, CPU and CANN; None for what cannot be found."""
    of_pytorch = of_torch.get_env_info()
    own = {
        "torch_npu_version": get_torch_npu_version(),
        "cann_version": get_cann_version(),
        "caching_allocator_config": " ".join(
            f"{name}={value}"
            for name, value in environment.all_set()
            if name in _ALLOCATOR_VARIABLES
        ),
        "torch_version": torch.__version__,
    }
    return SystemEnv(
        **{name: own.get(name, getattr(of_pytorch, name, None)) for name in SystemEnv._fields}
    )


def _shown(value: object, tag: str = "") -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if value is None:
        return f"{tag}Could not collect"
    if tag and not value:
        return f"{tag}No relevant packages"
    return "\n".join(tag + line for line in str(value).split("\n"))


def pretty_str(envinfo: SystemEnv) -> str:
    """The report of :func:`get_env_info` as text."""
    tags = {"pip_packages": f"[{envinfo.pip_version}] ", "conda_packages": "[conda] "}
    return "\n".join(
        heading + _shown(getattr(envinfo, name), tags.get(name, ""))
        for name, heading in _LINES.items()
    )


def get_pretty_env_info() -> str:
    """The report about this machine as text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Prints the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
