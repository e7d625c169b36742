"""Replacements of functions whose arguments name CUDA in other ways than as a device."""

import functools
from collections.abc import Callable, Iterable

import torch
from torch.profiler import ProfilerActivity

from torch_npu._core import state
from torch_npu.contrib._transfer.devices import to_npu, with_npu_arguments


def backend_name(value: object) -> object:
    """A distributed backend: nccl becomes hccl, also in ``cpu:gloo,cuda:nccl``."""
    if isinstance(value, str):
        return value.replace("nccl", "hccl").replace("cuda:", "npu:")
    return to_npu(value)


def with_hccl(function: Callable) -> Callable:
    """``function``, whose ``backend``, the first argument if it is a string, is hccl where it was nccl."""

    @functools.wraps(function)
    def replaced(*args: object, **kwargs: object) -> object:
        if args and isinstance(args[0], str):
            args = (backend_name(args[0]), *args[1:])
        if "backend" in kwargs:
            kwargs["backend"] = backend_name(kwargs["backend"])
        if "device_id" in kwargs:
            kwargs["device_id"] = to_npu(kwargs["device_id"])
        return function(*args, **kwargs)

    return replaced


def process_group(_: object) -> type:
    """``torch.distributed.ProcessGroupNCCL``, for its options: hccl's."""
    ProcessGroupHCCL = state.native()._distributed_c10d.ProcessGroupHCCL  # noqa: N806

    return ProcessGroupHCCL


def hccl_available(_: object) -> Callable:
    """``torch.distributed.is_nccl_available``: whether there is hccl."""
    return torch.distributed.is_hccl_available


def _npu_activities(activities: Iterable | None) -> object:
    if activities is None:
        return None
    return [
        ProfilerActivity.PrivateUse1 if activity is ProfilerActivity.CUDA else activity
        for activity in activities
    ]


def profiled(original: Callable) -> Callable:
    """``torch.profiler``: activity CUDA is the npu's, also where ``use_cuda`` asks for it."""

    @functools.wraps(original)
    def init(self: object, *args: object, **kwargs: object) -> None:
        if kwargs.pop("use_cuda", None):
            kwargs.setdefault("activities", [ProfilerActivity.CPU, ProfilerActivity.CUDA])
        if "activities" in kwargs:
            kwargs["activities"] = _npu_activities(kwargs["activities"])
        original(self, *args, **kwargs)

    return init


def autograd_profiled(original: Callable) -> Callable:
    """``torch.autograd.profiler.profile``: ``use_cuda`` and ``use_device="cuda"`` are npu's."""
    inner = with_npu_arguments(original)

    @functools.wraps(original)
    def init(self: object, *args: object, **kwargs: object) -> None:
        if kwargs.pop("use_cuda", False):
            kwargs["use_device"] = "npu"
        inner(self, *args, **kwargs)

    return init


def _type_name(value: object) -> object:
    if isinstance(value, str) and value.startswith("torch.cuda."):
        return "torch.npu." + value.removeprefix("torch.cuda.")
    return value


def tensor_type(original: Callable) -> Callable:
    """``Tensor.type``: ``"torch.cuda.FloatTensor"`` is npu's."""

    @functools.wraps(original)
    def type(self: torch.Tensor, *args: object, **kwargs: object) -> object:
        if "dtype" in kwargs:
            kwargs["dtype"] = _type_name(kwargs["dtype"])
        return original(self, *map(_type_name, args), **kwargs)

    return type


def default_tensor_type(original: Callable) -> Callable:
    """``torch.set_default_tensor_type``: a type of CUDA sets default dtype and device, until one of the CPU is set."""
    is_set = False

    def set_default_tensor_type(t: object) -> None:
        name = (
            t
            if isinstance(t, str)
            else f"{getattr(t, '__module__', '')}.{getattr(t, '__name__', '')}"
        )
        nonlocal is_set
        legacy = name.rpartition(".")[2] if name.startswith(("torch.cuda.", "torch.npu.")) else ""
        if is_set:
            torch.set_default_device(None)
            is_set = False
        if not legacy:
            original(t)
            return
        is_set = True
        torch.set_default_dtype(getattr(torch, legacy).dtype)
        torch.set_default_device("npu")

    return functools.wraps(original)(set_default_tensor_type)


def default_type_of_device(original: Callable, *, is_setter: bool = False) -> Callable:
    """Autocast's state without a device means CUDA's, so npu's: ``torch.is_autocast_enabled()``."""
    with_device = with_npu_arguments(original)

    @functools.wraps(original)
    def replaced(*args: object, **kwargs: object) -> object:
        if len(args) + len(kwargs) == int(is_setter):
            return original("npu", *args, *kwargs.values())
        return with_device(*args, **kwargs)

    return replaced


def autocast_dtype(_: object) -> Callable:
    """``torch.get_autocast_gpu_dtype``: autocast's dtype on npu."""
    return functools.partial(torch.get_autocast_dtype, "npu")


def set_autocast_dtype(_: object) -> Callable:
    """``torch.set_autocast_gpu_dtype``: sets autocast's dtype on npu."""
    return functools.partial(torch.set_autocast_dtype, "npu")
