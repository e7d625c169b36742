"""Options of the device, under the official plug-in's module name. ``torch.npu`` has them, too."""

from torch_npu.npu.dump import finalize_dump, init_dump, set_dump
from torch_npu.npu.named_options import (
    get_mm_bmm_format_nd,
    set_aoe,
    set_mm_bmm_format_nd,
    set_option,
)
from torch_npu.npu.options import is_jit_compile_false, set_compile_mode

# Those of another module of torch_npu.npu.
_LIMITS = (
    "get_device_limit",
    "get_stream_limit",
    "reset_stream_limit",
    "set_device_limit",
    "set_stream_limit",
)


def __getattr__(name: str) -> object:
    if name in _LIMITS:
        from torch_npu import npu

        return getattr(npu, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "finalize_dump",
    "get_mm_bmm_format_nd",
    "init_dump",
    "is_jit_compile_false",
    "set_aoe",
    "set_compile_mode",
    "set_dump",
    "set_mm_bmm_format_nd",
    "set_option",
]
