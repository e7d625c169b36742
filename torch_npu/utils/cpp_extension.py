"""Builds C++ extensions that call this package or CANN."""

from pathlib import Path
from typing import Any

from setuptools import Extension
from torch.utils import cpp_extension

import torch_npu

PYTORCH_NPU_INSTALL_PATH = str(Path(torch_npu.__file__).resolve().parent)
_LIBRARIES = ("c10", "torch", "torch_cpu", "torch_python", "torch_npu")


def _include_paths() -> list[str]:
    """The headers of an installed package; in a checkout those of the sources."""
    package = Path(PYTORCH_NPU_INSTALL_PATH)
    checkout = package.parent / "softnpu" / "include"
    return [str(folder) for folder in (package / "include", checkout) if folder.is_dir()]


def _library_paths() -> list[str]:
    """Where libtorch_npu.so is: beside the native module."""
    from torch_npu import _C

    folder = Path(_C.__file__).parent / "lib"
    return [str(folder), str(folder / "cann")]


def NpuExtension(name: str, sources: list[str], *args: Any, **kwargs: Any) -> Extension:  # noqa: ANN401, N802
    """A ``setuptools.Extension`` of C++ with the headers and libraries of PyTorch, this package and CANN.

    Args:
        name: the module's name.
        sources: C++ files.
        args: further arguments of ``setuptools.Extension``.
        kwargs: the same by name; ``include_dirs``, ``library_dirs`` and ``libraries`` come first.

    Returns:
        The extension, to be built by ``torch.utils.cpp_extension.BuildExtension``.
    """
    added = {
        "include_dirs": [*_include_paths(), *cpp_extension.include_paths()],
        "library_dirs": [*_library_paths(), *cpp_extension.library_paths()],
        "libraries": list(_LIBRARIES),
    }
    for key, values in added.items():
        kwargs[key] = [*kwargs.get(key, []), *values]
    kwargs["language"] = "c++"
    return Extension(name, sources, *args, **kwargs)


__all__ = ["PYTORCH_NPU_INSTALL_PATH", "NpuExtension"]
