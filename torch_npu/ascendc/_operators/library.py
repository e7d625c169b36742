"""Libraries of kernels in Ascend C, compiled at run time."""

import importlib.machinery
import importlib.util
import os
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import torch
from torch.utils import cpp_extension

from torch_npu.ascendc._operators.launch_site import report_launch_sites
from torch_npu.ascendc.compiler import Options, opened
from torch_npu.ascendc.errors import AscendcError, CompileError


def compile_library(name: str, options: Options, folder: Path) -> Path:
    """Compiles into ``folder``, unless the same sources were compiled before; the library's path.

    Raises:
        RuntimeError: it does not compile; the text has what the compiler says.
    """
    try:
        with opened(options) as build:
            units = build.prepare()
            path = folder / f"{name}_{build.key(units)}.so"
            if not path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                result = path.with_name(f".{path.name}.{os.getpid()}.so")
                build.finish(units, result)
                result.replace(path)
            return path
    except CompileError as error:
        raise RuntimeError(f"load_ascendc({name!r}): {error}\n{error.output}") from None
    except AscendcError as error:
        raise RuntimeError(f"load_ascendc({name!r}): {error}") from None


def torch_options(
    name: str, include_paths: Iterable[str], library_paths: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Flags of compiler and linker for sources that include PyTorch's headers."""
    # -isystem: the driver reads no launches in them.
    folders = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]]
    flags = [flag for folder in folders for flag in ("-isystem", folder)]
    flags += [f"-I{folder}" for folder in include_paths]
    flags.append(f"-DTORCH_EXTENSION_NAME={name}")
    links = [f"-L{folder}" for folder in (*library_paths, *cpp_extension.library_paths())]
    names = ("c10", "torch", "torch_cpu", "torch_python", "torch_npu")
    return flags, [*links, *(f"-l{library}" for library in names)]


def import_library(name: str, path: Path) -> ModuleType:
    """The module of a library with PYBIND11_MODULE; otherwise ``torch.ops.<name>``, for TORCH_LIBRARY."""
    report_launch_sites()
    if f"PyInit_{name}".encode() in path.read_bytes():
        loader = importlib.machinery.ExtensionFileLoader(name, str(path))
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    torch.ops.load_library(path)
    return getattr(torch.ops, name)
