"""Addition in Ascend C, of tensors of one shape."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("add")
_TILE_BYTES = 16384  # of each tensor


def _launch(
    x: torch.Tensor, y: torch.Tensor, z: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    tile = _TILE_BYTES // x.element_size()
    tiling = _TILING.pack(count=x.numel(), tile=tile)
    blocks = _operator.cores(-(-x.numel() // tile))
    return blocks, (x, y, z, tiling), _operator.TILING_KEYS[x.dtype]


def _check(x: torch.Tensor, y: torch.Tensor) -> None:
    _operator.check_same_shape("add", x=x, y=y)


def _gradients(ctx, grad) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN001
    return grad, grad


_add = _operator.define(
    "add", "add(Tensor x, Tensor y) -> Tensor", _launch, _check, backward=_gradients
)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """``x + y`` of one shape and type, with gradients: there is no broadcasting.

    float16 is added in its own type, bfloat16 in float32 and rounded once.

    Args:
        x: of any shape; float32, float16 or bfloat16, on the npu.
        y: of the shape and type of ``x``.

    Returns:
        A contiguous tensor of the shape and type of ``x``.

    Raises:
        ValueError: shapes, types or devices do not match.
    """
    return _add(x, y)
