"""Builds C++ extensions that call this package or CANN.

An extension includes the headers below ``include_paths()`` and links ``libtorch_npu.so`` and ``libascendcl.so``. When
it is imported both are loaded already, so that it needs no path of them.
"""

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Extension
from torch.utils import cpp_extension

from torch_npu import _load
from torch_npu.ascendc._operators import definition, library
from torch_npu.ascendc._operators.operator import Launch
from torch_npu.ascendc.compiler import Options


def _install_path() -> Path:
    """The folder with the headers and libraries: the package, in a checkout that of the build."""
    try:
        return _load.package_dir()
    except _load.LoadError:  # import torch succeeds without the native part
        return Path(__file__).resolve().parents[1]


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
        extra_cflags: further flags of the compiler; a string holds them as a shell takes them.
        extra_ldflags: further flags of the linker, the same.
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


_Path = str | os.PathLike[str]


def _paths(given: _Path | Iterable[_Path]) -> list[Path]:
    """One path or several."""
    return [Path(given)] if isinstance(given, str | os.PathLike) else [Path(path) for path in given]


def _flags(given: str | Iterable[str]) -> list[str]:
    """Flags one by one, or as a shell takes them."""
    return shlex.split(given) if isinstance(given, str) else list(given)


def load_ascendc(
    name: str,
    sources: _Path | Iterable[_Path],
    schema: str | None = None,
    *,
    launch: Callable[..., Launch] | None = None,
    outputs: Callable[..., Any] | None = None,
    kernel: str | None = None,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., None] | None = None,
    tiling: _Path | Iterable[_Path] = (),
    extra_cflags: str | Iterable[str] = (),
    extra_ldflags: str | Iterable[str] = (),
    extra_include_paths: _Path | Iterable[_Path] = (),
    build_directory: _Path | None = None,
) -> Any:  # noqa: ANN401
    """Compiles kernels in Ascend C at run time and makes an operator of one of them.

    With ``schema`` the sources need no code of PyTorch::

        add = load_ascendc(
            "my_ops", "add_custom.asc", "add_custom(Tensor x, Tensor y) -> Tensor",
            launch=lambda x, y, z: (8, (x, y, z, x.numel())),
        )

    ``torch.ops.my_ops.add_custom`` is then an operator of npu tensors: it runs on the current stream, works on meta
    tensors and in ``torch.compile``, and has gradients where ``backward`` gives them. Without ``schema`` the sources
    define operators or a module themselves, with TORCH_LIBRARY or PYBIND11_MODULE.

    Args:
        name: of the module, and the operator's namespace unless ``schema`` has one.
        sources: ``.asc`` or ``.cpp`` files. Compiled results are kept, and reused for the same sources, headers and
            flags.
        schema: of the operator, in PyTorch's language. Tensors that the kernel writes to are ``Tensor(a!)``.
        launch: gets the operator's arguments in the schema's order, also those with default values, then its results;
            returns the number of blocks and the kernel's arguments, and as a third value the tiling key of a kernel
            that asks TILING_KEY_IS. Tensors become addresses of their first elements, and bytes (of a tiling structure)
            the address of a copy on the device; numbers stay. Input tensors are contiguous.
        outputs: gets the operator's arguments and allocates its results, a tensor or a tuple of them. By default one
            result like the first tensor. It is the operator's Meta function as well; there, too, tensors are contiguous.
        kernel: the name of the kernel, by default the operator's.
        backward: the gradients, as :func:`torch.library.register_autograd` takes it. Without it, backward through the
            operator is an error.
        setup_context: the same.
        tiling: headers for the host with BEGIN_TILING_DATA_DEF, for kernels with GET_TILING_DATA.
        extra_cflags: further flags of the compiler.
        extra_ldflags: further flags of the linker.
        extra_include_paths: further folders of headers.
        build_directory: where to compile; by default a folder for caches, as PyTorch has it (TORCH_EXTENSIONS_DIR).

    Returns:
        The operator; without ``schema`` the module, or ``torch.ops.<name>``.

    Raises:
        RuntimeError: it does not compile, has no such kernel, or the schema is wrong.
        ValueError: ``schema`` without ``launch``, one of the others without ``schema``, no sources, or a result that is
            an argument.
    """
    if (schema is None) != (launch is None):
        raise ValueError(
            f"load_ascendc({name!r}): schema and launch belong together: a schema needs launch=..., a function that "
            "returns (blocks, arguments)"
        )
    if schema is None and any(x is not None for x in (outputs, kernel, backward, setup_context)):
        raise ValueError(
            f"load_ascendc({name!r}): outputs, kernel, backward and setup_context belong to a schema"
        )
    paths = _paths(sources)
    if not paths:
        raise ValueError(f"load_ascendc({name!r}): there are no sources")
    flags = [*_flags(extra_cflags), *(f"-I{folder}" for folder in _paths(extra_include_paths))]
    links = _flags(extra_ldflags)
    if schema is None:
        more = library.torch_options(name, include_paths(), library_paths())
        flags, links = [*flags, *more[0]], [*links, *more[1]]
    options = Options(
        sources=tuple(paths),
        flags=tuple(flags),
        links=tuple(links),
        tiling=tuple(_paths(tiling)),
    )
    folder = build_directory or cpp_extension._get_build_directory(name, verbose=False)
    path = library.compile_library(name, options, Path(folder))
    if schema is None or launch is None:
        return library.import_library(name, path)
    return definition.define(name, path, schema, launch, outputs, kernel, backward, setup_context)


__all__ = [
    "PYTORCH_NPU_INSTALL_PATH",
    "NpuExtension",
    "include_paths",
    "library_paths",
    "load",
    "load_ascendc",
]
