"""Operators of PyTorch from kernels in Ascend C."""

import ctypes
import importlib.machinery
import importlib.util
import os
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

import torch
from torch.utils import cpp_extension

from torch_npu.ascendc import binary
from torch_npu.ascendc.compiler import Options, opened
from torch_npu.ascendc.errors import AscendcError, CompileError
from torch_npu.utils._launch_site import report_launch_sites

# What a Python function says about one call of an operator: the number of blocks, the kernel's arguments, and a tiling
# key where the kernel has variants.
Launch = tuple[int, Sequence[object]] | tuple[int, Sequence[object], int]

_libraries: dict[str, torch.library.Library] = {}  # by operator: definitions live as long as these


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
                made = path.with_name(f".{path.name}.{os.getpid()}.so")
                build.finish(units, made)
                made.replace(path)
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


class Operator:
    """The implementation of an operator that launches one kernel."""

    def __init__(
        self,
        name: str,
        schema: torch._C.FunctionSchema,
        kernel: binary.Kernel,
        launch: Callable[..., Launch],
        outputs: Callable[..., object] | None,
    ) -> None:
        """``launch`` and ``outputs`` are those of load_ascendc().

        Raises:
            ValueError: there is no ``outputs``, and the schema does not say which shapes the results have.
        """
        self._name, self._schema, self._kernel, self._launch = name, schema, kernel, launch
        self._count = len(schema.returns)
        tensors = [a for a in schema.arguments if isinstance(a.type, torch._C.TensorType)]
        if outputs is None and (self._count > 1 or (self._count and not tensors)):
            raise ValueError(
                f"load_ascendc: {name} has {self._count} results: outputs=... has to allocate them"
            )
        self._outputs = outputs

    def allocate(self, *arguments: object) -> object:
        """The results without values; the Meta function."""
        if self._outputs is not None:
            return self._outputs(*arguments)
        if not self._count:
            return None
        return torch.empty_like(
            next(a for a in arguments if isinstance(a, torch.Tensor)),
            memory_format=torch.contiguous_format,
        )

    def __call__(self, *arguments: object) -> object:
        """Allocates the results and launches the kernel on the current stream."""
        given = [self._checked(i, a) for i, a in enumerate(arguments)]
        device = next((a.device for a in given if isinstance(a, torch.Tensor)), None)
        with torch.npu.device(device if device is not None else torch.npu.current_device()):
            results = self.allocate(*given)
            made = list(results) if isinstance(results, tuple | list) else [results]
            made = [r for r in made if r is not None]
            said = self._launch(*given, *made)
            key = said[2] if isinstance(said, tuple) and len(said) == 3 else 0
            if not (isinstance(said, tuple) and len(said) in (2, 3) and isinstance(said[0], int)):
                raise TypeError(
                    f"{self._name}: launch has to return (blocks, arguments) or (blocks, arguments, tiling key),"
                    f" not {said!r:.200}"
                )
            # Tiling structures live until the launch is enqueued; the allocator reuses their memory in the stream's order.
            values = [self._value(value) for value in said[1]]
            stream = torch.npu.current_stream().npu_stream
            try:
                code = self._kernel.launch(
                    said[0],
                    stream,
                    *(v.data_ptr() if isinstance(v, torch.Tensor) else v for v in values),
                    tiling_key=key,
                )
            except AscendcError as error:
                raise ValueError(f"{self._name}: {error}") from None
        if code != 0:
            raise RuntimeError(
                f"{self._name}: kernel {self._kernel.name} was not launched: {self._kernel.recent_error()}"
                f" [error {code}]"
            )
        return results

    def _checked(self, index: int, value: object) -> object:
        if not isinstance(value, torch.Tensor):
            return value
        argument = self._schema.arguments[index]
        if value.is_contiguous():
            return value
        if argument.alias_info is not None and argument.alias_info.is_write:
            raise ValueError(
                f"{self._name}: {argument.name} is written to and has to be contiguous; its strides are"
                f" {tuple(value.stride())}"
            )
        return value.contiguous()

    def _value(self, value: object) -> object:
        """An argument of the kernel: bytes become memory of the device."""
        if isinstance(value, bytes | bytearray):
            return torch.frombuffer(bytearray(value), dtype=torch.uint8).npu()
        if isinstance(value, torch.Tensor) and value.device.type != "npu":
            raise ValueError(
                f"{self._name}: launch passes a tensor on {value.device}: kernels read memory of the npu"
            )
        return value


def define(
    name: str,
    path: Path,
    schema: str,
    launch: Callable[..., Launch],
    outputs: Callable[..., object] | None,
    kernel: str | None,
    backward: Callable[..., object] | None,
    setup_context: Callable[..., None] | None,
) -> Callable[..., object]:
    """Defines the operator; a definition of the same name by load_ascendc() is replaced.

    Raises:
        RuntimeError: the schema or the kernel's name is wrong.
        ValueError: as Operator does.
    """
    parsed = torch._C.parse_schema(schema)
    space, _, short = parsed.name.rpartition("::")
    space = space or name
    qualified = f"{space}::{short}"
    try:
        compiled = binary.Kernel(ctypes.CDLL(str(path)), path, kernel or short)
    except AscendcError as error:
        raise RuntimeError(f"load_ascendc({name!r}): {error}") from None
    report_launch_sites()
    operator = Operator(qualified, parsed, compiled, launch, outputs)
    if qualified in _libraries:
        _libraries.pop(qualified)._destroy()
    library = torch.library.Library(space, "FRAGMENT")
    library.define(schema.split("::")[-1] if schema.startswith(f"{space}::") else schema)
    _libraries[qualified] = library
    library.impl(short, operator, "PrivateUse1")
    torch.library.register_fake(qualified, operator.allocate, lib=library)
    if backward is not None:
        torch.library.register_autograd(
            qualified, backward, setup_context=setup_context, lib=library
        )
    return getattr(getattr(torch.ops, space), short)
