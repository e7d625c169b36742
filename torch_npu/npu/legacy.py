"""Legacy tensor and storage types: ``torch.npu.FloatTensor``, ``torch.npu.FloatStorage`` and those of other dtypes.

They are to npu tensors what ``torch.cuda.FloatTensor`` and ``torch.cuda.FloatStorage`` are to CUDA's.
"""

from functools import wraps

import torch
from torch._utils import classproperty
from torch.storage import _LegacyStorage, _warn_typed_storage_removal

from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn_once

# Names of C, then PyTorch's types.
_DTYPES = {
    "BFloat16": torch.bfloat16,
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "ComplexDouble": torch.complex128,
    "ComplexFloat": torch.complex64,
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Short": torch.int16,
}
_MODULE = "torch.npu"
# What PyTorch warns of where the types are CUDA's.
_CONSTRUCTORS = (
    "The torch_npu.npu.*DtypeTensor constructors are no longer recommended. It's best to use methods such as "
    "torch.tensor(data, dtype=*, device='npu') to create tensors."
)
_DEFAULT_TYPE = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
    "torch.set_default_device() as alternatives."
)


class _TensorType(type):
    """The class of ``torch.npu.FloatTensor``: its instances are the npu tensors of one dtype.

    Other attributes are those of ``torch.Tensor``.
    """

    dtype: torch.dtype
    layout = torch.strided
    is_cuda = False
    is_npu = True
    is_sparse = False

    def __new__(
        cls: type, name: str, bases: tuple[type, ...], members: dict[str, object]
    ) -> "_TensorType":
        # PyTorch's Tensor.type() reads the type's full C name.
        return super().__new__(cls, f"{_MODULE}.{name}", bases, members)  # type: ignore[misc]

    @property
    def __name__(cls) -> str:
        return type.__dict__["__name__"].__get__(cls).rsplit(".", 1)[-1]

    def __repr__(cls) -> str:
        return f"<class '{_MODULE}.{cls.__name__}'>"

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.device.type == "npu"
            and instance.layout is torch.strided
            and instance.dtype is cls.dtype
        )

    def __getattr__(cls, name: str) -> object:
        return getattr(torch.Tensor, name)

    def __dir__(cls) -> list[str]:
        return sorted({*type.__dir__(cls), *dir(torch.Tensor)})

    def __call__(cls, *args: object, device: object = None) -> torch.Tensor:
        """A new tensor: of sizes (uninitialised), of a sequence's values, on a storage, or of a tensor's values."""
        warn_once(_CONSTRUCTORS, stacklevel=2)
        target = torch.device("npu" if device is None else device)  # type: ignore[call-overload]
        if target.type != "npu":
            raise RuntimeError(
                f"legacy constructor expects device type: npu but device type: {target.type} was passed"
            )
        if len(args) == 1:
            (source,) = args
            if isinstance(source, (torch.UntypedStorage, torch.TypedStorage)):
                return torch.empty(0, dtype=cls.dtype, device=source.device).set_(source)
            if isinstance(source, torch.Tensor):
                if not isinstance(source, cls):
                    raise TypeError(
                        f"expected {cls.__name__} (got {source.type()})" + pta_error(ErrCode.TYPE)
                    )
                return source.view_as(source)
            if not isinstance(source, (int, torch.Size)):
                return torch.tensor(source, dtype=cls.dtype, device=target)
        size = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args or (0,)
        return torch.empty(size, dtype=cls.dtype, device=target)  # type: ignore[arg-type]


class _NPULegacyStorage(_LegacyStorage):
    """A storage of one dtype on npu; what PyTorch offers for host memory only raises."""

    @classmethod
    def from_buffer(cls, *args: object, **kwargs: object) -> "_NPULegacyStorage":
        """Not possible in device memory.

        Raises:
            RuntimeError: always, as for CUDA.
        """
        _warn_typed_storage_removal()
        raise RuntimeError(
            "from_buffer: Not available for NPU storage" + pta_error(ErrCode.UNAVAIL)
        )

    @classmethod
    def _new_with_weak_ptr(cls, *args: object, **kwargs: object) -> "_NPULegacyStorage":
        raise RuntimeError(
            "_new_with_weak_ptr: Not available for NPU storage" + pta_error(ErrCode.UNAVAIL)
        )

    @classmethod
    def _new_shared_filename(
        cls, manager: object, obj: object, size: int, *, device: object = None, dtype: object = None
    ) -> "_NPULegacyStorage":
        raise RuntimeError(
            "_new_shared_filename: Not available for NPU storage" + pta_error(ErrCode.UNAVAIL)
        )


def _tensor_type(prefix: str, dtype: torch.dtype) -> _TensorType:
    text = f"npu tensors of {dtype}; ``torch.npu.{prefix}Tensor(2, 3)`` makes one of that size."
    members = {"__module__": _MODULE, "__doc__": text, "dtype": dtype}
    return _TensorType(f"{prefix}Tensor", (), members)


