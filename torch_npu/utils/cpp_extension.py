"""Builds C++ extensions that call this package or CANN.

An extension includes the headers below ``include_paths()`` and links ``libtorch_npu.so`` and ``libascendcl.so``. When
it is imported both are loaded already, so that it needs no path of them.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Extension
from torch.utils import cpp_extension

import torch_npu
from torch_npu import _load


def _install_path() -> Path:
    """The folder with the headers and libraries: the package, in a checkout that of the build."""
    try:
        return _load._package_dir()
    except _load.LoadError:  # import torch succeeds without the native part
        return Path(torch_npu.__file__).resolve().parent


PYTORCH_NPU_INSTALL_PATH = str(_install_path())
_LIBRARIES = ("torch_npu", "ascendcl")
_TORCH_LIBRARIES = ("c10", "torch", "torch_cpu", "torch_python")
_INCLUDED = (
    "",
    "third_party/acl/inc",
    "third_party/op-plugin",
    "third_party/op-plugin/op_plugin/include",
)


def include_paths() -> list[str]:
    """The folders of headers: ``torch_npu/csrc/...``, ``acl/acl.h``, ``aclnnop/...``, ``op_plugin/...``."""
    folder = Path(PYTORCH_NPU_INSTALL_PATH, "include")
    return [str(folder / part) for part in _INCLUDED]


def library_paths() -> list[str]:
    """The folders of ``libtorch_npu.so`` and of CANN's libraries."""
    folder = Path(PYTORCH_NPU_INSTALL_PATH, "lib")
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
        "include_dirs": [*include_paths(), *cpp_extension.include_paths()],
        "library_dirs": [*library_paths(), *cpp_extension.library_paths()],
        "libraries": [*_TORCH_LIBRARIES, *_LIBRARIES],
    }
    for key, values in added.items():
        kwargs[key] = [*kwargs.get(key, []), *values]
    kwargs["language"] = "c++"
    return Extension(name, sources, *args, **kwargs)


def load(
    name: str,
    sources: str | Iterable[str],
    extra_cflags: Iterable[str] = (),
    extra_ldflags: Iterable[str] = (),
    extra_include_paths: Iterable[str] = (),
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Builds an extension at run time and imports it: ``torch.utils.cpp_extension.load`` with npu's paths.

    Args:
        name: the module's name.
        sources: C++ files.
        extra_cflags: further flags of the compiler.
        extra_ldflags: further flags of the linker.
        extra_include_paths: further folders of headers, which come first.
        build_directory: where to build; by default a folder for caches, as PyTorch has it.
        verbose: print the commands.

    Returns:
        The module.

    Raises:
        RuntimeError: it does not compile.
    """
    paths = [f"-L{folder}" for folder in library_paths()]
    return cpp_extension.load(
        name,
        sources if isinstance(sources, str) else list(sources),
        extra_cflags=list(extra_cflags),
        extra_ldflags=[*extra_ldflags, *paths, *(f"-l{library}" for library in _LIBRARIES)],
        extra_include_paths=[*extra_include_paths, *include_paths()],
        build_directory=None if build_directory is None else os.fspath(build_directory),
        verbose=verbose,
    )


__all__ = ["PYTORCH_NPU_INSTALL_PATH", "NpuExtension", "include_paths", "library_paths", "load"]
