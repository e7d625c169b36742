"""Compiled models on softnpu in Python: the C functions aclmdl* by ctypes, without torch in the process."""

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

LIB = Path(__file__).resolve().parents[2] / "build/python/torch_npu/lib"
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
INITIALIZED = 100002
# aclDataType to numpy's names; bfloat16 is one of ml_dtypes.
DTYPES = {
    0: "float32",
    1: "float16",
    2: "int8",
    3: "int32",
    4: "uint8",
    6: "int16",
    7: "uint16",
    8: "uint32",
    9: "int64",
    10: "uint64",
    11: "float64",
    12: "bool",
    16: "complex64",
    17: "complex128",
    27: "bfloat16",
}


class AclError(RuntimeError):
    """The error of a function that did not return 0."""

    def __init__(self, code: int, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


class _File(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


class Dims(ctypes.Structure):
    """aclmdlIODims."""

    _fields_ = (
        ("name", ctypes.c_char * 128),
        ("dim_count", ctypes.c_size_t),
        ("dims", ctypes.c_int64 * 128),
    )


@functools.cache
def acl() -> ctypes.CDLL:
    """libascendcl on device 0."""
    library = ctypes.CDLL(str(LIB / "cann" / "libascendcl.so"))
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    for name in ("aclmdlCreateDesc", "aclmdlCreateDataset", "aclCreateDataBuffer"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("aclmdlGetDatasetBuffer", "aclGetDataBufferAddr"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("NumInputs", "NumOutputs", "InputSizeByIndex", "OutputSizeByIndex"):
        getattr(library, f"aclmdlGet{name}").restype = ctypes.c_size_t
    for name in ("aclmdlGetInputNameByIndex", "aclmdlGetOutputNameByIndex"):
        getattr(library, name).restype = ctypes.c_char_p
    if (code := library.aclInit(None)) != INITIALIZED:  # torch_npu may have been first
        call(code, library)
    call(library.aclrtSetDevice(0), library)
    return library


@functools.cache
def engine() -> ctypes.CDLL:
    """libsoftnpu_graph."""
    acl()
    return ctypes.CDLL(str(LIB / "libsoftnpu_graph.so"))


def call(code: int, library: ctypes.CDLL | None = None) -> None:
    """Raises AclError unless ``code`` is 0."""
    if code != 0:
        message = (library or acl()).aclGetRecentErrMsg() or b"no message"
        raise AclError(code, message.decode(errors="replace"))


def compile_model(onnx_model: bytes) -> bytes:
    """A serialized model of ONNX as the bytes of a .om."""
    text = ctypes.create_string_buffer(onnx_model, len(onnx_model))
    source = _File(ctypes.cast(text, ctypes.c_void_p), len(onnx_model))
    result = _File()
    call(engine().softnpuCompileModel(ctypes.byref(source), ctypes.byref(result)))
    compiled = ctypes.string_at(result.data, result.bytes)
    engine().softnpuReleaseModelFile(ctypes.byref(result))
    return compiled


def _pointer(value: int | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(value)


class Memory:
    """Device memory."""

    def __init__(self, size: int):
        self.size = size
        self.address = ctypes.c_void_p()
        call(acl().aclrtMalloc(ctypes.byref(self.address), ctypes.c_size_t(max(size, 64)), 0))

    def __del__(self) -> None:
        acl().aclrtFree(self.address)

    def write(self, array: np.ndarray) -> None:
        """Copies the array to the device."""
        data = np.ascontiguousarray(array)
        if data.nbytes:
            self._copy(self.address, _pointer(data.ctypes.data), data.nbytes, HOST_TO_DEVICE)

    def read(self, dtype: np.dtype, dims: Sequence[int]) -> np.ndarray:
        """A copy on the host."""
        array = np.empty(dims, dtype)
        if array.nbytes:
            self._copy(_pointer(array.ctypes.data), self.address, array.nbytes, DEVICE_TO_HOST)
        return array

    def _copy(self, to: ctypes.c_void_p, of: ctypes.c_void_p, size: int, kind: int) -> None:
        call(acl().aclrtMemcpy(to, ctypes.c_size_t(size), of, ctypes.c_size_t(size), kind))


class Dataset:
    """An aclmdlDataset and its memory."""

    def __init__(self, sizes: Sequence[int]):
        self.memory = [Memory(size) for size in sizes]
        self.handle = _pointer(acl().aclmdlCreateDataset())
        self.buffers = []
        for memory in self.memory:
            buffer = acl().aclCreateDataBuffer(memory.address, ctypes.c_size_t(memory.size))
            self.buffers.append(_pointer(buffer))
            call(acl().aclmdlAddDatasetBuffer(self.handle, self.buffers[-1]))

    def __del__(self) -> None:
        for buffer in self.buffers:
            acl().aclDestroyDataBuffer(buffer)
        acl().aclmdlDestroyDataset(self.handle)


class Model:
    """A loaded model."""

    def __init__(self, model: bytes | str | Path):
        self.id = ctypes.c_uint32()
        if isinstance(model, bytes):
            call(acl().aclmdlLoadFromMem(model, ctypes.c_size_t(len(model)), ctypes.byref(self.id)))
        else:
            call(acl().aclmdlLoadFromFile(str(model).encode(), ctypes.byref(self.id)))
        self.desc = _pointer(acl().aclmdlCreateDesc())
        call(acl().aclmdlGetDesc(self.desc, self.id))

    def close(self) -> None:
        """Unloads it."""
        acl().aclmdlDestroyDesc(self.desc)
        call(acl().aclmdlUnload(self.id))

    def sizes(self, side: str) -> list[int]:
        """The bytes of each "Input" or "Output"."""
        count = getattr(acl(), f"aclmdlGetNum{side}s")(self.desc)
        size = getattr(acl(), f"aclmdlGet{side}SizeByIndex")
        return [size(self.desc, ctypes.c_size_t(i)) for i in range(count)]

    def names(self, side: str) -> list[str]:
        """Their names."""
        name = getattr(acl(), f"aclmdlGet{side}NameByIndex")
        return [name(self.desc, ctypes.c_size_t(i)).decode() for i in range(len(self.sizes(side)))]

    def dims(self, side: str, index: int) -> list[int]:
        """The sizes of one."""
        dims = Dims()
        get = getattr(acl(), f"aclmdlGet{side}Dims")
        call(get(self.desc, ctypes.c_size_t(index), ctypes.byref(dims)))
        return list(dims.dims[: dims.dim_count])

    def dtype(self, side: str, index: int) -> np.dtype:
        """The data type of one."""
        name = DTYPES[getattr(acl(), f"aclmdlGet{side}DataType")(self.desc, ctypes.c_size_t(index))]
        if name == "bfloat16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(name)

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Runs the model once."""
        given = Dataset(self.sizes("Input"))
        result = Dataset(self.sizes("Output"))
        for memory, array in zip(given.memory, inputs, strict=True):
            assert memory.size == array.nbytes, f"{memory.size} bytes, the array has {array.nbytes}"
            memory.write(array)
        call(acl().aclmdlExecute(self.id, given.handle, result.handle))
        return [
            memory.read(self.dtype("Output", i), self.dims("Output", i))
            for i, memory in enumerate(result.memory)
        ]
