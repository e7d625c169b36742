"""Inductor, the default backend of ``torch.compile``, for npu.

PyTorch finds the classes as attributes of ``torch.npu``, which import this package when Inductor asks for them. Kernels
are Inductor's own C++ for the host's processor, launched as tasks of the current stream.
"""

from torch._inductor.codegen.common import register_device_op_overrides
from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen

from torch_npu._inductor.generator import use_cpp
from torch_npu._inductor.op_overrides import NpuDeviceOpOverrides
from torch_npu._inductor.scheduling import Scheduling
from torch_npu._inductor.wrapper import CppWrapperCodegen, PythonWrapperCodegen

register_device_op_overrides("npu", NpuDeviceOpOverrides())
use_cpp()

__all__ = ["CppWrapperCodegen", "PythonWrapperCodegen", "Scheduling", "WrapperFxCodegen"]
