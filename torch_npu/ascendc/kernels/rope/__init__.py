"""Rotary position embedding in Ascend C: pairs of numbers of each head, rotated by the angles of its position."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("rope")
_ELEMENTS = 4096  # of a tile: all buffers fit the unified buffer, each is 16 KiB at most
_PAIRS = 512  # of a tile
_REPEATS = 255  # of a vector instruction


def _aligned(count: int) -> int:
    """Rows in local memory: whole blocks for each type."""
    return -(-count // 16) * 16


def _tiling(shape: torch.Size, interleaved: bool) -> tuple[dict[str, int], int]:
    """The fields but the direction, and how many parts blocks work on.

    Args:
        shape: of x.
        interleaved: pairs are neighbours.
    """
    batches, positions, heads, size = shape
    if positions == 1:  # all batches have the same angles
        batches, heads = 1, batches * heads
    pairs = size // 2
    tile_pairs = min(pairs, _PAIRS)
    table = _aligned(tile_pairs)
    row = _aligned(2 * tile_pairs) if interleaved else 2 * table
    rows = min(_ELEMENTS // row, _REPEATS)
    tile_heads = max(1, -(-heads // max(1, -(-heads // rows))))
    # Several positions only with all heads; half as many elements of cos as of x.
    tile_positions = min(positions, rows // tile_heads, _ELEMENTS // 2 // table)
    tile_positions = max(1, tile_positions if tile_heads >= heads else 1)
    spans = batches * -(-positions // tile_positions)
    # Heads are divided where that gives more blocks something to do.
    parts = spans * -(-heads // tile_heads)
    unit_heads = tile_heads if _operator.cores(parts) > _operator.cores(spans) else max(1, heads)
    fields = {
        "batches": batches,
        "positions": positions,
        "heads": heads,
        "pairs": pairs,
        "tile_positions": tile_positions,
        "tile_heads": tile_heads,
        "tile_pairs": tile_pairs,
        "tile_elements": tile_positions * tile_heads * row,
        "table_elements": tile_positions * table,
        "unit_heads": unit_heads,
    }
    return fields, spans * -(-heads // unit_heads)


def _launch(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    interleaved: bool,
    inverse: bool,
    y: torch.Tensor,
) -> tuple[int, tuple[object, ...], int]:
    fields, units = _tiling(x.shape, interleaved)
    tiling = _TILING.pack(**fields, direction=-1.0 if inverse else 1.0)
    key = _operator.TILING_KEYS[x.dtype] + 10 * (cos.dtype == torch.float32) + 100 * interleaved
    return _operator.cores(units), (x, cos, sin, y, tiling), key


def _check(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *_: bool) -> None:
    _operator.check("rope", x=x)
    _operator.check("rope", cos=cos, sin=sin)
    if x.device != cos.device or cos.dtype not in (x.dtype, torch.float32):
        raise ValueError(
            f"rope: cos and sin are {cos.dtype} on {cos.device}, x {x.dtype} on {x.device}: they have to be of"
            " the type of x or float32, on the same device"
        )
    if x.dim() != 4 or x.shape[-1] == 0 or x.shape[-1] % 2:
        raise ValueError(
            f"rope: x is {tuple(x.shape)}: it has to be [batch, sequence, heads, head_dim] with an even head_dim"
        )
    if cos.shape != (x.shape[1], x.shape[3] // 2) or sin.shape != cos.shape:
        raise ValueError(
            f"rope: cos is {tuple(cos.shape)} and sin {tuple(sin.shape)}: both have to be"
            f" {(x.shape[1], x.shape[3] // 2)}, [sequence, head_dim / 2] of x"
        )


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    _, cos, sin, ctx.interleaved, ctx.inverse = inputs
    ctx.save_for_backward(cos, sin)


def _gradients(ctx, grad) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN001
    grad_x = _rope(grad, *ctx.saved_tensors, ctx.interleaved, not ctx.inverse)
    return grad_x, None, None, None, None


_rope = _operator.define(
    "rope",
    "rope(Tensor x, Tensor cos, Tensor sin, bool interleaved, bool inverse) -> Tensor",
    _launch,
    _check,
    backward=_gradients,
    setup_context=_setup_context,
)


def rope(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, interleaved: bool = False
) -> torch.Tensor:
    """Rotates each pair ``(a, b)`` of a head to ``(a * cos - b * sin, b * cos + a * sin)``, computed in float32.

    As Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), define it. The gradient of
    ``x`` is the inverse rotation of the result's; ``cos`` and ``sin`` get none.

    Args:
        x: ``[batch, sequence, heads, head_dim]``, head_dim even; float32, float16 or bfloat16, on the npu.
        cos: ``[sequence, head_dim / 2]``, of the angles of each position; of x's type or float32.
        sin: the same.
        interleaved: pairs are neighbours, ``x[..., 2 * i]`` and ``x[..., 2 * i + 1]``, as in the first LLaMA;
            otherwise elements of the halves, ``x[..., i]`` and ``x[..., head_dim / 2 + i]``, as in transformers.

    Returns:
        A contiguous tensor like ``x``.

    Raises:
        ValueError: shapes, types or devices do not match, or ``cos`` or ``sin`` require a gradient.
    """
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        raise ValueError("rope: cos and sin get no gradient: pass cos.detach() and sin.detach()")
    return _rope(x, cos, sin, interleaved, False)
