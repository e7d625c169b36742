"""Calls of experts' products and of products that are quantized, each with a definition in plain PyTorch."""

import torch
import torch.nn.functional as F

from tests.capability.composed_cases import Case, values
from tests.capability.more_cases import mx
from tests.capability.served_cases import ONE, by_rows, to_int8

HALVES = (torch.float32,)


def ints(*size, low=-9, high=10, dtype=torch.int8):
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randint(low, high, size, generator=generator).to(dtype)


def spans(numbers, has_counts):
    ends = torch.cumsum(numbers, 0) if has_counts else numbers
    ends = [int(e) for e in ends]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def grouped(x, weight, factors, groups, rows=None):
    y = torch.zeros(len(x), weight.shape[-1], dtype=torch.float64)
    for e, (a, b) in enumerate(groups):
        y[a:b] = x[a:b].double() @ weight[e].double() * factors[e].double()
    return y if rows is None else y * rows.double()[:, None]


def gated(x, weight, group_list, weight_scale, x_scale, has_counts=False):
    groups = spans(group_list, has_counts)
    a, b = grouped(x, weight, weight_scale, groups, x_scale).chunk(2, 1)
    y, scales = by_rows(F.silu(a) * b)
    scales[groups[-1][1] :] = 0
    return y, scales


def gated_v2(x, weight, weight_scale, x_scale, group_list, group_list_type=0):
    return gated(x, weight[0], group_list, weight_scale[0], x_scale, bool(group_list_type))


def added(own, x, weight, group_list, group_list_type=0):
    y = own.clone()
    for e, (a, b) in enumerate(spans(group_list, bool(group_list_type))):
        y.view(len(group_list), x.shape[1], -1)[e] += x[a:b].T @ weight[a:b]
    return y


def finalized(x, w, group_list, scale=None, pertoken_scale=None, shared_input=None, logit=None, row_index=None, shared_input_weight=1.0, shared_input_offset=0, output_bs=0, group_list_type=1):  # fmt: skip
    groups = spans(group_list, bool(group_list_type))
    y = grouped(x, w, scale, groups, pertoken_scale) * logit[:, None].double()
    out = torch.zeros(output_bs or len(x), w.shape[2], dtype=torch.float64)
    for n in range(groups[-1][1]):
        out[int(row_index[n])] += y[n]
    if shared_input is not None:
        end = shared_input_offset + len(shared_input)
        out[shared_input_offset:end] += shared_input.double() * shared_input_weight
    return out


def ffn(x, w1, w2, activation, expert_tokens=None, bias1=None, bias2=None, scale=None, offset=None, deq_scale1=None, deq_scale2=None, antiquant_scale1=None, antiquant_scale2=None, antiquant_offset1=None, antiquant_offset2=None, output_dtype=None):  # fmt: skip
    halves = lambda t: t.chunk(2, -1)  # noqa: E731
    active = {
        "relu": F.relu, "gelu": F.gelu, "silu": F.silu, "fastgelu": lambda t: t * torch.sigmoid(1.702 * t),
        "swiglu": lambda t: F.silu(halves(t)[0]) * halves(t)[1], "geglu": lambda t: F.gelu(halves(t)[0]) * halves(t)[1],
        "reglu": lambda t: F.relu(halves(t)[0]) * halves(t)[1],
    }[activation]  # fmt: skip
    rows = x.reshape(-1, x.shape[-1]).double()
    counts = [len(rows)] if expert_tokens is None else expert_tokens
    out = []
    for e, own in enumerate(rows.split(counts)):

        def of(t, e=e):
            return None if t is None else (t if expert_tokens is None else t[e]).double()

        def weight(w, s, o, of=of):
            return of(w) if s is None else (of(w) + (0 if o is None else of(o))) * of(s)

        y = own @ weight(w1, antiquant_scale1, antiquant_offset1) + (
            0 if bias1 is None else of(bias1)
        )
        if deq_scale1 is not None:
            y = to_int8(active(y * of(deq_scale1)) * of(scale) + of(offset)).double()
        else:
            y = active(y)
        y = y @ weight(w2, antiquant_scale2, antiquant_offset2) + (
            0 if bias2 is None else of(bias2)
        )
        out.append(y if deq_scale2 is None else y * of(deq_scale2))
    return torch.cat(out).reshape(*x.shape[:-1], -1)


