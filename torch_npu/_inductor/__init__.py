"""Inductor, the default backend of ``torch.compile``, for npu.

Imported when Inductor first asks ``torch.npu`` for its code generators. Kernels are Inductor's own C++ for the host's
processor, launched as tasks of the current stream.
"""

from torch._inductor.codegen.common import (
    register_backend_for_device,
    register_device_op_overrides,
)
from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen

from torch_npu._core import import_hook
from torch_npu._inductor.cache_key import CacheKey
from torch_npu._inductor.flex_attention import lower_to_cpp
from torch_npu._inductor.generator import use_cpp
from torch_npu._inductor.op_overrides import NpuDeviceOpOverrides
from torch_npu._inductor.scheduling import Scheduling
from torch_npu._inductor.wrapper import CppWrapperCodegen, PythonWrapperCodegen

register_device_op_overrides("npu", NpuDeviceOpOverrides())
register_backend_for_device(
    "npu", Scheduling, PythonWrapperCodegen, CppWrapperCodegen, WrapperFxCodegen, CacheKey()
)
use_cpp()
import_hook.when_imported("torch._inductor.kernel.flex.flex_attention", lower_to_cpp)
