"""RMSNorm in Ascend C: each row divided by the root of the mean of its squares."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("rms_norm")


def _check(x: torch.Tensor, weight: torch.Tensor, epsilon: float = 0) -> None:
    _operator.check("rms_norm", x=x, weight=weight)
    if x.dim() == 0 or weight.dim() != 1 or x.shape[-1] != weight.shape[0] or weight.shape[0] == 0:
        raise ValueError(
            f"rms_norm: x is {tuple(x.shape)} and weight {tuple(weight.shape)}: weight has to have one dimension, of"
            " the size of x's last one, at least 1"
        )


def _outputs(x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> tuple[torch.Tensor, ...]:
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    return y, x.new_empty(x.shape[:-1], dtype=torch.float32)


def _launch(
    x: torch.Tensor, weight: torch.Tensor, epsilon: float, y: torch.Tensor, rstd: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    columns = x.shape[-1]
    # Two buffers of x and y, one of weight, one for squares; 16-bit types have two wide ones more.
    column_bytes = 5 * x.element_size() + 5 + (0 if x.dtype == torch.float32 else 8)
    tiling = _TILING.pack(
        rows=rstd.numel(),
        columns=columns,
        tile=_operator.tile(columns, column_bytes),
        epsilon=epsilon,
    )
    blocks = _operator.cores(rstd.numel())
    return blocks, (x, weight, y, rstd, tiling), _operator.TILING_KEYS[x.dtype]


def _check_backward(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor
) -> None:
    _check(x, weight)
    _operator.check_same_shape("rms_norm_backward", grad=grad, x=x)
    if rstd.shape != x.shape[:-1] or rstd.dtype != torch.float32 or rstd.device != x.device:
        raise ValueError(
            f"rms_norm_backward: rstd is {tuple(rstd.shape)}, {rstd.dtype} on {rstd.device}: the forward operator's"
            f" second result is needed, {tuple(x.shape[:-1])} in float32"
        )


def _backward_outputs(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    blocks = _operator.cores(rstd.numel())
    partial = x.new_empty((blocks, x.shape[-1]), dtype=torch.float32)
    grad_x = torch.empty_like(x, memory_format=torch.contiguous_format)
    return grad_x, torch.empty_like(weight), partial


def _launch_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor,
    rstd: torch.Tensor,
    grad_x: torch.Tensor,
    grad_weight: torch.Tensor,
    partial: torch.Tensor,
) -> tuple[int, tuple[object, ...], int]:
    columns = x.shape[-1]
    # Two buffers of the gradient and of x, one of weight and of the result; products, weight's gradient, and wide copies.
    column_bytes = 6 * x.element_size() + 13 + (0 if x.dtype == torch.float32 else 12)
    tiling = _TILING.pack(
        rows=rstd.numel(),
        columns=columns,
        tile=_operator.tile(columns, column_bytes),
        epsilon=0.0,
    )
    arguments = (grad, x, weight, rstd, grad_x, grad_weight, partial, tiling)
    return partial.shape[0], arguments, _operator.TILING_KEYS[x.dtype]


_backward = _operator.define(
    "rms_norm",
    "rms_norm_backward(Tensor grad, Tensor x, Tensor weight, Tensor rstd) -> (Tensor, Tensor, Tensor)",
    _launch_backward,
    _check_backward,
    _backward_outputs,
)


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    x, weight, _ = inputs
    _, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(x, weight, rstd)


def _gradients(ctx, grad, _) -> tuple[torch.Tensor, torch.Tensor, None]:  # noqa: ANN001
    x, weight, rstd = ctx.saved_tensors
    grad_x, grad_weight, _ = _backward(grad, x, weight, rstd)
    return grad_x, grad_weight, None


_forward = _operator.define(
    "rms_norm",
    "rms_norm(Tensor x, Tensor weight, float epsilon) -> (Tensor, Tensor)",
    _launch,
    _check,
    _outputs,
    _gradients,
    _setup_context,
)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """``x / sqrt(mean(x * x, -1) + epsilon) * weight``, computed in float32, with gradients.

    Args:
        x: of any shape with at least one dimension; float32, float16 or bfloat16, on the npu.
        weight: of the size of x's last dimension; of the same type.
        epsilon: added to the mean of squares.

    Returns:
        A tensor like ``x``.

    Raises:
        ValueError: shapes, types or devices do not match.
    """
    return _forward(x, weight, epsilon)[0]
