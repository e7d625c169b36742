"""softnpu's operator library in Python, without the plug-in: ctypes, torch tensors on the host, and device memory."""

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from softnpu.opgen.model import OBJECTS, Argument, Operator
from softnpu.opgen.parse import parse

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "softnpu" / "ops"

DTYPES = {
    torch.float32: 0,
    torch.float16: 1,
    torch.int8: 2,
    torch.int32: 3,
    torch.uint8: 4,
    torch.int16: 6,
    torch.uint16: 7,
    torch.uint32: 8,
    torch.int64: 9,
    torch.uint64: 10,
    torch.float64: 11,
    torch.bool: 12,
    torch.complex64: 16,
    torch.complex128: 17,
    torch.bfloat16: 27,
    torch.complex32: 33,
}
FORMAT_ND = 2
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
_VALUES = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "dtype": ctypes.c_int32,
    "string": ctypes.c_char_p,
}


@dataclass(frozen=True)
class Blocks:
    """A tensor in a blocked format: ``held`` is its memory, ``sizes`` and ``strides`` (None: contiguous) are those that
    a program sees. With the format ND and ``dtype`` INT4 two elements are a byte of ``held``."""

    held: torch.Tensor
    sizes: tuple[int, ...]
    format: int
    strides: tuple[int, ...] | None = None
    dtype: int | None = None
    offset: int = 0


class AclnnError(RuntimeError):
    """The error of a function that did not return 0."""

    def __init__(self, code: int, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


@functools.cache
def operators() -> dict[str, Operator]:
    """All operators of all tables by name."""
    tables = sorted(OPS.glob("*/*/operators.txt"))
    return {operator.name: operator for table in tables for operator in parse(table).operators}


@functools.cache
def family(name: str) -> str:
    """The folder of the operator's table."""
    for table in OPS.glob("*/*/operators.txt"):
        if name in {operator.name for operator in parse(table).operators}:
            return table.parent.name
    raise KeyError(name)


def layout_of(tensor: torch.Tensor) -> str:
    """The layout of a tensor: ``empty``, ``scalar``, ``dense``, ``permuted``, ``broadcast`` or ``gaps``."""
    if tensor.numel() == 0:
        return "empty"
    if tensor.dim() == 0:
        return "scalar"
    if tensor.is_contiguous():
        return "dense"
    if any(
        stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape, strict=True)
    ):
        return "broadcast"
    order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return "permuted" if tensor.permute(order).is_contiguous() else "gaps"


class _Memory:
    """A block of device memory with a copy of host bytes."""

    def __init__(self, library: "Library", size: int):
        self._library = library
        self.size = size
        self.address = ctypes.c_void_p()
        library.check("aclrtMalloc", ctypes.byref(self.address), ctypes.c_size_t(max(size, 1)), 0)

    def write(self, host: int) -> None:
        self._copy(self.address, host, HOST_TO_DEVICE)

    def read(self, host: int) -> None:
        self._copy(host, self.address, DEVICE_TO_HOST)

    def _copy(self, to: object, source: object, kind: int) -> None:
        size = ctypes.c_size_t(self.size)
        if self.size:
            to, source = (
                x if isinstance(x, ctypes.c_void_p) else ctypes.c_void_p(x) for x in (to, source)
            )
            self._library.check("aclrtMemcpy", to, size, source, size, kind)

    def free(self) -> None:
        self._library.check("aclrtFree", self.address)