def _storage_type(prefix: str, dtype: torch.dtype) -> type[_NPULegacyStorage]:
    @classproperty
    def of_type(self: object) -> torch.dtype:
        """The dtype; PyTorch warns that typed storages are deprecated."""
        _warn_typed_storage_removal()
        return dtype

    @classproperty
    def unwarned(self: object) -> torch.dtype:
        return dtype

    text = f"A storage on npu of {dtype} elements."
    members = {"__module__": _MODULE, "__doc__": text, "dtype": of_type, "_dtype": unwarned}
    result = type(f"{prefix}Storage", (_NPULegacyStorage,), members)
    torch._storage_classes.add(result)
    return result


TYPES: dict[str, type] = {}
for _prefix, _dtype in _DTYPES.items():
    if not _dtype.is_complex:  # as PyTorch, which has only storages of complex numbers
        TYPES[f"{_prefix}Tensor"] = _tensor_type(_prefix, _dtype)
    TYPES[f"{_prefix}Storage"] = _storage_type(_prefix, _dtype)
BFloat16Storage, BFloat16Tensor = TYPES["BFloat16Storage"], TYPES["BFloat16Tensor"]
BoolStorage, BoolTensor = TYPES["BoolStorage"], TYPES["BoolTensor"]
ByteStorage, ByteTensor = TYPES["ByteStorage"], TYPES["ByteTensor"]
CharStorage, CharTensor = TYPES["CharStorage"], TYPES["CharTensor"]
ComplexDoubleStorage = TYPES["ComplexDoubleStorage"]
ComplexFloatStorage = TYPES["ComplexFloatStorage"]
DoubleStorage, DoubleTensor = TYPES["DoubleStorage"], TYPES["DoubleTensor"]
FloatStorage, FloatTensor = TYPES["FloatStorage"], TYPES["FloatTensor"]
HalfStorage, HalfTensor = TYPES["HalfStorage"], TYPES["HalfTensor"]
IntStorage, IntTensor = TYPES["IntStorage"], TYPES["IntTensor"]
LongStorage, LongTensor = TYPES["LongStorage"], TYPES["LongTensor"]
ShortStorage, ShortTensor = TYPES["ShortStorage"], TYPES["ShortTensor"]


def _share_npu_(self: torch.TypedStorage, *args: object, **kwargs: object) -> tuple:
    """``UntypedStorage._share_npu_`` of the storage's bytes."""
    return self._untyped_storage._share_npu_(*args, **kwargs)


def _new_shared_npu(*args: object, **kwargs: object) -> torch.UntypedStorage:
    """``UntypedStorage._new_shared_npu``."""
    return torch.UntypedStorage._new_shared_npu(*args, **kwargs)


def _release_ipc_counter_npu(*args: object, device: object = "npu", **kwargs: object) -> None:
    """``UntypedStorage._release_ipc_counter_npu``."""
    torch.UntypedStorage._release_ipc_counter_npu(*args, **kwargs)


_default_device_before: torch.device | None = None
_is_default_type = False


def _with_npu_types(original: object) -> object:
    @wraps(original)  # type: ignore[arg-type]
    def set_default_tensor_type(t: object) -> None:
        global _is_default_type, _default_device_before
        if isinstance(t, str) and t.startswith(f"{_MODULE}."):
            t = TYPES.get(t.removeprefix(f"{_MODULE}."), t)
        if isinstance(t, _TensorType):
            warn_once(_DEFAULT_TYPE, stacklevel=2)
            torch.set_default_dtype(t.dtype)
            if not _is_default_type:
                before = torch.get_default_device()
                _default_device_before = None if before.type == "cpu" else before
            torch.set_default_device("npu")
            _is_default_type = True
            return
        original(t)  # type: ignore[operator]
        if _is_default_type:
            torch.set_default_device(_default_device_before)
            _is_default_type = False

    return set_default_tensor_type


def register() -> None:
    """Adds what typed storages lack, and the types for ``torch.set_default_tensor_type``. Called once."""
    torch.TypedStorage._share_npu_ = _share_npu_
    torch.TypedStorage._new_shared_npu = staticmethod(_new_shared_npu)
    torch.TypedStorage._release_ipc_counter_npu = staticmethod(_release_ipc_counter_npu)
    torch.set_default_tensor_type = _with_npu_types(torch.set_default_tensor_type)  # type: ignore[assignment]


__all__ = [
    "BFloat16Storage",
    "BFloat16Tensor",
    "BoolStorage",
    "BoolTensor",
    "ByteStorage",
    "ByteTensor",
    "CharStorage",
    "CharTensor",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "DoubleTensor",
    "FloatStorage",
    "FloatTensor",
    "HalfStorage",
    "HalfTensor",
    "IntStorage",
    "IntTensor",
    "LongStorage",
    "LongTensor",
    "ShortStorage",
    "ShortTensor",
]
