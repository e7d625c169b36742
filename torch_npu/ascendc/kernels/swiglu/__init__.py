"""SwiGLU in Ascend C: silu of one tensor times another."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("swiglu")
_TILE = 2048  # elements: all buffers fit the unified buffer, each is 8 KiB at most


def _launch(*tensors: torch.Tensor) -> tuple[int, tuple[object, ...], int]:
    """Of the forward and the backward kernel: all tensors have one shape."""
    count = tensors[0].numel()
    tiles = -(-count // _TILE)
    tiling = _TILING.pack(count=count, tiles=tiles, tile=_TILE)
    return _operator.cores(tiles), (*tensors, tiling), _operator.TILING_KEYS[tensors[0].dtype]


def _check(gate: torch.Tensor, up: torch.Tensor) -> None:
    _operator.check_same_shape("swiglu", gate=gate, up=up)


def _check_backward(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> None:
    _operator.check_same_shape("swiglu_backward", grad=grad, gate=gate, up=up)


def _backward_outputs(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.empty_like(gate, memory_format=torch.contiguous_format),
        torch.empty_like(up, memory_format=torch.contiguous_format),
    )


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    ctx.save_for_backward(*inputs)


def _second_gradients(ctx, of_gate, of_up) -> tuple[torch.Tensor, ...]:  # noqa: ANN001
    """Of ``grad * up * silu'(gate)`` and ``grad * silu(gate)``, by PyTorch's operators."""
    dtype = of_gate.dtype
    grad, gate, up, of_gate, of_up = (t.float() for t in (*ctx.saved_tensors, of_gate, of_up))
    s = torch.sigmoid(gate)
    silu, first = gate * s, s * (1 + gate * (1 - s))
    second = s * (1 - s) * (2 + gate * (1 - 2 * s))
    to_grad = of_gate * up * first + of_up * silu
    to_gate = grad * (of_gate * up * second + of_up * first)
    return to_grad.to(dtype), to_gate.to(dtype), (of_gate * grad * first).to(dtype)


_backward = _operator.define(
    "swiglu",
    "swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)",
    _launch,
    _check_backward,
    _backward_outputs,
    _second_gradients,
    _setup_context,
)


def _gradients(ctx, grad) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN001
    return _backward(grad, *ctx.saved_tensors)


_forward = _operator.define(
    "swiglu",
    "swiglu(Tensor gate, Tensor up) -> Tensor",
    _launch,
    _check,
    backward=_gradients,
    setup_context=_setup_context,
)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up``, computed in float32, with gradients of both.

    As Shazeer, "GLU Variants Improve Transformer" (2020), defines it, without the products by weights.

    Args:
        gate: of any shape; float32, float16 or bfloat16, on the npu.
        up: of the same shape and type.

    Returns:
        A contiguous tensor of the same shape and type.

    Raises:
        ValueError: shapes, types or devices do not match.
    """
    return _forward(gate, up)
