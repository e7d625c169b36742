"""A linear layer in Ascend C: a product with bias and activation as its epilogue."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("linear")
_ACTIVATIONS = {"none": 0, "relu": 1, "silu": 2, "gelu": 3}
_TILE_ROWS = 128
_TILE_COLUMNS = 128  # sums are 64 KiB, results at most as many


def _launch(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, activation: str, y: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    columns, depth = weight.shape
    rows = x.numel() // depth if depth else 0
    tile_rows, tile_columns = (
        min(_TILE_ROWS, max(rows, 1)),
        min(_TILE_COLUMNS, -(-columns // 16) * 16),
    )
    tiling = _TILING.pack(
        rows=rows,
        columns=columns,
        depth=depth,
        tile_rows=tile_rows,
        tile_columns=tile_columns,
        activation=_ACTIVATIONS[activation],
    )
    tiles = -(-rows // tile_rows) * -(-columns // tile_columns)
    return (
        _operator.cube_cores(tiles),
        (x, weight, bias, y, tiling),
        _operator.TILING_KEYS[x.dtype],
    )


def _check(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, activation: str) -> None:
    _operator.check("linear", x=x, weight=weight, bias=bias)
    if weight.dim() != 2 or x.dim() == 0 or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"linear: x is {tuple(x.shape)} and weight {tuple(weight.shape)}: weight has two dimensions, the second of"
            " which is x's last"
        )
    if bias.shape != weight.shape[:1]:
        raise ValueError(
            f"linear: bias is {tuple(bias.shape)}: it has {weight.shape[0]} elements, as weight has rows"
        )
    if activation not in _ACTIVATIONS:
        raise ValueError(f"linear: activation is {activation!r}: it is {', '.join(_ACTIVATIONS)}")
    if 0 in (*x.shape, *weight.shape):
        raise ValueError(
            f"linear: x is {tuple(x.shape)} and weight {tuple(weight.shape)}: no size may be 0"
        )


def _output(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, activation: str
) -> torch.Tensor:
    return x.new_empty(*x.shape[:-1], weight.shape[0])


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    *tensors, ctx.activation = inputs
    ctx.save_for_backward(*tensors)


def _slope(z: torch.Tensor, activation: str) -> torch.Tensor:
    """The derivative of an activation, in float32."""
    if activation == "relu":
        return (z > 0).to(z.dtype)
    if activation == "silu":
        s = torch.sigmoid(z)
        return s * (1 + z * (1 - s))
    inner = 0.7978845608 * (z + 0.044715 * z**3)
    t = torch.tanh(inner)
    return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * z * z)


def _gradients(ctx, grad) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN001
    x, weight, bias = ctx.saved_tensors
    if ctx.activation != "none":
        z = torch.nn.functional.linear(x.float(), weight.float(), bias.float())
        grad = (grad.float() * _slope(z, ctx.activation)).to(grad.dtype)
    flat = grad.reshape(-1, weight.shape[0])
    return grad @ weight, flat.t() @ x.reshape(-1, weight.shape[1]), flat.sum(0), None


_linear = _operator.define(
    "linear",
    "linear(Tensor x, Tensor weight, Tensor bias, str activation) -> Tensor",
    _launch,
    _check,
    _output,
    _gradients,
    _setup_context,
)


def linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    activation: str = "none",
) -> torch.Tensor:
    """``activation(x @ weight.T + bias)``: sums and epilogue in float32, rounded once.

    Args:
        x: of any shape with at least one dimension; float32, float16 or bfloat16, on the npu.
        weight: columns of the result by the last dimension of ``x``, of the same type.
        bias: a number for each column, of the same type; None: zeros.
        activation: "none", "relu", "silu", or "gelu", which is the form with tanh.

    Returns:
        A contiguous tensor of ``x``'s shape with weight's rows as its last dimension. Its gradients are PyTorch's operators.

    Raises:
        ValueError: shapes, types, devices or the activation are none that it takes, or a size is 0.
    """
    if bias is None:
        bias = weight.new_zeros(weight.shape[:1])
    return _linear(x, weight, bias, activation)
