"""Device arguments: those that name cuda become npu's; everything else stays the same object."""

import functools
from collections.abc import Callable

import torch


def to_npu(value: object) -> object:
    """``value``, or the npu of the same index if it is a string or a torch.device that names cuda."""
    if isinstance(value, str):
        if value == "cuda" or value.startswith("cuda:"):
            return "npu" + value[4:]
    elif type(value) is torch.device and value.type == "cuda":
        return torch.device("npu") if value.index is None else torch.device("npu", value.index)
    return value


def with_npu_arguments(function: Callable) -> Callable:
    """``function``, whose arguments that name cuda name npu."""

    @functools.wraps(function, updated=())
    def replaced(*args: object, **kwargs: object) -> object:
        for name, value in kwargs.items():
            kwargs[name] = to_npu(value)
        return function(*map(to_npu, args), **kwargs)

    return replaced


def static_with_npu_arguments(function: Callable) -> staticmethod:
    """The same for a class's ``__new__``."""
    return staticmethod(with_npu_arguments(function))


def tensor_to(original: Callable) -> Callable:
    """``Tensor.to``, called so often that dtypes and tensors get out of its way first."""
    device_type = torch.device  # isinstance would ask its metaclass, which is slow

    @functools.wraps(original)
    def to(self: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
        if args:
            kind = type(args[0])
            if kind is device_type or issubclass(kind, str):
                return original(self, to_npu(args[0]), *args[1:], **kwargs)
        elif "device" in kwargs:
            kwargs["device"] = to_npu(kwargs["device"])
        return original(self, *args, **kwargs)

    return to


def traced_call(original: Callable) -> Callable:
    """``__torch_dispatch__`` of a mode that traces operators: those that make tensors on cuda make them on npu."""

    @functools.wraps(original)
    def dispatch(
        self: object, func: object, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        kwargs = {name: to_npu(value) for name, value in (kwargs or {}).items()}
        return original(self, func, types, args, kwargs)

    return dispatch


def tensor_cuda(original: Callable) -> Callable:
    """``Tensor.cuda``: ``to`` an npu, the current one by default. RuntimeError for devices of other types."""

    @functools.wraps(original)
    def cuda(
        self: torch.Tensor,
        device: int | str | torch.device | None = None,
        non_blocking: bool = False,
        memory_format: torch.memory_format = torch.preserve_format,
    ) -> torch.Tensor:
        if device is None:
            target: object = "npu"
        elif isinstance(device, int):
            target = torch.device("npu", device)
        else:
            target = to_npu(device)
            if torch.device(target).type != "npu":
                raise RuntimeError(f"Invalid device, must be cuda device, but got {device}")
        return self.to(target, non_blocking=non_blocking, memory_format=memory_format)

    return cuda


def cuda_method(original: Callable) -> Callable:
    """``cuda()`` of modules and storages: their ``npu()``."""

    @functools.wraps(original)
    def cuda(self: object, device: object = None, *args: object, **kwargs: object) -> object:
        return self.npu(to_npu(device), *args, **kwargs)  # type: ignore[attr-defined]

    return cuda


def is_npu(_: object) -> property:
    """``is_cuda`` of tensors and storages: whether they are on npu."""

    def is_cuda(self: torch.Tensor) -> bool:
        return self.device.type == "npu"

    return property(is_cuda)


def traced_is_cuda(original: Callable) -> Callable:
    """``is_cuda`` of a tensor in Dynamo's trace, a constant there: whether it is on npu."""

    @functools.wraps(original)
    def method_attr_is_cuda(self: object, tx: object) -> object:
        from torch._dynamo.variables.base import VariableTracker

        device = self.device  # type: ignore[attr-defined]
        return None if device is None else VariableTracker.build(tx, device.type == "npu")

    return method_attr_is_cuda


@functools.cache
def _stand_in_type(base: type) -> type:
    # A class with these checks stands for its original in both; classes derived from it have their own.
    def instance_check(cls: type, instance: object) -> bool:
        original = vars(cls).get("_original")
        return isinstance(instance, original) if original else base.__instancecheck__(cls, instance)

    def subclass_check(cls: type, subclass: type) -> bool:
        original = vars(cls).get("_original")
        return issubclass(subclass, original) if original else base.__subclasscheck__(cls, subclass)

    checks = {"__instancecheck__": instance_check, "__subclasscheck__": subclass_check}
    return type("StandInType", (base,), checks)


def class_with_npu_arguments(original: type) -> type:
    """A class that makes objects of ``original``, a class of C whose ``__new__`` cannot be replaced.

    ``isinstance`` and ``issubclass`` against it are those against ``original``, and it may be derived from.
    """

    def make(cls: type, *args: object, **kwargs: object) -> object:
        if cls is stand_in:
            return with_npu_arguments(original)(*args, **kwargs)
        return with_npu_arguments(original.__new__)(cls, *args, **kwargs)

    names = {
        "__new__": make,
        "__doc__": original.__doc__,
        "__module__": original.__module__,
        "_original": original,
    }
    stand_in = _stand_in_type(type(original))(original.__name__, (original,), names)
    return stand_in
