"""Operators of namespace npu against compositions of PyTorch's operators that compute the same, on npu and on the CPU."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

import torch_npu

Pair = tuple[Callable[[], object], Callable[[], object]]


def _of(device: str, *size: int, dtype: torch.dtype = torch.float16) -> Tensor:
    return torch.rand(size, device=device, dtype=torch.float32).add_(0.1).to(dtype)


def _rms(x: Tensor, gamma: Tensor) -> Tensor:
    y = x.float()
    return (y * (y.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gamma.float()).to(x.dtype)


def _gates(device: str, rows: int, size: int) -> dict[str, Pair]:
    x, narrow = _of(device, rows, 2 * size), _of(device, rows, size)

    def swiglu() -> Tensor:
        a, b = x.chunk(2, -1)
        return F.silu(a) * b

    def gelu_mul() -> Tensor:
        a, b = x.chunk(2, -1)
        return F.gelu(a) * b

    def fast_gelu() -> Tensor:
        return narrow * torch.sigmoid(1.702 * narrow)

    return {
        "npu_swiglu": (lambda: torch_npu.npu_swiglu(x), swiglu),
        "npu_gelu_mul": (lambda: torch_npu.npu_gelu_mul(x), gelu_mul),
        "npu_fast_gelu": (lambda: torch_npu.npu_fast_gelu(narrow), fast_gelu),
    }


def _norms(device: str, rows: int, size: int) -> dict[str, Pair]:
    a, b, gamma, scale = (
        _of(device, rows, size),
        _of(device, rows, size),
        _of(device, size),
        _of(device, size, dtype=torch.float32),
    )
    images, weight, bias = _of(device, 8, 64, 28, 28), _of(device, 64), _of(device, 64)

    def dynamic(y: Tensor) -> tuple[Tensor, Tensor]:
        widened = y.float()
        scales = widened.abs().amax(-1, keepdim=True) / 127
        return (widened / scales).round().clamp(-128, 127).to(torch.int8), scales.squeeze(-1)

    def static(y: Tensor) -> Tensor:
        return (y.float() / scale).round().clamp(-128, 127).to(torch.int8)

    return {
        "npu_rms_norm": (lambda: torch_npu.npu_rms_norm(a, gamma), lambda: _rms(a, gamma)),
        "npu_add_rms_norm": (
            lambda: torch_npu.npu_add_rms_norm(a, b, gamma),
            lambda: _rms(a + b, gamma),
        ),
        "npu_add_rms_norm_quant": (
            lambda: torch_npu.npu_add_rms_norm_quant(a, b, gamma, scale, None),
            lambda: static(_rms(a + b, gamma)),
        ),
        "npu_add_rms_norm_dynamic_quant": (
            lambda: torch_npu.npu_add_rms_norm_dynamic_quant(a, b, gamma),
            lambda: dynamic(_rms(a + b, gamma)),
        ),
        "npu_dynamic_quant": (lambda: torch_npu.npu_dynamic_quant(a), lambda: dynamic(a)),
        "npu_group_norm_silu": (
            lambda: torch_npu.npu_group_norm_silu(images, weight, bias, 8),
            lambda: F.silu(F.group_norm(images, 8, weight, bias)),
        ),
    }


def _rotary(device: str, tokens: int, heads: int, channels: int) -> dict[str, Pair]:
    x, cos, sin = (
        _of(device, 1, tokens, heads, channels),
        _of(device, 1, tokens, 1, channels),
        _of(device, 1, tokens, 1, channels),
    )
    flat, table = _of(device, tokens, heads * channels), _of(device, tokens, channels)
    positions = torch.arange(tokens, device=device)

    def rotated() -> Tensor:
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    def by_positions() -> list[Tensor]:
        c, s = (t[:, None] for t in table[positions].chunk(2, -1))
        found = []
        for given in (flat, flat):
            a, b = given.unflatten(1, (heads, channels)).chunk(2, -1)
            found.append(torch.cat((a * c - b * s, b * c + a * s), -1).flatten(1))
        return found

    return {
        "npu_rotary_mul": (lambda: torch_npu.npu_rotary_mul(x, cos, sin), rotated),
        "npu_mrope": (
            lambda: torch_npu.npu_mrope(positions, flat, flat, table, channels),
            by_positions,
        ),
    }


def _choices(device: str, rows: int, words: int) -> dict[str, Pair]:
    logits = _of(device, rows, words, dtype=torch.float32)
    p, k = torch.full((rows,), 0.9, device=device), torch.full((rows,), 50, device=device)
    labels = logits.softmax(-1)

    def chosen() -> Tensor:
        ordered, order = logits.sort(dim=-1, stable=True)
        ordered = ordered.masked_fill(ordered < ordered.gather(1, words - k[:, None]), -math.inf)
        left = ordered.softmax(-1).cumsum(-1) <= 1 - p[:, None]
        left[:, -1] = False
        return torch.empty_like(ordered).scatter_(-1, order, ordered.masked_fill(left, -math.inf))

    return {
        "npu_top_k_top_p": (lambda: torch_npu.npu_top_k_top_p(logits, p, k), chosen),
        "npu_softmax_cross_entropy_with_logits": (
            lambda: torch_npu.npu_softmax_cross_entropy_with_logits(logits, labels),
            lambda: -(labels * logits.log_softmax(-1)).sum(-1),
        ),
    }


def _products(device: str, size: int) -> dict[str, Pair]:
    x, w, bias = (_of(device, size, size, dtype=torch.float32) for _ in range(3))
    stack = _of(device, 8, size // 4, size // 4, dtype=torch.float32)
    return {
        "npu_linear": (lambda: torch_npu.npu_linear(x, w), lambda: F.linear(x, w)),
        "npu_fused_matmul, gelu": (
            lambda: torch.ops.npu.npu_fused_matmul(x, w, fused_op_type="gelu_erf"),
            lambda: F.gelu(x @ w),
        ),
        "npu_transpose_batchmatmul": (
            lambda: torch_npu.npu_transpose_batchmatmul(stack, stack),
            lambda: (stack @ stack).transpose(0, 1).contiguous(),
        ),
        "npu_confusion_transpose": (
            lambda: torch_npu.npu_confusion_transpose(bias, [1, 0], [size * size], True),
            lambda: bias.permute(1, 0).reshape(-1),
        ),
    }


def _boxes(device: str, count: int) -> dict[str, Pair]:
    a, b = _of(device, 4, count, dtype=torch.float32), _of(device, 4, count, dtype=torch.float32)

    def giou() -> Tensor:
        (x, y, w, h), (u, v, s, t) = a, b
        x1, y1, x2, y2 = x - w / 2, y - h / 2, x + w / 2, y + h / 2
        u1, v1, u2, v2 = u - s / 2, v - t / 2, u + s / 2, v + t / 2
        inter = (torch.minimum(x2, u2) - torch.maximum(x1, u1)).clamp(0)
        inter = inter * (torch.minimum(y2, v2) - torch.maximum(y1, v1)).clamp(0)
        union = w * h + s * t - inter + 1e-10
        hull = (torch.maximum(x2, u2) - torch.minimum(x1, u1)) * (
            torch.maximum(y2, v2) - torch.minimum(y1, v1)
        )
        return inter / union - (hull + 1e-10 - union) / (hull + 1e-10)

    return {"npu_giou": (lambda: torch_npu.npu_giou(a, b, trans=True), giou)}


def _experts(device: str, rows: int, experts: int, choices: int) -> dict[str, Pair]:
    scores = _of(device, rows, experts)

    def top() -> tuple[Tensor, Tensor, Tensor]:
        values, experts_of = scores.softmax(-1).topk(choices)
        numbers = torch.arange(rows * choices, device=device, dtype=torch.int32)
        return values, experts_of.int(), numbers.view(choices, rows).t().contiguous()

    return {
        "npu_moe_gating_top_k_softmax": (
            lambda: torch_npu.npu_moe_gating_top_k_softmax(scores, k=choices),
            top,
        )
    }


def _caches(device: str, tokens: int, slots: int) -> dict[str, Pair]:
    latent, rope, page = 512, 64, 128
    kv, gamma = _of(device, tokens, 1, 1, latent + rope), _of(device, latent)
    cos, sin = _of(device, tokens, 1, 1, rope), _of(device, tokens, 1, 1, rope)
    keys, values = _of(device, slots, page, 1, rope), _of(device, slots, page, 1, latent)
    index = torch.randperm(slots * page, device=device)[:tokens]
    table, updates = _of(device, slots * page, latent), _of(device, tokens, latent)

    def cached() -> tuple[Tensor, Tensor]:
        a, b = kv[..., latent::2], kv[..., latent + 1 :: 2]
        turned = torch.cat((a, b), -1) * cos + torch.cat((-b, a), -1) * sin
        keys.view(-1, rope)[index] = turned.view(-1, rope)
        values.view(-1, latent)[index] = _rms(kv[..., :latent], gamma).view(-1, latent)
        return keys, values

    def updated() -> Tensor:
        table[index] = updates
        return table

    return {
        "npu_kv_rmsnorm_rope_cache": (
            lambda: torch_npu.npu_kv_rmsnorm_rope_cache(
                kv, gamma, cos, sin, index, keys, values, cache_mode="PA"
            ),
            cached,
        ),
        "npu_scatter_nd_update_": (
            lambda: torch_npu.npu_scatter_nd_update_(table, index[:, None], updates),
            updated,
        ),
    }


def _attention(device: str, tokens: int, heads: int, channels: int) -> dict[str, Pair]:
    q, k, v = (_of(device, 1, heads, tokens, channels) for _ in range(3))
    scale = channels**-0.5

    def composed() -> Tensor:
        return ((q @ k.mT).float() * scale).softmax(-1).to(v.dtype) @ v

    return {
        "npu_fusion_attention": (
            lambda: torch_npu.npu_fusion_attention(q, k, v, heads, "BNSD", scale=scale)[0],
            composed,
        )
    }


def _works(device: str) -> dict[str, Pair]:
    return (
        _gates(device, 1024, 2048)
        | _norms(device, 1024, 2048)
        | _rotary(device, 1024, 16, 128)
        | _choices(device, 16, 32_000)
        | _products(device, 512)
        | _boxes(device, 10_000)
        | _experts(device, 1024, 64, 8)
        | _caches(device, 256, 16)
        | _attention(device, 1024, 8, 128)
    )


def custom_works() -> dict[
    str, tuple[Callable[[], object], Callable[[], object], Callable[[], object]]
]:
    """An operator, its composition on npu and on the CPU, at sizes of networks."""
    on_cpu = _works("cpu")
    return {name: (*pair, on_cpu[name][1]) for name, pair in _works("npu").items()}
