"""Products of groups of rows by weights of their own, in Ascend C."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("grouped_matmul")
_TILE_ROWS = 128
_TILE_COLUMNS = 256


def _launch(
    x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor, y: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    groups, depth, columns = weight.shape
    rows = x.shape[0]
    tiling = _TILING.pack(
        rows=rows,
        columns=columns,
        depth=depth,
        groups=groups,
        tile_rows=_TILE_ROWS,
        tile_columns=min(_TILE_COLUMNS, columns),
    )
    tiles = (-(-rows // _TILE_ROWS) + groups) * -(-columns // _TILE_COLUMNS)
    return (
        _operator.cube_cores(tiles),
        (x, weight, ends, y, tiling),
        _operator.TILING_KEYS[x.dtype],
    )


def _check(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> None:
    _operator.check("grouped_matmul", x=x, weight=weight)
    if x.dim() != 2 or weight.dim() != 3 or x.shape[1] != weight.shape[1]:
        raise ValueError(
            f"grouped_matmul: x is {tuple(x.shape)} and weight {tuple(weight.shape)}: they are rows by depth, and groups"
            " by depth by columns"
        )
    if ends.dtype != torch.int32 or ends.shape != weight.shape[:1] or ends.device != x.device:
        raise ValueError(
            f"grouped_matmul: ends is {ends.dtype} {tuple(ends.shape)} on {ends.device}: it is int32, with"
            f" {weight.shape[0]} elements, as weight has groups, on {x.device}"
        )
    if 0 in (*x.shape, *weight.shape):
        raise ValueError(
            f"grouped_matmul: x is {tuple(x.shape)} and weight {tuple(weight.shape)}: no size may be 0"
        )


def _output(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[0], weight.shape[2])


_grouped_matmul = _operator.define(
    "grouped_matmul",
    "grouped_matmul(Tensor x, Tensor weight, Tensor ends) -> Tensor",
    _launch,
    _check,
    _output,
)


def grouped_matmul(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """``x[begin:end] @ weight[g]`` for each group g of rows: sums in float32, rounded once. Without gradients.

    Args:
        x: rows by depth; float32, float16 or bfloat16, on the npu.
        weight: groups by depth by columns, of the same type.
        ends: of each group the row behind its last one, int32 on the npu; the next group begins there.

    Returns:
        Rows by columns. Rows behind the last group are zeros. Ends that do not grow, or exceed the rows, are an error of
        the next synchronisation.

    Raises:
        ValueError: shapes, types or devices are none that it takes, or a size is 0.
    """
    return _grouped_matmul(x, weight, ends)