class Library:
    """libopapi and its dependencies, from ``folder``; sets device 0 and creates a stream."""

    def __init__(self, folder: Path):
        self.runtime = ctypes.CDLL(str(folder / "libascendcl.so"))
        self.objects = ctypes.CDLL(str(folder / "libnnopbase.so"))
        self.operators = ctypes.CDLL(str(folder / "libopapi.so"))
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name in ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray"):
            getattr(self.objects, f"aclCreate{name}").restype = ctypes.c_void_p
        for name in ("TensorList", "ScalarList"):
            getattr(self.objects, f"aclCreate{name}").restype = ctypes.c_void_p
        # (operator, dtype, layout) of every tensor argument. Read by conftest.py.
        self.ran: set[tuple[str, str, str]] = set()
        self.runtime.aclInit(None)  # a plug-in in this process may have called it already
        self.check("aclrtSetDevice", 0)
        self.stream = ctypes.c_void_p()
        self.check("aclrtCreateStream", ctypes.byref(self.stream))

    def message(self) -> str:
        message = self.runtime.aclGetRecentErrMsg()
        return "" if message is None else message.decode()

    def check(self, name: str, *arguments: object) -> None:
        code = getattr(self.runtime, name)(*arguments)
        if code != 0:
            raise AclnnError(code, self.message())

    def call(self, name: str, *arguments: object) -> None:
        """Runs an operator on host tensors; its outputs are copied back to them.

        The arguments are those of its table: tensors, numbers, sequences; None for optional ones. Raises AclnnError.
        """
        Call(self, operators()[name]).run(arguments)
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        tensors += [a.held for a in arguments if isinstance(a, Blocks)]
        for given in arguments:
            if isinstance(given, list | tuple):
                tensors += [item for item in given if isinstance(item, torch.Tensor)]
        for tensor in tensors:
            self.ran.add((name, str(tensor.dtype).removeprefix("torch."), layout_of(tensor)))


