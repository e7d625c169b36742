"""The table of ``transfer_to_npu`` besides the names of ``torch.cuda``: what is replaced, and how it is mapped."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import torch

from torch_npu.contrib._transfer import arguments, availability, devices, precision

_SETTER = functools.partial(arguments.default_type_of_device, is_setter=True)


class Rule(NamedTuple):
    """``name`` becomes ``make(original)``; ``meaning`` says in a few words what that is.

    ``original`` is None where PyTorch has no such name. Where ``imported_with`` is a module, this happens when a program imports it.
    """

    name: str
    meaning: str
    make: Callable
    imported_with: str | None = None


_DEVICE = "device arguments name npu"

RULES = (
    Rule("torch.cuda.is_available", "torch.npu.is_available", availability.replacement),
    Rule(
        "torch.cuda.get_device_capability",
        "torch.npu.get_device_capability",
        availability.capability_replacement,
    ),
    Rule(
        "torch.cuda.get_device_properties",
        "torch.npu.get_device_properties",
        availability.properties_replacement,
    ),
    # Tensors, modules, storages.
    Rule("torch.Tensor.cuda", "torch.Tensor.npu", devices.tensor_cuda),
    Rule("torch.Tensor.is_cuda", "torch.Tensor.is_npu", devices.is_npu),
    Rule("torch.Tensor.is_pinned", _DEVICE, devices.with_npu_arguments),
    Rule("torch.Tensor.pin_memory", _DEVICE, devices.with_npu_arguments),
    Rule("torch.Tensor.to", _DEVICE, devices.tensor_to),
    Rule("torch.Tensor.type", "types of torch.cuda are torch.npu's", arguments.tensor_type),
    Rule("torch.TypedStorage.cuda", "torch.TypedStorage.npu", devices.cuda_method),
    Rule("torch.TypedStorage.is_cuda", "whether it is on npu", devices.is_npu),
    Rule("torch.TypedStorage.to", _DEVICE, devices.with_npu_arguments),
    Rule("torch.UntypedStorage.__new__", _DEVICE, devices.static_with_npu_arguments),
    Rule("torch.UntypedStorage.cuda", "torch.UntypedStorage.npu", devices.cuda_method),
    Rule("torch.UntypedStorage.is_cuda", "whether it is on npu", devices.is_npu),
    Rule("torch.UntypedStorage.to", _DEVICE, devices.with_npu_arguments),
    Rule("torch.nn.Module.cuda", "torch.nn.Module.npu", devices.cuda_method),
    # Objects of a device.
    Rule("torch.Event", _DEVICE, devices.class_with_npu_arguments),
    Rule("torch.Generator", _DEVICE, devices.class_with_npu_arguments),
    Rule("torch.Stream", _DEVICE, devices.class_with_npu_arguments),
    Rule("torch.npu.Event.cuda_event", "npu_event", lambda _: torch.npu.Event.npu_event),
    Rule("torch.npu.Stream.cuda_stream", "npu_stream", lambda _: torch.npu.Stream.npu_stream),
    Rule("torch.jit.load", _DEVICE, devices.with_npu_arguments),
    Rule(
        "torch.set_default_tensor_type", "default dtype and device", arguments.default_tensor_type
    ),
    # Mixed precision.
    Rule("torch.amp.GradScaler.__init__", _DEVICE, devices.with_npu_arguments),
    Rule("torch.amp.custom_bwd", _DEVICE, devices.with_npu_arguments),
    Rule("torch.amp.custom_fwd", _DEVICE, devices.with_npu_arguments),
    Rule("torch.amp.is_autocast_available", _DEVICE, devices.with_npu_arguments),
    Rule("torch.autocast.__init__", _DEVICE, devices.with_npu_arguments),
    Rule("torch.get_autocast_dtype", _DEVICE, devices.with_npu_arguments),
    Rule(
        "torch.get_autocast_gpu_dtype", "torch.get_autocast_dtype('npu')", arguments.autocast_dtype
    ),
    Rule("torch.is_autocast_enabled", _DEVICE, arguments.default_type_of_device),
    Rule("torch.set_autocast_dtype", _DEVICE, devices.with_npu_arguments),
    Rule("torch.set_autocast_enabled", _DEVICE, _SETTER),
    Rule(
        "torch.set_autocast_gpu_dtype",
        "torch.set_autocast_dtype('npu', dtype)",
        arguments.set_autocast_dtype,
    ),
    # Flags, profiler, distributed.
    Rule("torch.autograd.profiler.profile.__init__", _DEVICE, arguments.autograd_profiled),
    Rule(
        "torch.backends.cuda.cuBLASModule.__getattr__",
        "allow_tf32 is torch.npu.matmul.allow_hf32",
        precision.matmul_getattr,
    ),
    Rule(
        "torch.backends.cuda.cuBLASModule.__setattr__",
        "allow_tf32 is torch.npu.matmul.allow_hf32",
        precision.matmul_setattr,
    ),
    Rule(
        "torch.backends.cudnn.__class__.allow_tf32",
        "torch.npu.conv.allow_hf32",
        precision.convolution_flag,
    ),
    Rule("torch.cuda.nccl.is_available", "False", availability.without_nccl),
    Rule("torch.distributed.ProcessGroupNCCL", "ProcessGroupHCCL", arguments.process_group),
    Rule("torch.distributed.device_mesh.DeviceMesh.__init__", _DEVICE, devices.with_npu_arguments),
    Rule("torch.distributed.device_mesh.init_device_mesh", _DEVICE, devices.with_npu_arguments),
    Rule("torch.distributed.init_device_mesh", _DEVICE, devices.with_npu_arguments),
    Rule("torch.distributed.init_process_group", "nccl is hccl", arguments.with_hccl),
    Rule("torch.distributed.is_nccl_available", "is_hccl_available", arguments.hccl_available),
    Rule("torch.distributed.new_group", "nccl is hccl", arguments.with_hccl),
    Rule("torch.profiler.profile.__init__", "activity CUDA is npu's", arguments.profiled),
    Rule("torch.profiler._KinetoProfile.__init__", "activity CUDA is npu's", arguments.profiled),
    # Where functions of torch.npu read their device, and where torch.compile traces the device of a new tensor.
    Rule("torch.accelerator._get_device_index", _DEVICE, devices.with_npu_arguments),
    Rule("torch.accelerator.memory._get_device_index", _DEVICE, devices.with_npu_arguments),
    Rule(
        "torch_npu._core.devices.device_index",
        _DEVICE,
        devices.with_npu_arguments,
        "torch_npu._core.devices",
    ),
    Rule(
        "torch._subclasses.fake_tensor.FakeTensorMode.__torch_dispatch__",
        _DEVICE,
        devices.traced_call,
    ),
    Rule(
        "torch.fx.experimental.proxy_tensor.ProxyTorchDispatchMode.__torch_dispatch__",
        _DEVICE,
        devices.traced_call,
    ),
    Rule(
        "torch._dynamo.variables.tensor.TensorVariable.method_attr_is_cuda",
        "is_cuda of traced tensors is whether they are on npu",
        devices.traced_is_cuda,
        imported_with="torch._dynamo.variables.tensor",
    ),
)
