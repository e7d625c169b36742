"""The kernel silu for tensors of any size, float or half, with gradients and in torch.compile."""

import struct
from pathlib import Path

import torch
from torch.autograd.function import FunctionCtx

import torch_npu  # noqa: F401
from torch_npu.utils.cpp_extension import load_ascendc

CORES = 48
TILE = 4096
KEYS = {torch.float32: 1, torch.float16: 2}
HERE = Path(__file__).parent


def launch(x: torch.Tensor, y: torch.Tensor) -> tuple[int, tuple[object, ...], int]:
    """The number of blocks, the kernel's arguments and its tiling key."""
    count = x.numel()
    part = -(-count // CORES)
    tiling = struct.pack("=III", count, part, TILE)
    return CORES, (x, y, tiling), KEYS[x.dtype]


def save(ctx: FunctionCtx, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
    """Keeps what the gradient needs."""
    ctx.save_for_backward(inputs[0])


def gradient(ctx: FunctionCtx, grad: torch.Tensor) -> torch.Tensor:
    """The derivative, times the gradient of the result."""
    (x,) = ctx.saved_tensors
    widened = x.float()
    s = torch.sigmoid(widened)
    return (grad * s * (1 + widened * (1 - s))).to(x.dtype)


silu = load_ascendc(
    "tutorial_tiles",
    str(HERE / "silu_tiles.asc"),
    "silu(Tensor x) -> Tensor",
    launch=launch,
    tiling=str(HERE / "silu_tiling.h"),
    backward=gradient,
    setup_context=save,
)

for dtype in KEYS:
    x = torch.randn(3, 1001, dtype=dtype, device="npu", requires_grad=True)
    expected = torch.nn.functional.silu(x)
    torch.testing.assert_close(silu(x), expected)
    torch.testing.assert_close(
        torch.autograd.grad(silu(x).sum(), x), torch.autograd.grad(expected.sum(), x)
    )


@torch.compile
def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """SiLU of x times y, in one graph."""
    return silu(x) * y


x, y = torch.randn(2, 1001, device="npu")
torch.testing.assert_close(gate(x, y), torch.nn.functional.silu(x) * y)
print("results, gradients and the compiled function are right")
