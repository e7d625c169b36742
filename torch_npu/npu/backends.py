"""Switches of backends and the cache of FFT plans, under the official plug-in's module name."""

from torch_npu.npu._fft_plan_cache import NPUFFTPlanCache
from torch_npu.npu.backend_switches import (
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    math_sdp_enabled,
    mem_efficient_sdp_enabled,
    preferred_linalg_library,
    sdp_kernel,
)

fft_plan_cache = NPUFFTPlanCache()

__all__ = [
    "NPUFFTPlanCache",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "math_sdp_enabled",
    "mem_efficient_sdp_enabled",
    "preferred_linalg_library",
    "sdp_kernel",
]