def update_expert(ids, table, expert_scales=None, pruning_threshold=None, active_mask=None, local_rank_id=-1, world_size=-1, balance_mode=0):  # fmt: skip
    out, mask = ids.clone(), torch.ones(ids.shape, dtype=torch.bool)
    for t in range(len(ids)):
        for k in range(ids.shape[1]):
            count, *places = table[int(ids[t, k])].tolist()
            n = local_rank_id // -(-world_size // count) if balance_mode == 0 else t % count
            out[t, k] = places[0 if count == 1 else n]
            if expert_scales is not None:
                least = expert_scales[t].sum() * pruning_threshold.flatten()[k]
                mask[t, k] = least < expert_scales[t, k] and (active_mask is None or active_mask[t])
    return out, mask if expert_scales is not None else torch.empty(0, dtype=torch.bool)


def re_routing(tokens, counts, per_token_scales=None, expert_token_num_type=1, idx_type=0):
    starts = torch.cumsum(counts.flatten(), 0) - counts.flatten()
    starts = starts.reshape(counts.shape)
    order = [int(starts[r, e]) + k for e in range(counts.shape[1]) for r in range(counts.shape[0]) for k in range(int(counts[r, e]))]  # fmt: skip
    order = torch.tensor(order)
    scales = torch.zeros(len(tokens)) if per_token_scales is None else per_token_scales[order]
    totals = counts.sum(0) if expert_token_num_type else counts.sum(0).cumsum(0)
    index = order if idx_type == 0 else order.argsort()
    return tokens[order], scales, index.int(), totals.to(counts.dtype)


X8, W8 = ints(7, 6), ints(3, 6, 8)
SCALES, ROWS = values(3, 8, low=0.01, high=0.03), values(7, low=0.5, high=1).float()
COUNTS, ENDS = torch.tensor([2, 0, 4]), torch.tensor([2, 2, 6])
TOKENS = values(6, 4)
FFN = (values(2, 3, 4), values(4, 6, low=-1), values(6, 4, low=-1))
EXPERTS_FFN = (values(6, 4), values(2, 4, 6, low=-1), values(2, 6, 4, low=-1))
INT_FFN = (ints(5, 4), ints(4, 6), ints(6, 4))
TABLE = torch.tensor([[1, 0, 9, 9], [2, 1, 4, 9], [3, 2, 3, 5]], dtype=torch.int32)
IDS = torch.tensor([[0, 1], [2, 1], [2, 0], [1, 2]], dtype=torch.int32)
KEPT = {"expert_scales": values(4, 2, low=0, high=1), "pruning_threshold": torch.tensor([0.3, 0.4])}
ON_RANKS = torch.tensor([[1, 0, 2], [1, 1, 1]])
EXPERTS = {
    "npu_grouped_matmul_swiglu_quant": Case(
        lambda *a: (*gated(*a), torch.empty(0)), (X8, W8, ENDS, SCALES, ROWS), **ONE
    ),
    "npu_grouped_matmul_add": Case(
        added, (values(2, 3, 4).float(), values(5, 3), values(5, 4), torch.tensor([2, 5])), dtypes=HALVES
    ),
    "npu_grouped_matmul_add-counts": Case(
        added, (values(6, 4).float(), values(5, 3), values(5, 4), torch.tensor([2, 3])), {"group_list_type": 1}, dtypes=HALVES
    ),
    "npu_grouped_matmul_finalize_routing": Case(
        finalized, (X8, W8, COUNTS),
        {"scale": SCALES, "pertoken_scale": ROWS, "logit": values(7, low=0, high=1), "row_index": torch.tensor([3, 0, 1, 3, 2, 0, 0]),
         "shared_input": values(2, 8), "shared_input_weight": 0.5, "shared_input_offset": 1, "output_bs": 4}, dtypes=HALVES,
    ),
    "npu_ffn": Case(ffn, (*FFN, "gelu"), {"bias1": values(6), "bias2": values(4)}, dtypes=(torch.float32, torch.float16)),
    "npu_ffn-experts": Case(
        ffn, (*EXPERTS_FFN, "silu"), {"expert_tokens": [2, 4], "bias1": values(2, 6)}, dtypes=(torch.float32, torch.float16)
    ),
    "npu_ffn-swiglu": Case(ffn, (FFN[0], FFN[1], values(3, 4), "swiglu"), dtypes=HALVES),
    "npu_ffn-fastgelu": Case(ffn, (*FFN, "fastgelu"), dtypes=HALVES),
    "npu_ffn-weights": Case(
        ffn, (values(5, 4), ints(4, 6), ints(6, 4), "relu"),
        {"antiquant_scale1": values(6, low=0.05, high=0.1), "antiquant_scale2": values(4, low=0.05, high=0.1),
         "antiquant_offset1": values(6)}, dtypes=HALVES,
    ),
    "npu_moe_update_expert": Case(update_expert, (IDS, TABLE), {"local_rank_id": 3, "world_size": 4}, dtypes=HALVES),
    "npu_moe_update_expert-pruned": Case(
        update_expert, (IDS, TABLE), {**KEPT, "active_mask": torch.tensor([True, True, True, False]), "balance_mode": 1}, dtypes=HALVES
    ),
    "npu_moe_re_routing": Case(re_routing, (TOKENS, ON_RANKS), {"per_token_scales": values(6).float()}, dtypes=HALVES),
    "npu_moe_re_routing-ends": Case(re_routing, (TOKENS, ON_RANKS.int()), {"expert_token_num_type": 0, "idx_type": 1}, dtypes=(torch.float32, torch.float16)),
}  # fmt: skip

