"""Matrix products and attention."""

import math

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import Lower, Scalar, aten, known, tensor


def product(b: GraphBuilder, x: Ref, y: Ref, bias: Ref | None = None) -> Ref:
    """``x`` [M, K] times ``y`` [K, N], plus ``bias`` [N]."""
    operands = (x, y) if bias is None else (x, y, bias)
    return b.emit("MatMulV2", *operands, allow_hf32=b.matmul_hf32)


def linear(b: GraphBuilder, x: Ref, weight: Ref, bias: Ref | None = None) -> Ref:
    """As ``torch.nn.functional.linear``: ``x`` [.., K], ``weight`` [N, K]."""
    rows = b.view(x, [-1, x.shape[-1]])
    y = product(b, rows, b.transpose(weight, [1, 0]), bias)
    return b.view(y, [*x.shape[:-1], weight.shape[0]])


def _addmm(
    b: GraphBuilder, bias: Ref, x: Ref, y: Ref, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Ref:
    if beta == 1 and alpha == 1 and bias.shape == (y.shape[1],):
        return product(b, x, y, bias)
    result = product(b, x, y)
    if alpha != 1:
        result = b.emit("Mul", result, b.number(alpha, result.dtype))
    if beta != 1:
        bias = b.emit("Mul", bias, b.number(beta, bias.dtype))
    return b.emit("Add", result, bias)


def _bmm(b: GraphBuilder, x: Ref, y: Ref) -> Ref:
    return b.emit("BatchMatMulV2", x, y, allow_hf32=b.matmul_hf32)


def _baddbmm(
    b: GraphBuilder, bias: Ref, x: Ref, y: Ref, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Ref:
    known(beta == 1 and alpha == 1, "beta or alpha")
    return b.emit("Add", _bmm(b, x, y), bias)


def _mv(b: GraphBuilder, x: Ref, y: Ref) -> Ref:
    return b.view(product(b, x, b.view(y, [-1, 1])), [x.shape[0]])


def _dot(b: GraphBuilder, x: Ref, y: Ref) -> Ref:
    return b.view(product(b, b.view(x, [1, -1]), b.view(y, [-1, 1])), [])


def attention(
    b: GraphBuilder,
    q: Ref,
    k: Ref,
    v: Ref,
    bias: Ref | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Ref:
    """As ``torch.nn.functional.scaled_dot_product_attention`` over [N, heads, S, D]."""
    known(q.rank == 4, "attention of other tensors than [N, heads, S, D]")
    known(q.dtype in (torch.float32, torch.float16, torch.bfloat16), f"attention of {q.dtype}")
    if k.shape[1] != q.shape[1]:
        k, v = (_shared_heads(b, x, q.shape[1]) for x in (k, v))
    if is_causal and q.shape[2] > 1:
        known(bias is None, "a causal mask and a bias")
        hidden = torch.full((q.shape[2], k.shape[2]), -math.inf).triu(1).to(q.dtype)
        bias = b.constant(hidden[None, None])
    elif is_causal and k.shape[2] > 1:
        k, v = (b.slice(x, 2, 0, 1) for x in (k, v))
    if bias is not None:
        if bias.dtype == torch.bool:
            added = (tensor(b, value, q.dtype) for value in (0.0, -math.inf))
            bias = b.emit("Select", bias, *added)
        known(bias.dtype == q.dtype, f"a bias of {bias.dtype}")
        bias = b.view(bias, [1] * (4 - bias.rank) + list(bias.shape))
    scale = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    operands = (q, k, v) if bias is None else (q, k, v, bias)
    return b.emit("softnpuAttention", *operands, scale=float(scale))


def _shared_heads(b: GraphBuilder, x: Ref, heads: int) -> Ref:
    n, own, steps, depth = x.shape
    known(heads % own == 0, "heads of keys that do not divide those of queries")
    expanded = b.broadcast(
        b.view(x, [n, own, 1, steps, depth]), [n, own, heads // own, steps, depth]
    )
    return b.view(expanded, [n, heads, steps, depth])


def _attention(
    b: GraphBuilder,
    q: Ref,
    k: Ref,
    v: Ref,
    bias: Ref | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Ref | None, ...]:
    known(dropout == 0 and not return_debug_mask, "dropout")
    return (attention(b, q, k, v, bias, is_causal, scale),) + (None,) * 8


PRODUCTS: dict[object, Lower] = {
    aten.mm.default: product,
    aten.addmm.default: _addmm,
    aten.bmm.default: _bmm,
    aten.baddbmm.default: _baddbmm,
    aten.mv.default: _mv,
    aten.dot.default: _dot,
    aten._scaled_dot_product_fused_attention_overrideable.default: _attention,
}
