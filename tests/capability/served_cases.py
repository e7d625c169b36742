"""Calls of composed operators of serving and quantization, each with a definition in plain PyTorch.

The definitions take the arguments on the CPU in float64; int8 results may differ from theirs by one where a value is
near the middle of two numbers.
"""

import torch
import torch.nn.functional as F

from tests.capability.composed_cases import Case, values

NAN = float("nan")


def to_int8(y):
    return y.round().clamp(-128, 127).to(torch.int8)


def by_rows(y):
    scale = y.abs().amax(-1, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return to_int8(y / scale), scale.squeeze(-1)


def rms(x, gamma, beta=None, epsilon=1e-6):
    y = x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * gamma
    return y if beta is None else y + beta


def statically(y, scale, offset=None, divides=True):
    y = y / scale if divides else y * scale
    return to_int8(y if offset is None else y + offset)


def add_rms_norm_quant(x1, x2, gamma, s1, z1, beta=None, s2=None, z2=None, div_mode=True, **_):
    y = rms(x1 + x2, gamma, beta)
    second = (
        torch.zeros_like(y, dtype=torch.int8) if s2 is None else statically(y, s2, z2, div_mode)
    )
    return statically(y, s1, z1, div_mode), second, x1 + x2


def add_rms_norm_dynamic(
    x1, x2, gamma, smooth_scale1=None, smooth_scale2=None, beta=None, output_mask=None, **_
):
    y = rms(x1 + x2, gamma, beta)
    both = smooth_scale1 is not None and smooth_scale2 is not None
    found = []
    for wanted, smooth in zip(
        output_mask or (True, both), (smooth_scale1, smooth_scale2), strict=True
    ):
        none = torch.zeros(1, dtype=torch.int8), torch.zeros(1).double()
        found.append(by_rows(y if smooth is None else y * smooth) if wanted else none)
    return found[0][0], found[1][0], x1 + x2, found[0][1], found[1][1]


def swiglu_quant(x, smooth_scales=None, offsets=None, group_index=None, activate_left=False, quant_mode=0,
                 group_list_type=0):  # fmt: skip
    a, b = x.chunk(2, -1)
    y = F.silu(a) * b if activate_left else a * F.silu(b)
    if group_index is not None:
        begin = 0
        for i, number in enumerate(group_index.tolist()):
            end = number if group_list_type == 0 else begin + number
            y[begin:end] = y[begin:end] * smooth_scales[i] + (offsets[i] if quant_mode == 0 else 0)
            begin = end
    elif smooth_scales is not None:
        y = y * smooth_scales + (offsets if quant_mode == 0 and offsets is not None else 0)
    if quant_mode == 0:
        return to_int8(y), torch.zeros(x.shape[:-1]).double()
    factor = 127 / y.abs().amax(-1)
    return to_int8(y * factor[:, None]), factor


def dequant_swiglu_quant(x, weight_scale=None, activation_scale=None, bias=None, quant_scale=None,
                         quant_offset=None, group_index=None, activate_left=False, quant_mode=0, swiglu_mode=0,
                         **_):  # fmt: skip
    y = torch.zeros(x.shape[0], x.shape[1] // 2).double()
    scales, begin = torch.zeros(x.shape[0]).double(), 0
    table = lambda t, i: t[i] if t.dim() == 2 else t  # noqa: E731
    for i, count in enumerate([x.shape[0]] if group_index is None else group_index.tolist()):
        part = slice(begin, begin + count)
        v = x[part].double()
        if weight_scale is not None:
            whole = bias is not None and not bias.is_floating_point()
            v = (v + table(bias, i) if whole else v) * table(weight_scale, i)
            v = v if activation_scale is None else v * activation_scale[part, None]
            v = v if bias is None or whole else v + table(bias, i)
        if swiglu_mode:
            a, b = v[:, ::2].clamp(max=7), v[:, 1::2].clamp(-7, 7)
            v = a * torch.sigmoid(1.702 * a) * (b + 1)
        else:
            a, b = v.chunk(2, -1)
            v = F.silu(a) * b if activate_left else a * F.silu(b)
        if quant_mode == 0:
            v = v if quant_scale is None else v / table(quant_scale, i)
            y[part] = v if quant_offset is None else v + table(quant_offset, i)
        else:
            v = v if quant_scale is None else v * table(quant_scale, i)
            scales[part] = v.abs().amax(-1) / 127
            y[part] = v / scales[part, None]
        begin += count
    return to_int8(y), scales


def gelu_quant(x, input_scale=None, input_offset=None, approximate="none", quant_mode="dynamic"):
    y = F.gelu(x, approximate=approximate)
    if quant_mode == "static":
        return statically(y, input_scale, input_offset, False), torch.empty(0).double()
    return by_rows(y if input_scale is None else y * input_scale)


def block_quant(x, min_scale=0.0, row_block_size=1, col_block_size=128, **_):
    y, rows = torch.empty_like(x, dtype=torch.int8), []
    for i in range(0, x.shape[-2], row_block_size):
        rows.append([])
        for j in range(0, x.shape[-1], col_block_size):
            part = (..., slice(i, i + row_block_size), slice(j, j + col_block_size))
            scale = (x[part].abs().amax((-2, -1)) / 127).clamp(min_scale)
            y[part] = to_int8(x[part] / scale[..., None, None])
            rows[-1].append(scale)
    return y, torch.stack([torch.stack(row, -1) for row in rows], -2)


def group_quant(x, scale, ends, offset=None):
    y, begin = torch.zeros_like(x), 0
    for i, end in enumerate(ends.tolist()):
        y[begin:end] = x[begin:end] * scale[i]
        begin = end
    return to_int8(y if offset is None else y + offset)


def quant_scatter(x, indices, updates, scales, zero_points=None, axis=-2, quant_axis=-1):
    shape = [1] * updates.dim()
    shape[quant_axis] = -1
    y = updates / scales.reshape(shape)
    rows = to_int8(y if zero_points is None else y + zero_points.reshape(shape))
    out = x.clone()
    for b, start in enumerate(indices.tolist()):
        out[b].narrow(axis % x.dim() - 1, start, rows.shape[axis]).copy_(rows[b])
    return out


def packed(weight):
    places = torch.arange(8) * 4
    whole = ((weight.long() & 15).unflatten(-1, (-1, 8)) << places).sum(-1)
    return torch.where(whole >= 2**31, whole - 2**32, whole).int()


X8 = values(4, 16)
GAMMA = values(16, low=0.5)
INT = (values(6, 8, low=-500, high=500)).round().int()
WIDENED = {"dtypes": (torch.float32, torch.float16)}
QUANTIZED = {
    "npu_add_rms_norm_quant": Case(add_rms_norm_quant, (X8, values(4, 16) + 1, GAMMA, values(16, low=0.02, high=0.04), None), **WIDENED),
    "npu_add_rms_norm_quant-two": Case(
        add_rms_norm_quant,
        (X8, values(4, 16), GAMMA, values(16, low=20.0, high=30.0), torch.arange(16).int(), values(16),
         values(16, low=10.0, high=20.0), None),
        {"div_mode": False}, **WIDENED,
    ),
    "npu_add_rms_norm_dynamic_quant": Case(add_rms_norm_dynamic, (X8, values(4, 16), GAMMA), **WIDENED),
    "npu_add_rms_norm_dynamic_quant-two": Case(
        add_rms_norm_dynamic, (X8, values(4, 16), GAMMA),
        {"smooth_scale1": values(16), "smooth_scale2": values(16) + 3, "beta": values(16)}, **WIDENED,
    ),
    "npu_add_rms_norm_dynamic_quant-second": Case(
        add_rms_norm_dynamic, (X8, values(4, 16), GAMMA), {"output_mask": [False, True]}, **WIDENED
    ),
    "npu_rms_norm_quant": Case(
        lambda x, g, b, s, o: statically(rms(x, g, b), s, o),
        (X8, GAMMA, values(16), torch.tensor([0.03]).double(), torch.tensor([3], dtype=torch.int8)), **WIDENED,
    ),
    "npu_rms_norm_quant_v2": Case(
        lambda x, g, s, **k: (statically(rms(x, g, k["beta"]), s, None, False), torch.empty(0)),
        (X8, GAMMA, torch.tensor([30.0]).double()), {"beta": values(16), "div_mode": False}, **WIDENED,
    ),
    "npu_swiglu_quant": Case(swiglu_quant, (values(6, 8), values(4) + 3, values(4)) [:1],
                             {"smooth_scales": values(4) + 30, "offsets": values(4)}, **WIDENED),
    "npu_swiglu_quant-groups": Case(
        swiglu_quant, (values(6, 8),),
        {"smooth_scales": values(2, 4) + 30, "offsets": values(2, 4), "group_index": torch.tensor([2, 5])}, **WIDENED,
    ),
    "npu_swiglu_quant-dynamic": Case(
        swiglu_quant, (values(6, 8),),
        {"smooth_scales": values(2, 4) + 3, "group_index": torch.tensor([2, 4]), "group_list_type": 1,
         "quant_mode": 1, "activate_left": True}, **WIDENED,
    ),
    "npu_dequant_swiglu_quant": Case(
        dequant_swiglu_quant, (INT,),
        {"weight_scale": values(8, low=0.004, high=0.008), "activation_scale": values(6, low=0.5), "quant_mode": 1,
         "bias": (values(8) * 100).round().int()}, dtypes=(torch.float32,),
    ),
    "npu_dequant_swiglu_quant-static": Case(
        dequant_swiglu_quant, (values(6, 8),),
        {"quant_scale": values(4, low=0.02, high=0.03), "quant_offset": values(4), "activate_left": True}, **WIDENED,
    ),
    "npu_dequant_swiglu_quant-groups": Case(
        dequant_swiglu_quant, (INT,),
        {"weight_scale": values(2, 8, low=0.004, high=0.008), "quant_scale": values(2, 4, low=0.5), "quant_mode": 1,
         "group_index": torch.tensor([2, 3])}, dtypes=(torch.float32,),
    ),
    "npu_dequant_swiglu_quant-clamped": Case(
        dequant_swiglu_quant, (values(6, 8) * 6,), {"swiglu_mode": 1, "quant_mode": 1}, **WIDENED
    ),
    "npu_gelu_quant": Case(gelu_quant, (values(4, 8),), {"input_scale": values(8, low=0.5)}, **WIDENED),
    "npu_gelu_quant-static": Case(
        gelu_quant, (values(4, 8),),
        {"input_scale": values(8) + 30, "input_offset": values(8), "approximate": "tanh", "quant_mode": "static"},
        **WIDENED,
    ),
    "npu_dynamic_block_quant": Case(block_quant, (values(4, 300),), **WIDENED),
    "npu_dynamic_block_quant-blocks": Case(
        block_quant, (values(2, 5, 9),), {"min_scale": 0.012, "row_block_size": 2, "col_block_size": 4}, **WIDENED
    ),
    "npu_group_quant": Case(
        group_quant, (values(5, 8), values(2, 8) + 30, torch.tensor([2, 5])), {"offset": torch.tensor([1.5]).double()},
        **WIDENED,
    ),
    "npu_quant_scatter": Case(
        quant_scatter,
        (torch.arange(48, dtype=torch.int8).reshape(2, 6, 4), torch.tensor([3, 1]), values(2, 2, 4),
         values(4, low=0.02, high=0.03)), **WIDENED,
    ),
    "npu_convert_weight_to_int4pack": Case(packed, ((values(3, 16) * 4).round().int().clamp(-8, 7),)),
}  # fmt: skip

# ---- serving ----


def top_k_top_p(logits, p=None, k=None):
    out = logits.clone()
    for row, given in enumerate(logits):
        order = given.sort(stable=True).indices
        kept = given[order].clone()
        if k is not None:
            kept[kept < kept[len(kept) - int(k[row])]] = -torch.inf
        if p is not None:
            left = kept.softmax(0).cumsum(0) <= 1 - p[row]
            left[-1] = False
            kept[left] = -torch.inf
        out[row, order] = kept
    return out


def rope(x, cos, sin, by_halves=True):
    half = cos.shape[-1]
    turned, rest = x[..., : 2 * half], x[..., 2 * half :]
    a, b = turned.chunk(2, -1) if by_halves else (turned[..., ::2], turned[..., 1::2])
    parts = (a * cos - b * sin, b * cos + a * sin)
    result = torch.cat(parts, -1) if by_halves else torch.stack(parts, -1).flatten(-2)
    return torch.cat((result, rest), -1)


def mrope(
    positions, query, key, cache, head, mrope_section=None, rotary_mode="half", cache_mode="default"
):
    half = cache.shape[1] // 2
    angles = cache[positions]
    if positions.dim() == 2:
        channels = []
        ends = torch.tensor(mrope_section).cumsum(0)
        for c in range(half):
            owner = int((ends <= c).sum())
            if cache_mode == "interleave":
                owner = c % 3 if c < 3 * mrope_section[1] else 0
            channels.append(angles[owner].unflatten(-1, (2, half))[..., c])
        angles = torch.stack(channels, -1).flatten(1)
    cos, sin = (t[:, None] for t in angles.chunk(2, -1))
    turn = lambda x: rope(x.unflatten(1, (-1, head)), cos, sin, rotary_mode == "half").flatten(1)  # noqa: E731
    return turn(query), turn(key)


def kv_cache(kv, gamma, cos, sin, index, k_cache, ckv_cache, k_rope_scale=None, c_kv_scale=None,
             k_rope_offset=None, c_kv_offset=None, v=None, epsilon=1e-5, cache_mode="Norm", is_output_kv=False):  # fmt: skip
    n, r = gamma.shape[0], cos.shape[-1]
    y = rms(kv[..., :n], gamma, None, epsilon)
    k = (
        (y[..., :r] if v is not None else kv[..., n:])
        .unflatten(-1, (-1, 2))
        .transpose(-1, -2)
        .flatten(-2)
    )
    a, b = k.chunk(2, -1)
    k = k * cos + torch.cat((-b, a), -1) * sin
    key = torch.cat((k, y[..., r:]), -1) if v is not None else k
    value = v if v is not None else y
    caches = []
    for cache, rows, scale, offset in ((k_cache, key, k_rope_scale, k_rope_offset),
                                       (ckv_cache, value, c_kv_scale, c_kv_offset)):  # fmt: skip
        if scale is not None:
            rows = to_int8(rows * scale + (0 if offset is None else offset))
        cache = cache.clone()
        for i in range(kv.shape[0]):
            for t in range(kv.shape[2]):
                row = rows[i, 0, t].to(cache.dtype)
                if cache_mode == "Norm":
                    cache[i, 0, index[i, t]] = row
                    continue
                page = cache.shape[1]
                if "BLK" in cache_mode:
                    slot = int(index[i * -(-kv.shape[2] // page) + t // page])
                    slot = slot + t % page if slot >= 0 else -1
                else:
                    slot = int(index[i * kv.shape[2] + t])
                if slot < 0:
                    continue
                if cache_mode.endswith("NZ"):
                    block = BLOCKS[cache.shape[-1]]
                    view = cache.view(cache.shape[0], -1, page, block)
                    view[slot // page, :, slot % page] = row.view(-1, block)
                else:
                    cache[slot // page, slot % page, 0] = row
        caches.append(cache)
    return caches[0], caches[1], key, value


def functional_kv_cache(*args, **kwargs):
    a, b, c, d = kv_cache(*args, **kwargs)
    return c, d, a, b


BLOCKS = {32: 8, 64: 8}  # of float32, by channels


def joined(lse, outs, kind):
    total = torch.stack(lse).logsumexp(0)
    out = sum(o * (s - total).exp()[:, None] for s, o in zip(lse, outs, strict=True))
    return out, total if kind else torch.empty(0).double()


def ring(out1, max1, sum1, out2, max2, sum2):
    most = torch.maximum(max1, max2)
    parts = [s * (m - most).exp() for m, s in ((max1, sum1), (max2, sum2))]
    total = sum(parts)
    heads = max1.shape[1]
    whole = sum(
        o.unflatten(2, (heads, -1)) * (p / total)[..., 0].permute(2, 0, 1)[..., None]
        for o, p in zip((out1, out2), parts, strict=True)
    )
    return whole.flatten(2), most, total


def gathered(
    key_cache, value_cache, table, lens, key, value, seq_offset=None, is_seq_lens_cumsum=False
):
    page, out = key_cache.shape[1], [key.clone(), value.clone()]
    counts = lens.diff().tolist() if is_seq_lens_cumsum else lens.tolist()
    row = 0
    for i, count in enumerate(counts):
        first = 0 if seq_offset is None else int(seq_offset[i]) // page
        for j in range(count):
            column = first + j // page
            number = int(table[i, column]) if column < table.shape[1] else -1
            for cache, o in zip((key_cache, value_cache), out, strict=True):
                o[row] = cache[number, j % page] if 0 <= number < cache.shape[0] else 0
            row += 1
    return tuple(out)


LOGITS = values(3, 9) * 3
KV = (values(2, 1, 5, 96), values(64, low=0.5), values(2, 1, 5, 32), values(2, 1, 5, 32))
SLOTS = torch.tensor([7, 0, 5, 11, -1, 1, 2, 3, 8, 9])
PAGED = (torch.zeros(3, 4, 1, 32).double(), torch.zeros(3, 4, 1, 64).double())
NORM = (
    torch.tensor([[7, 0, 5, 1, 2], [3, 6, 1, 0, 4]]),
    torch.zeros(2, 1, 8, 32).double(),
    torch.zeros(2, 1, 8, 64).double(),
)
EIGHTS = [values(2, 2, 4, 1, low=0.5).expand(2, 2, 4, 8).clone() + i / 8 for i in range(4)]
PAGES = (
    values(6, 3, 2, 4),
    values(6, 3, 2, 5),
    torch.tensor([[5, 0, 9], [2, 1, -1]], dtype=torch.int32),
)
ONE = {"dtypes": (torch.float32,)}
BIG = torch.int8
SERVING = {
    "npu_top_k_top_p": Case(top_k_top_p, (LOGITS, torch.tensor([0.5, 0.9, 0.1]).double(), torch.tensor([4, 9, 2])), **ONE),
    "npu_top_k_top_p-k": Case(top_k_top_p, (LOGITS, None, torch.tensor([4, 9, 1])), **WIDENED),
    "npu_top_k_top_p-p": Case(top_k_top_p, (LOGITS, torch.tensor([0.5, 0.9, 0.1]).double()), **ONE),
    "npu_mrope": Case(mrope, (torch.tensor([3, 0, 7, 2]), values(4, 24), values(4, 12), values(8, 12), 12), dtypes=(torch.float32, torch.float16)),
    "npu_mrope-sections": Case(
        mrope, (torch.tensor([[3, 0], [7, 2], [1, 1]]), values(2, 32), values(2, 16), values(8, 12), 16, ),
        {"mrope_section": [2, 3, 1], "rotary_mode": "interleave"}, **ONE,
    ),
    "npu_mrope-interleaved": Case(
        mrope, (torch.tensor([[3, 0], [7, 2], [1, 1]]), values(2, 32), values(2, 16), values(8, 12), 16, ),
        {"mrope_section": [3, 1, 2], "cache_mode": "interleave"}, **ONE,
    ),
    "npu_kv_rmsnorm_rope_cache": Case(kv_cache, (*KV, *NORM), opcheck=False, **ONE),
    **{
        f"npu_kv_rmsnorm_rope_cache-{mode}": Case(
            kv_cache, (*KV, SLOTS, *PAGED), {"cache_mode": mode, "is_output_kv": True}, opcheck=False, **ONE
        )
        for mode in ("PA", "PA_BNSD", "PA_NZ")
    },
    **{
        f"npu_kv_rmsnorm_rope_cache-{mode}": Case(
            kv_cache, (*KV, torch.tensor([8, -1, 0, 4]), *PAGED), {"cache_mode": mode}, opcheck=False, **ONE
        )
        for mode in ("PA_BLK_BNSD", "PA_BLK_NZ")
    },
    "npu_kv_rmsnorm_rope_cache-int8": Case(
        kv_cache, (*KV, SLOTS, PAGED[0].to(BIG), PAGED[1].to(BIG)),
        {"cache_mode": "PA", "k_rope_scale": values(32) + 20, "c_kv_scale": values(64) + 30,
         "k_rope_offset": values(32), "c_kv_offset": values(64)}, opcheck=False, **ONE,
    ),
    "npu_kv_rmsnorm_rope_cache_v2_functional": Case(functional_kv_cache, (*KV, *NORM), **ONE),
    "npu_kv_rmsnorm_rope_cache_v2_functional-v": Case(
        functional_kv_cache,
        (values(2, 1, 5, 64), *KV[1:], NORM[0], torch.zeros(2, 1, 8, 64).double(), torch.zeros(2, 1, 8, 24).double()),
        {"v": values(2, 1, 5, 24)}, **ONE,
    ),
    "npu_ring_attention_update": Case(ring, (values(4, 2, 6), EIGHTS[0], EIGHTS[1], values(4, 2, 6) * 2, EIGHTS[2], EIGHTS[3]), **ONE),
    "npu_gather_pa_kv_cache_functional": Case(
        gathered, (*PAGES, torch.tensor([7, 4]), torch.zeros(12, 2, 4).double(), torch.ones(12, 2, 5).double())
    ),
    "npu_gather_pa_kv_cache_functional-offset": Case(
        gathered, (*PAGES, torch.tensor([0, 4, 7]), torch.zeros(7, 2, 4).double(), torch.zeros(7, 2, 5).double()),
        {"seq_offset": torch.tensor([3, 3]), "is_seq_lens_cumsum": True},
    ),
}  # fmt: skip

FAMILIES = {"quantized": QUANTIZED, "serving": SERVING}