# ---- quantized products ----


def matmul_gelu(x1, x2, s1, s2, bias=None, approximate="gelu_erf"):
    y = x1.double() @ x2.double()
    if bias is not None and bias.dtype == torch.int32:
        y, bias = y + bias.double(), None
    y = y * s2.double() * s1.double()[:, None] + (0 if bias is None else bias.double())
    return F.gelu(y, approximate="none" if approximate == "gelu_erf" else "tanh")


def reduce_sum(x1, x2, x1_scale=None, x2_scale=None):
    return (x1.double() @ x2.double() * x1_scale[..., None].double()).sum(0) * x2_scale.double()


def transposed(x1, x2, dtype, x1_scale=None, x2_scale=None, perm_x2=(0, 1, 2)):
    y = x1.double().transpose(0, 1) @ x2.double().permute(perm_x2)
    return (y * x2_scale.double() * x1_scale.double()[:, None]).transpose(0, 1)


def rotated(x, rotation):
    blocks = x.unflatten(-1, (-1, len(rotation))) @ rotation
    return by_rows(blocks.flatten(-2))


def kronecker(x, p1, p2, clip_ratio=None):
    y = p1 @ x @ p2
    scale = y.abs().amax((1, 2)) / (7 * (clip_ratio or 1))
    codes = (y / scale[:, None, None]).round().clamp(-8, 7).long() & 15
    packed = (codes.unflatten(-1, (-1, 8)) << (4 * torch.arange(8))).sum(-1)
    return torch.where(packed >= 2**31, packed - 2**32, packed).int(), scale


def rms_mx(x, gamma, beta=None, epsilon=1e-6, dst_type=296):
    rstd = (x.square().mean(-1, keepdim=True) + epsilon).rsqrt()
    y = x * rstd * gamma + (0 if beta is None else beta)
    return *mx(y.float().double(), -1, dst_type), rstd


def add_rms_mx(x1, x2, gamma, **rest):
    y, scales, rstd = rms_mx(x1 + x2, gamma, **rest)
    return y, x1 + x2, scales, rstd


# Rows whose greatest number is 7, so that all numbers are whole and no rounding decides.
WHOLE = ints(2, 3, 8, low=-7, high=8, dtype=torch.float64)
WHOLE[:, 0, 0] = 7
FLOAT8 = (values(2, 3, 4).to(torch.float8_e4m3fn), values(3, 4, 5).to(torch.float8_e4m3fn))
MX_ROWS = ints(3, 64, low=-6, high=7, dtype=torch.float64)
PRODUCTS = {
    "npu_quant_matmul_gelu": Case(
        matmul_gelu, (ints(5, 6), ints(6, 4), values(5, low=0.1, high=0.2).float(), values(4, low=0.1, high=0.2)), dtypes=HALVES
    ),
    "npu_quant_matmul_gelu-bias": Case(
        matmul_gelu, (ints(5, 6), ints(6, 4), values(5, low=0.1, high=0.2).float(), values(1, low=0.1, high=0.2)),
        {"bias": ints(4, dtype=torch.int32), "approximate": "gelu_tanh"}, dtypes=HALVES,
    ),
    "npu_quant_matmul_reduce_sum": Case(
        reduce_sum, (ints(2, 3, 6), ints(2, 6, 4)), {"x1_scale": values(2, 3, low=0.1, high=0.2), "x2_scale": values(4, low=0.1, high=0.2)}, dtypes=HALVES
    ),
    "npu_rotate_quant": Case(rotated, (values(5, 8), values(4, 4)), **ONE),
    "npu_kronecker_quant": Case(kronecker, (WHOLE, torch.eye(3).double(), torch.eye(8).double()), **ONE),
    "npu_rms_norm_dynamic_mx_quant": Case(
        rms_mx, (MX_ROWS, torch.ones(64).double()), {"epsilon": 0.0, "dst_type": 24}, **ONE
    ),
    "npu_add_rms_norm_dynamic_mx_quant": Case(
        add_rms_mx, (MX_ROWS, MX_ROWS.flip(0), torch.ones(64).double()), {"epsilon": 0.0, "dst_type": 24}, **ONE
    ),
}  # fmt: skip

FAMILIES = {"experts": EXPERTS, "quantized products": PRODUCTS}
