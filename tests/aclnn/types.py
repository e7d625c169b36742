"""Operators called by the name of their type, in Python: what their results are like, and what they compute."""

import ctypes
import functools
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch

from softnpu.opgen.parse import parse
from tests.aclnn.library import DTYPES, FORMAT_ND, OPS, AclnnError, Library, _Memory

_UNDEFINED = -1
_HOST = 1  # ACL_MEMTYPE_HOST


@dataclass(frozen=True)
class Host:
    """A tensor in host memory: integers that decide sizes, or one number."""

    tensor: torch.Tensor

    @staticmethod
    def of(*values: int) -> "Host":
        return Host(torch.tensor(values, dtype=torch.int64))

    @staticmethod
    def number(value: float, dtype: torch.dtype = torch.float32) -> "Host":
        return Host(torch.tensor(value, dtype=dtype))


Operand = torch.Tensor | Host | None


@functools.cache
def type_names() -> tuple[str, ...]:
    """The names of all rows."""
    names: list[str] = []
    for path in sorted(OPS.glob("registry/[a-z]*.txt")):
        names += [row.name for row in parse(path).types]
    return tuple(sorted(names))


class RegistryCall:
    """One call of an operator by its type; a context that frees what it made."""

    def __init__(
        self,
        library: Library,
        name: str,
        inputs: Sequence[Operand],
        attributes: Mapping[str, object],
    ):
        self._library = library
        self._compiler = ctypes.CDLL(library.runtime._name.replace("ascendcl", "acl_op_compiler"))
        for function in ("aclCreateTensorDesc", "aclCreateDataBuffer", "aclopCreateAttr"):
            getattr(library.runtime, function).restype = ctypes.c_void_p
        library.runtime.aclGetTensorDescDimV2.restype = ctypes.c_int32
        self._name = name.encode()
        self._keep: list[object] = []
        self._stack = ExitStack()
        self._inputs = [self._operand(operand) for operand in inputs]
        self._attributes = self._attribute_list(attributes)

    def __enter__(self) -> "RegistryCall":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _check(self, code: int) -> None:
        if code != 0:
            raise AclnnError(code, self._library.message())

    def _desc(self, dtype: int, sizes: Sequence[int]) -> ctypes.c_void_p:
        dims = (ctypes.c_int64 * len(sizes))(*sizes)
        result = ctypes.c_void_p(
            self._library.runtime.aclCreateTensorDesc(dtype, len(sizes), dims, FORMAT_ND)
        )
        self._stack.callback(self._library.runtime.aclDestroyTensorDesc, result)
        return result

    def _buffer(self, address: object, size: int) -> ctypes.c_void_p:
        result = ctypes.c_void_p(
            self._library.runtime.aclCreateDataBuffer(address, ctypes.c_size_t(size))
        )
        self._stack.callback(self._library.runtime.aclDestroyDataBuffer, result)
        return result

    def _device(self, tensor: torch.Tensor) -> tuple[ctypes.c_void_p, _Memory]:
        size = tensor.numel() * tensor.element_size()
        memory = _Memory(self._library, size)
        self._stack.callback(memory.free)
        memory.write(tensor.data_ptr())
        return self._buffer(memory.address, size), memory

    def _operand(self, operand: Operand) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        if operand is None:
            return self._desc(_UNDEFINED, ()), self._buffer(None, 0)
        tensor = operand.tensor if isinstance(operand, Host) else operand.contiguous()
        self._keep.append(tensor)
        desc = self._desc(DTYPES[tensor.dtype], tensor.shape)
        if isinstance(operand, Host):
            self._check(self._library.runtime.aclSetTensorPlaceMent(desc, _HOST))
            size = tensor.numel() * tensor.element_size()
            return desc, self._buffer(ctypes.c_void_p(tensor.data_ptr()), size)
        return desc, self._device(tensor)[0]

    def _attribute_list(self, attributes: Mapping[str, object]) -> ctypes.c_void_p:
        runtime = self._library.runtime
        result = ctypes.c_void_p(runtime.aclopCreateAttr())
        self._stack.callback(runtime.aclopDestroyAttr, result)
        for key, value in attributes.items():
            name = key.encode()
            if isinstance(value, bool):
                code = runtime.aclopSetAttrBool(result, name, ctypes.c_uint8(value))
            elif isinstance(value, int):
                code = runtime.aclopSetAttrInt(result, name, ctypes.c_int64(value))
            elif isinstance(value, float):
                code = runtime.aclopSetAttrFloat(result, name, ctypes.c_float(value))
            elif isinstance(value, str):
                code = runtime.aclopSetAttrString(result, name, value.encode())
            else:
                values = (ctypes.c_int64 * len(value))(*value)
                code = runtime.aclopSetAttrListInt(result, name, len(value), values)
            self._check(code)
        return result

    def _pointers(self, values: Sequence[ctypes.c_void_p]) -> ctypes.Array:
        return (ctypes.c_void_p * max(len(values), 1))(*values)

    def infer(self, outputs: int) -> list[tuple[tuple[int, ...], int]]:
        """Sizes and data type of each result; raises AclnnError."""
        descs = [self._desc(_UNDEFINED, ()) for _ in range(outputs)]
        self._check(
            self._compiler.aclopInferShape(
                self._name,
                len(self._inputs),
                self._pointers([desc for desc, _ in self._inputs]),
                self._pointers([buffer for _, buffer in self._inputs]),
                outputs,
                self._pointers(descs),
                self._attributes,
            )
        )
        found = []
        for desc in descs:
            size = ctypes.c_int64()
            sizes = []
            for i in range(self._library.runtime.aclGetTensorDescNumDims(desc)):
                self._check(
                    self._library.runtime.aclGetTensorDescDimV2(
                        desc, ctypes.c_size_t(i), ctypes.byref(size)
                    )
                )
                sizes.append(size.value)
            found.append((tuple(sizes), self._library.runtime.aclGetTensorDescType(desc)))
        return found

    def run(self, outputs: Sequence[torch.Tensor]) -> None:
        """Runs the operator; its results are written into ``outputs``."""
        descs = [self._desc(DTYPES[output.dtype], output.shape) for output in outputs]
        placed = [self._device(output) for output in outputs]
        library = self._library
        self._check(
            self._compiler.aclopCompileAndExecute(
                self._name,
                len(self._inputs),
                self._pointers([desc for desc, _ in self._inputs]),
                self._pointers([buffer for _, buffer in self._inputs]),
                len(outputs),
                self._pointers(descs),
                self._pointers([buffer for buffer, _ in placed]),
                self._attributes,
                0,
                0,
                None,
                library.stream,
            )
        )
        library.check("aclrtSynchronizeStream", library.stream)
        for output, (_, memory) in zip(outputs, placed, strict=True):
            memory.read(output.data_ptr())
