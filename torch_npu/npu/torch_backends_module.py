"""``torch.backends.npu``: for npu the names of ``torch.backends.cuda`` that do not name a library of CUDA."""

import sys

import torch
from torch.backends.cuda import SDPAParams

from torch_npu._core import state
from torch_npu.npu import options as _options
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
from torch_npu.npu.backends import fft_plan_cache


def is_built() -> bool:
    """Whether the native part of torch_npu is there; says nothing about devices."""
    return state.is_loaded()


class _Matmul:
    """Precision of float32 matrix products, under the names of ``torch.backends.cuda.matmul``."""

    __slots__ = ()

    @property
    def allow_tf32(self) -> bool:
        """:attr:`torch.npu.matmul.allow_hf32`."""
        return _options.matmul.allow_hf32

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        _options.matmul.allow_hf32 = value


matmul = _Matmul()


def is_flash_attention_available() -> bool:
    """Whether there is a fused attention operator: True where torch_npu is loaded."""
    return state.is_loaded()


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether ``scaled_dot_product_attention`` would use the fused operator for these arguments.

    Args:
        params: query, key, value, mask, dropout, causality and grouping, as of ``torch.backends.cuda.SDPAParams``.
        debug: also warn if it would not.
    """
    chosen = torch._fused_sdp_choice(
        params.query,
        params.key,
        params.value,
        params.attn_mask,
        params.dropout,
        params.is_causal,
        enable_gqa=params.enable_gqa,
    )
    is_fused = chosen == torch.nn.attention.SDPBackend.OVERRIDEABLE.value
    if debug and not is_fused:
        from torch_npu._core.warnings import warn

        warn(
            "npu's fused attention takes float32, float16 and bfloat16 tensors of four dimensions without dropout",
            stacklevel=2,
        )
    return is_fused


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether memory-efficient attention would be used: False, npu has one fused operator, flash's."""
    return False


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allows attention by single operators to reduce float16 and bfloat16 in these dtypes. PyTorch's flag."""
    torch._C._set_math_sdp_allow_fp16_bf16_reduction(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """The value of :func:`allow_fp16_bf16_reduction_math_sdp`."""
    return torch._C._get_math_sdp_allow_fp16_bf16_reduction()


def register() -> None:
    """Makes this module ``torch.backends.npu``. Called once, when torch_npu is loaded."""
    torch.backends.npu = sys.modules[__name__]  # type: ignore[attr-defined]
    sys.modules["torch.backends.npu"] = sys.modules[__name__]


__all__ = [
    "SDPAParams",
    "allow_fp16_bf16_reduction_math_sdp",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "fft_plan_cache",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_linalg_library",
    "sdp_kernel",
]
