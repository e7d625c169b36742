"""Functions of ``torch.npu`` under the official plug-in's module name; ``torch.npu`` has nearly all of them, too."""

from torch_npu.npu.capability import current_blas_handle, is_bf16_supported
from torch_npu.npu.device import (
    current_device,
    device,
    device_of,
    ipc_collect,
    set_device,
    synchronize,
)
from torch_npu.npu.dump import finalize_dump, init_dump, set_dump
from torch_npu.npu.obfuscation import (
    obfuscation_calculate,
    obfuscation_finalize,
    obfuscation_initialize,
)
from torch_npu.npu.options import (
    get_sync_debug_mode,
    get_task_queue_enable,
    set_op_timeout_ms,
    set_sync_debug_mode,
    set_task_queue_enable,
)
from torch_npu.npu.overflow import (
    clear_npu_overflow_flag,
    get_npu_overflow_flag,
    is_force_overflow_check,
    is_support_inf_nan,
    npu_check_overflow,
)
from torch_npu.npu.recovery import check_uce_in_memory
from torch_npu.npu.selftest import stress_detect
from torch_npu.npu.soc import get_soc_version
from torch_npu.npu.streams import (
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from torch_npu.npu.versions import _is_gte_cann_version as _is_gte_cann_version
from torch_npu.npu.versions import get_cann_version

__all__ = [
    "StreamContext",
    "check_uce_in_memory",
    "clear_npu_overflow_flag",
    "current_blas_handle",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_of",
    "finalize_dump",
    "get_cann_version",
    "get_npu_overflow_flag",
    "get_soc_version",
    "get_sync_debug_mode",
    "get_task_queue_enable",
    "init_dump",
    "ipc_collect",
    "is_bf16_supported",
    "is_force_overflow_check",
    "is_support_inf_nan",
    "npu_check_overflow",
    "obfuscation_calculate",
    "obfuscation_finalize",
    "obfuscation_initialize",
    "set_device",
    "set_dump",
    "set_op_timeout_ms",
    "set_stream",
    "set_sync_debug_mode",
    "set_task_queue_enable",
    "stream",
    "stress_detect",
    "synchronize",
]