class Call:
    """One call, with its descriptors and device memory until it has run."""

    def __init__(self, library: Library, operator: Operator):
        self._library = library
        self._operator = operator
        self._memory: dict[int, tuple[torch.UntypedStorage, _Memory]] = {}
        self._result: list[tuple[str, ctypes.c_void_p]] = []
        self._written: list[tuple[torch.Tensor, ctypes.c_void_p]] = []

    def run(self, arguments: Sequence[object]) -> None:
        wanted = self._operator.arguments
        if len(arguments) != len(wanted):
            raise TypeError(f"{self._operator.name} takes {len(wanted)} arguments")
        try:
            converted = [
                self._convert(argument, value)
                for argument, value in zip(wanted, arguments, strict=True)
            ]
            self._launch(converted)
        finally:
            self._release()

    def _launch(self, converted: list[object]) -> None:
        library, name = self._library, self._operator.name
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        first = getattr(library.operators, f"{name}GetWorkspaceSize")
        code = first(*converted, ctypes.byref(size), ctypes.byref(executor))
        if code != 0:
            raise AclnnError(code, library.message())
        workspace = _Memory(library, size.value) if size.value else None
        address = workspace.address if workspace else None
        try:
            code = getattr(library.operators, name)(address, size, executor, library.stream)
            if code != 0:
                raise AclnnError(code, library.message())
            library.check("aclrtSynchronizeStream", library.stream)
        finally:
            if workspace:
                workspace.free()
        for storage, memory in self._memory.values():
            memory.read(storage.data_ptr())

    def _convert(self, argument: Argument, value: object) -> object:
        if argument.type not in OBJECTS:
            if argument.type == "dtype":
                value = DTYPES[value]
            elif argument.type == "string":
                value = value.encode()
            return _VALUES[argument.type](value)
        if value is None:
            return None
        return getattr(self, f"_{argument.type.lower()}")(value)

    def _keep(self, kind: str, handle: int | None) -> ctypes.c_void_p:
        if handle is None:
            raise AclnnError(0, self._library.message())
        result = ctypes.c_void_p(handle)
        self._result.append((kind, result))
        return result

    def _describe(self, given: torch.Tensor | Blocks) -> int | None:
        tensor = given.held if isinstance(given, Blocks) else given
        storage = tensor.untyped_storage()
        key = storage.data_ptr()
        if key not in self._memory or storage.nbytes() == 0:
            memory = _Memory(self._library, storage.nbytes())
            memory.write(storage.data_ptr())
            self._memory[key if storage.nbytes() else id(memory)] = (storage, memory)
        else:
            memory = self._memory[key][1]
        sizes, held = tensor.shape, [storage.nbytes() // tensor.element_size()]
        strides: object = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
        dtype, offset = DTYPES[tensor.dtype], tensor.storage_offset()
        if isinstance(given, Blocks):
            dtype, offset = dtype if given.dtype is None else given.dtype, offset + given.offset
        if isinstance(given, Blocks):
            sizes, held, strides = given.sizes, tensor.shape, None
            if given.strides is not None:
                strides = (ctypes.c_int64 * len(sizes))(*given.strides)
        return self._library.objects.aclCreateTensor(
            (ctypes.c_int64 * len(sizes))(*sizes),
            ctypes.c_uint64(len(sizes)),
            dtype,
            strides,
            ctypes.c_int64(offset),
            given.format if isinstance(given, Blocks) else FORMAT_ND,
            (ctypes.c_int64 * len(held))(*held),
            ctypes.c_uint64(len(held)),
            memory.address,
        )

    def _tensor(self, tensor: torch.Tensor | Blocks) -> ctypes.c_void_p:
        return self._keep("Tensor", self._describe(tensor))

    def _scalar(self, value: object) -> ctypes.c_void_p:
        return self._keep("Scalar", self._number(value))

    def _number(self, value: object) -> int | None:
        number = value if isinstance(value, torch.Tensor) else torch.tensor(value)
        if isinstance(value, float):
            number = torch.tensor(value, dtype=torch.float64)
        if isinstance(value, complex):
            number = torch.tensor(value, dtype=torch.complex128)
        return self._library.objects.aclCreateScalar(
            ctypes.c_void_p(number.data_ptr()), DTYPES[number.dtype]
        )

    def _array(self, kind: str, ctype: type, values: Sequence[object]) -> ctypes.c_void_p:
        array = (ctype * len(values))(*values)
        create = getattr(self._library.objects, f"aclCreate{kind}")
        return self._keep(kind, create(array, ctypes.c_uint64(len(values))))

    def _intarray(self, values: Sequence[int]) -> ctypes.c_void_p:
        return self._array("IntArray", ctypes.c_int64, values)

    def _floatarray(self, values: Sequence[float]) -> ctypes.c_void_p:
        return self._array("FloatArray", ctypes.c_float, values)

    def _boolarray(self, values: Sequence[bool]) -> ctypes.c_void_p:
        return self._array("BoolArray", ctypes.c_bool, values)

    # A list owns its elements.
    def _tensorlist(self, tensors: Sequence[torch.Tensor]) -> ctypes.c_void_p:
        return self._array("TensorList", ctypes.c_void_p, [self._describe(t) for t in tensors])

    def _scalarlist(self, values: Sequence[object]) -> ctypes.c_void_p:
        return self._array("ScalarList", ctypes.c_void_p, [self._number(v) for v in values])

    def _release(self) -> None:
        for kind, handle in reversed(self._result):
            getattr(self._library.objects, f"aclDestroy{kind}")(handle)
        for _, memory in self._memory.values():
            memory.free()


def view_shape(library: Library, operator: str, *arguments: object, out: int) -> list[int]:
    """Calls the operator and returns the sizes that it set for its argument ``out``."""
    call = Call(library, operators()[operator])
    release, shape = call._release, []

    def read_and_release() -> None:
        tensors = [a for a in operators()[operator].arguments if a.type == "Tensor"]
        position = [a.name for a in tensors].index(operators()[operator].arguments[out].name)
        result = [handle for kind, handle in call._result if kind == "Tensor"]
        dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        assert (
            library.objects.aclGetViewShape(
                result[position], ctypes.byref(dims), ctypes.byref(count)
            )
            == 0
        )
        shape.extend(dims[i] for i in range(count.value))
        release()

    call._release = read_and_release
    call.run(arguments)
    return shape
