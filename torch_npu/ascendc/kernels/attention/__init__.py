"""Attention in Ascend C, without a matrix of scores in memory."""

import math

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("attention")
_MAX_SIZE = 128  # of a head: sums of a tile of queries fit the unified buffer
_TILE = 64  # queries


def _launch(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float, y: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    batches, heads, queries, size = q.shape
    tiling = _TILING.pack(
        batches=batches,
        heads=heads,
        key_heads=k.shape[1],
        queries=queries,
        keys=k.shape[2],
        size=size,
        causal=int(causal),
        scale=scale,
    )
    blocks = _operator.cube_cores(batches * heads * -(-queries // _TILE))
    return blocks, (q, k, v, y, tiling), _operator.TILING_KEYS[q.dtype]


def _check(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float) -> None:
    _operator.check("attention", q=q, k=k, v=v)
    shapes = f"q is {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)}"
    if q.dim() != 4 or k.dim() != 4 or k.shape != v.shape:
        raise ValueError(
            f"attention: {shapes}: they are batches by heads by positions by size, k and v alike"
        )
    if 0 in (*q.shape, *k.shape):
        raise ValueError(f"attention: {shapes}: no size may be 0")
    if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3] or q.shape[1] % k.shape[1] != 0:
        raise ValueError(
            f"attention: {shapes}: batches and sizes of heads are the same, and k's heads divide q's"
        )
    if q.shape[3] > _MAX_SIZE:
        raise ValueError(f"attention: heads have {q.shape[3]} elements: at most {_MAX_SIZE}")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError(
            f"attention: {q.shape[2]} queries and {k.shape[2]} keys: with causal, queries without any key have no result"
        )
    if not abs(scale) <= torch.finfo(torch.float32).max:
        raise ValueError(f"attention: scale is {scale}: it has to be finite in float32")


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    *tensors, ctx.causal, ctx.scale = inputs
    ctx.save_for_backward(*tensors)


def _gradients(ctx, grad) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN001
    """Of the formula with the matrix of scores, by PyTorch's operators in float32."""
    q, k, v = (t.float() for t in ctx.saved_tensors)
    shared = q.shape[1] // k.shape[1]
    keys, values = (t.repeat_interleave(shared, 1) for t in (k, v))
    scores = ctx.scale * (q @ keys.transpose(-1, -2))
    if ctx.causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
        scores = scores.masked_fill(
            hidden.triu(scores.shape[-1] - scores.shape[-2] + 1), -torch.inf
        )
    weights = scores.softmax(-1)
    widened = grad.float()
    of_weights = widened @ values.transpose(-1, -2)
    of_scores = ctx.scale * weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True))

    def of_shared(t: torch.Tensor) -> torch.Tensor:
        return t.unflatten(1, (-1, shared)).sum(2).to(grad.dtype)

    of_q = (of_scores @ keys).to(grad.dtype)
    of_k = of_shared(of_scores.transpose(-1, -2) @ q)
    return of_q, of_k, of_shared(weights.transpose(-1, -2) @ widened), None, None


_attention = _operator.define(
    "attention",
    "attention(Tensor q, Tensor k, Tensor v, bool causal, float scale) -> Tensor",
    _launch,
    _check,
    backward=_gradients,
    setup_context=_setup_context,
)


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> torch.Tensor:
    """``softmax(scale * q @ k.T) @ v`` for each head (Dao et al., FlashAttention, 2022).

    Args:
        q: batches, heads, queries, size: at most 128; float32, float16 or bfloat16, on the npu.
        k: batches, key heads, keys, size, of the same type. Key heads divide heads: neighbours share one.
        v: as ``k``.
        causal: the last query sees all keys, the one before it all but the last, and so on.
        scale: None: 1 / sqrt(size).

    Returns:
        A contiguous tensor as ``q``. Gradients are PyTorch's operators, which do have a matrix of scores.

    Raises:
        ValueError: shapes, types, devices or the scale are none that it takes.
    """
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1]) if q.dim() and q.shape[-1] else 1.0
    return _attention(q, k, v, causal, scale)
