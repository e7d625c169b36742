"""Options of the device, under the official plug-in's module name. ``torch.npu`` has them, too."""

from torch_npu.npu.dump import finalize_dump, init_dump, set_dump
from torch_npu.npu.limits import (
    get_device_limit,
    get_stream_limit,
    reset_stream_limit,
    set_device_limit,
    set_stream_limit,
)
from torch_npu.npu.official_options import (
    get_mm_bmm_format_nd,
    set_aoe,
    set_mm_bmm_format_nd,
    set_option,
)
from torch_npu.npu.options import is_jit_compile_false, set_compile_mode

__all__ = [
    "finalize_dump",
    "get_device_limit",
    "get_mm_bmm_format_nd",
    "get_stream_limit",
    "init_dump",
    "is_jit_compile_false",
    "reset_stream_limit",
    "set_aoe",
    "set_compile_mode",
    "set_device_limit",
    "set_dump",
    "set_mm_bmm_format_nd",
    "set_option",
    "set_stream_limit",
]
