"""The kernels in Ascend C that come with the package, against libopapi's operators of the same meaning."""

from collections.abc import Callable

import torch
from interleave import Row

import torch_npu
from torch_npu.ascendc import kernels

_ROWS, _HIDDEN, _HEADS = 2048, 4096, 32
_TYPES = (torch.float32, torch.float16)


def _pairs(dtype: torch.dtype) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """By name the kernel and the operator, at 1 x 2048 x 4096; products of 1024, others at their sizes."""
    x, y = (torch.randn(1, _ROWS, _HIDDEN, dtype=dtype, device="npu") for _ in range(2))
    weight = torch.randn(_HIDDEN, dtype=dtype, device="npu")
    both = torch.cat([x, y], -1)
    heads = x.view(1, _ROWS, _HEADS, -1)
    angles = torch.rand(_ROWS, heads.shape[-1] // 2, device="npu") * 6
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    widened_cos, widened_sin = (torch.cat([t, t], -1)[None, :, None] for t in (cos, sin))
    a, b = (torch.randn(1024, 1024, dtype=dtype, device="npu") for _ in range(2))
    experts = torch.randn(8, 1024, 512, dtype=dtype, device="npu")
    ends = torch.arange(128, 1025, 128, dtype=torch.int32, device="npu")
    q, k, v = (torch.randn(1, 8, 1024, 64, dtype=dtype, device="npu") for _ in range(3))
    images = torch.rand(8, 3, 1080, 1920, dtype=dtype, device="npu")
    return {
        "add": (lambda: kernels.add(x, y), lambda: torch.add(x, y)),
        "rms_norm": (
            lambda: kernels.rms_norm(x, weight),
            lambda: torch_npu.npu_rms_norm(x, weight),
        ),
        "softmax": (lambda: kernels.softmax(x), lambda: torch.softmax(x, -1)),
        "swiglu": (lambda: kernels.swiglu(x, y), lambda: torch_npu.npu_swiglu(both)),
        "rope": (
            lambda: kernels.rope(heads, cos, sin),
            lambda: torch_npu.npu_rotary_mul(heads, widened_cos, widened_sin),
        ),
        "linear": (
            lambda: kernels.linear(a, b),
            lambda: torch.nn.functional.linear(a, b),
        ),
        "grouped_matmul": (
            lambda: kernels.grouped_matmul(a, experts, ends),
            lambda: torch.bmm(a.view(8, 128, 1024), experts),
        ),
        "attention": (
            lambda: kernels.attention(q, k, v),
            lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v),
        ),
        "sepia": (
            lambda: kernels.sepia(images),
            lambda: torch_npu.ops.sepia_filter_forward(images),
        ),
    }


def rows() -> list[Row]:
    """One row for each kernel and type."""
    return [
        Row(f"{name}, {str(dtype).removeprefix('torch.')}", kernel, operator, 5, "libopapi")
        for dtype in _TYPES
        for name, (kernel, operator) in _pairs(dtype).items()
    ]
