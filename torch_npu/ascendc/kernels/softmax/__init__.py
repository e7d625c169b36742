"""Softmax in Ascend C, over the last dimension."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("softmax")
_ELEMENTS = 4096  # of a tile of several rows
_ROWS = (
    248  # of such a tile: an instruction has 255 repeats at most, and Brcb takes 8 values at once
)
_PART = 8192  # elements of a tile of a row that is longer than local memory


def _launch(x: torch.Tensor, y: torch.Tensor) -> tuple[int, tuple[object, ...], int]:
    columns = x.shape[-1] if x.numel() else 1
    rows = x.numel() // columns
    # Two buffers of x and y, a part of one for reductions; 16-bit types have a wide one more.
    column_bytes = 4 * x.element_size() + 1 + (0 if x.dtype == torch.float32 else 4)
    is_whole = columns <= _operator.tile(columns, column_bytes)
    tile_rows = max(1, min(_ROWS, _ELEMENTS // (-(-columns // 16) * 16)))
    tiling = _TILING.pack(
        rows=rows,
        columns=columns,
        tile_rows=tile_rows,
        tile_columns=columns if is_whole else _PART,
    )
    blocks = _operator.cores(-(-rows // tile_rows))
    return blocks, (x, y, tiling), _operator.TILING_KEYS[x.dtype]


def _check(x: torch.Tensor) -> None:
    _operator.check("softmax", x=x)
    if x.dim() == 0:
        raise ValueError("softmax: x is a scalar: at least one dimension is needed")


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    ctx.save_for_backward(output)


def _gradients(ctx, grad) -> torch.Tensor:  # noqa: ANN001
    (y,) = ctx.saved_tensors
    return torch.ops.aten._softmax_backward_data(grad, y, y.dim() - 1, y.dtype)


_softmax = _operator.define(
    "softmax",
    "softmax(Tensor x) -> Tensor",
    _launch,
    _check,
    backward=_gradients,
    setup_context=_setup_context,
)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """``exp(x - max(x)) / sum(exp(x - max(x)))`` over the last dimension, computed in float32.

    A row with NaN, or without finite elements, is NaN, as in PyTorch. The gradient is PyTorch's operator.

    Args:
        x: of any shape with at least one dimension; float32, float16 or bfloat16, on the npu.

    Returns:
        A contiguous tensor of the shape and type of ``x``.

    Raises:
        ValueError: ``x`` has no dimension, another type or device.
    """
    return _softmax(x)
