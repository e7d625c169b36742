"""Calls of latent attention's operators, each with a definition in plain PyTorch: projections, and losses of indexers."""

import torch

from tests.capability.composed_cases import Case, values

# ---- projections before latent attention ----


def rms(x, gamma, epsilon):
    return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * gamma


def rotated(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.cat((a, b), -1) * cos + torch.cat((-b, a), -1) * sin


def to_int8(y):
    return y.round().clamp(-128, 127).to(torch.int8)


def product(x, weight, rows, columns):
    y = x.double() @ weight.double()
    return y if rows is None else y * rows.reshape(-1, 1) * columns.reshape(1, -1)


def slots_of(index, cache, mode, sequences):
    if not mode.startswith("PA_BLK"):
        return index.flatten().tolist()
    page, found, pages = cache.shape[1], [], index.flatten().tolist()
    for count in sequences:
        used = -(-count // page)
        found += [pages[k // page] * page + k % page for k in range(count)]
        pages = pages[used:]
    return found


def written(cache, rows, index, mode, sequences):
    out = cache.clone()
    if mode in ("BSND", "TND"):
        return rows.to(cache.dtype).reshape(cache.shape)
    page = cache.shape[1]
    block = 32 // cache.element_size()
    for row, slot in zip(rows, slots_of(index, cache, mode, sequences), strict=True):
        if slot < 0:
            continue
        if mode.endswith("NZ"):
            blocks = out[slot // page].view(-1, page, block)
            blocks[:, slot % page] = row.reshape(-1, block).to(cache.dtype)
        else:
            out[slot // page, slot % page, 0] = row.to(cache.dtype)
    return out


def projected(x, down_q, up_q, up_k, down_kv, gamma_q, gamma_kv, sin, cos, kv_cache, kr_cache, *, cache_index=None,
              dequant_scale_x=None, dequant_scale_w_dq=None, dequant_scale_w_uq_qr=None, dequant_scale_w_dkv_kr=None,
              quant_scale_ckv=None, quant_scale_ckr=None, smooth_scales_cq=None, actual_seq_len=None,
              rmsnorm_epsilon_cq=1e-5, rmsnorm_epsilon_ckv=1e-5, cache_mode="PA_BSND", query_norm_flag=False,
              weight_quant_mode=0, kv_cache_quant_mode=0, query_quant_mode=0, qc_qr_scale=1.0, kc_scale=1.0):  # fmt: skip
    rope, (heads, plain, latent) = sin.shape[-1], up_k.shape
    rows, sines, cosines = (
        x.reshape(-1, x.shape[-1]),
        sin.reshape(-1, rope),
        cos.reshape(-1, rope),
    )
    norm = (
        rms(product(rows, down_q, dequant_scale_x, dequant_scale_w_dq), gamma_q, rmsnorm_epsilon_cq)
        * qc_qr_scale
    )
    norm_scale = None
    if weight_quant_mode:
        y = norm if smooth_scales_cq is None else norm * smooth_scales_cq
        norm_scale = y.abs().amax(-1, keepdim=True) / 127
        norm = to_int8(y / norm_scale)
    both = product(norm, up_q, norm_scale, dequant_scale_w_uq_qr).reshape(-1, heads, plain + rope)
    query = torch.einsum("tnd,ndh->tnh", both[..., :plain], up_k)
    turned = rotated(both[..., plain:], cosines[:, None], sines[:, None])
    query_scale = torch.empty(0).double()
    if query_quant_mode:
        query_scale = query.abs().amax(-1, keepdim=True) / 127
        query = to_int8(query / query_scale)
        turned = turned * quant_scale_ckv.flatten()[:1] / query_scale
    keys = product(rows, down_kv, dequant_scale_x, dequant_scale_w_dkv_kr)
    key = rms(keys[:, :latent], gamma_kv, rmsnorm_epsilon_ckv) * kc_scale
    key_rope = rotated(keys[:, latent:], cosines, sines)
    if kv_cache_quant_mode:
        key = to_int8(key * quant_scale_ckv.reshape(1, -1))
    if kv_cache_quant_mode == 2:
        key_rope = to_int8(key_rope * quant_scale_ckr.reshape(1, -1))
    ends = [x.shape[1]] * x.shape[0] if x.dim() == 3 else [x.shape[0]]
    if actual_seq_len is not None:
        ends = actual_seq_len.diff(prepend=torch.zeros(1).to(actual_seq_len)).tolist()
    caches = [
        written(c, r, cache_index, cache_mode, ends)
        for c, r in ((kv_cache, key), (kr_cache, key_rope))
    ]
    sized = lambda t: t.reshape(*x.shape[:-1], *t.shape[1:])  # noqa: E731
    empty = torch.empty(0)
    return (
        sized(query),
        sized(turned),
        query_scale,
        sized(norm) if query_norm_flag else empty.to(up_q.dtype),
        norm_scale if query_norm_flag and norm_scale is not None else empty.double(),
        *caches,
    )


HIDDEN, RANK, HEADS, PLAIN, ROPE, LATENT = 12, 6, 2, 4, 4, 32


def int8(*size, seed=0):
    return values(*size, low=-100 - seed, high=100).round().to(torch.int8)


def inputs(*shape, pages=(3, 4), full=False, partial=False):
    """What all versions take, with caches of `pages` [pages, tokens, 1, channels]."""
    created = [
        int8(*shape, HIDDEN) if full else values(*shape, HIDDEN),
        int8(HIDDEN, RANK, seed=1) if full else values(HIDDEN, RANK, low=-1),
        int8(RANK, HEADS * (PLAIN + ROPE), seed=2) if full or partial else values(RANK, HEADS * (PLAIN + ROPE), low=-1.5),
        values(HEADS, PLAIN, LATENT, low=-1.2),
        int8(HIDDEN, LATENT + ROPE, seed=3) if full else values(HIDDEN, LATENT + ROPE, low=-1.1),
        values(RANK, low=0.5), values(LATENT, low=0.5), values(*shape, ROPE), values(*shape, ROPE, low=-1),
    ]  # fmt: skip
    kv, kr = torch.zeros(*pages, 1, LATENT), torch.zeros(*pages, 1, ROPE)
    return (
        *created,
        kv.to(torch.int8) if full else kv.double(),
        kr.double(),
    )


def scale(*size, low=0.01, high=0.02):
    return values(*size, low=low, high=high).float()


FULL = {
    "dequant_scale_x": scale(5, 1), "dequant_scale_w_dq": scale(1, RANK), "dequant_scale_w_dkv_kr": scale(1, LATENT + ROPE),
    "dequant_scale_w_uq_qr": scale(1, HEADS * (PLAIN + ROPE)), "quant_scale_ckv": torch.tensor([20.0]),
    "weight_quant_mode": 2, "kv_cache_quant_mode": 1, "query_quant_mode": 1,
}  # fmt: skip
PARTIAL = {
    "dequant_scale_w_uq_qr": scale(1, HEADS * (PLAIN + ROPE)), "smooth_scales_cq": scale(1, RANK, low=0.5, high=2.0),
    "quant_scale_ckv": scale(1, LATENT, low=10, high=20), "quant_scale_ckr": scale(1, ROPE, low=5, high=9),
    "weight_quant_mode": 1, "kv_cache_quant_mode": 2,
}  # fmt: skip
TOKENS = torch.tensor([7, 0, -1, 11, 5])
ALL = {"dtypes": (torch.float32, torch.float16, torch.bfloat16)}
ONE = {"dtypes": (torch.float32,)}
V3 = "npu_mla_prolog_v3_functional"
partial_caches = inputs(5, partial=True)
PROJECTIONS = {
    V3: Case(projected, inputs(2, 3), {"cache_index": torch.tensor([[7, 0, 2], [1, 11, 5]]), "query_norm_flag": True}, **ALL),
    f"{V3}-tokens": Case(projected, inputs(5), {"cache_index": TOKENS, "qc_qr_scale": 0.5, "kc_scale": 2.0}, **ALL),
    f"{V3}-pages": Case(projected, inputs(2, 3, pages=(3, 2)), {"cache_index": torch.tensor([[2, 0], [1, -1]]), "cache_mode": "PA_BLK_BSND"}, **ONE),
    f"{V3}-ends": Case(
        projected, inputs(5, pages=(3, 2)), {"cache_index": torch.tensor([2, 0, 1]), "cache_mode": "PA_BLK_BSND", "actual_seq_len": torch.tensor([3, 5])}, **ONE
    ),
    f"{V3}-whole": Case(projected, inputs(2, 3, pages=(2, 3)), {"cache_mode": "BSND"}, **ALL),
    f"{V3}-int8": Case(projected, inputs(5, full=True), {"cache_index": TOKENS, "query_norm_flag": True, **FULL}, **ONE),
    f"{V3}-int8 weight": Case(
        projected, (*partial_caches[:-2], *(t.to(torch.int8) for t in partial_caches[-2:])), {"cache_index": TOKENS, **PARTIAL}, **ONE
    ),
}  # fmt: skip

# ---- the loss of an indexer ----


def attention_rows(q, k, is_seen, factor):
    """Maxima and sums of softmax, [B, N2, S, G], of q [B, S, N, D] and k [B, K, N2, D]."""
    groups = q.shape[2] // k.shape[2]
    scores = torch.einsum("bsnd,bknd->bnsk", q, k.repeat_interleave(groups, 2)) * factor
    scores = scores.masked_fill(~is_seen, -torch.inf)
    largest = scores.amax(-1)
    sums = (scores - largest[..., None]).exp().sum(-1)
    split = lambda t: t.unflatten(1, (k.shape[2], groups)).transpose(2, 3)  # noqa: E731
    return split(largest), split(sums)


def causal(queries, keys):
    return torch.arange(keys) < torch.arange(queries)[:, None] + keys - queries + 1


def indexer_scores(qi, ki, w, is_seen):
    heads = torch.einsum("bsnd,bkd->bsnk", qi, ki[:, :, 0]).relu()
    return heads, (heads * w[..., None]).sum(2).masked_fill(~is_seen, -torch.inf)


def divergence(q, k, qi, ki, w, largest, sums, factor, is_seen, y_of):
    """All keys: `is_seen` [B, S, K]."""
    groups = q.shape[2] // k.shape[2]
    scores = torch.einsum("bsnd,bknd->bsnk", q, k.repeat_interleave(groups, 2)) * factor
    by_head = lambda t: t.transpose(1, 2).flatten(2)[..., None]  # noqa: E731
    p = ((scores - by_head(largest)).exp() / by_head(sums)).mean(2) * is_seen
    leaves = [t.detach().requires_grad_() for t in (qi, ki, w)]
    _, index = indexer_scores(*leaves, is_seen)
    y = y_of(index.detach())
    loss = (p * (p.clamp(min=1e-8).log() - y.clamp(min=1e-8).log())).sum()
    grads = torch.autograd.grad(
        torch.where(is_seen, index, 0), leaves, torch.where(is_seen, y - p, 0)
    )
    return *grads, loss[None]


def dense_loss(q, k, qi, ki, w, largest, sums, top, total, factor, *, query_rope=None, key_rope=None, layout="BSND",
               sparse_mode=3, **_):  # fmt: skip
    packed = layout == "TND"
    if packed:
        q, k, qi, ki, w = (t[None] for t in (q, k, qi, ki, w))
        largest, sums = (t[None] for t in (largest, sums))
        top, total = (t[None] for t in (top, total))
    if query_rope is not None:
        q, k = torch.cat((q, query_rope), -1), torch.cat((k, key_rope), -1)
    is_seen = (
        causal(q.shape[1], k.shape[1])
        if sparse_mode == 3
        else torch.ones(q.shape[1], k.shape[1]).bool()
    )
    y_of = lambda index: (index - top[:, 0, :, None]).exp() / total[:, 0, :, None]  # noqa: E731
    found = divergence(q, k, qi, ki, w, largest, sums, factor, is_seen.expand(len(q), -1, -1), y_of)
    return tuple(t[0] for t in found[:3]) + found[3:] if packed else found


def sparse_loss(q, k, qi, ki, w, chosen, largest, sums, factor, **_):
    """Keys that are chosen once each: those over all keys with the others not seen."""
    is_chosen = torch.zeros(*q.shape[:2], k.shape[1]).bool()
    for b, s, _, n in (chosen >= 0).nonzero().tolist():
        is_chosen[b, s, chosen[b, s, 0, n]] = True
    is_seen = is_chosen & causal(q.shape[1], k.shape[1])

    def y_of(index):
        empty = ~is_seen.any(-1, keepdim=True)
        return torch.where(empty, 0, index.masked_fill(empty, 0).softmax(-1))

    return divergence(q, k, qi, ki, w, largest, sums, factor, is_seen, y_of)


def softmax_rows(
    qi, ki, w, *, layout="BSND", sparse_mode=3, actual_seq_qlen=None, actual_seq_klen=None
):
    def one(q, k, weights):
        mask = causal(len(q), len(k)) if sparse_mode == 3 else torch.ones(len(q), len(k)).bool()
        _, index = indexer_scores(q[None], k[None], weights[None], mask)
        top = index.amax(-1)
        top = torch.where(top.isneginf(), 0, top)
        return top, (index - top[..., None]).exp().sum(-1)

    if layout == "BSND":
        rows = [one(*each) for each in zip(qi, ki, w, strict=True)]
        return tuple(torch.stack(part) for part in zip(*rows, strict=True))
    cut = lambda t, ends: t.tensor_split(ends[:-1])  # noqa: E731
    parts = zip(
        cut(qi, actual_seq_qlen), cut(ki, actual_seq_klen), cut(w, actual_seq_qlen), strict=True
    )
    rows = [one(*each) for each in parts]
    return tuple(torch.cat(part, 1) for part in zip(*rows, strict=True))


Q, K = values(2, 3, 4, 6), values(2, 5, 2, 6, low=-1)
QI, KI, W = values(2, 3, 3, 4), values(2, 5, 1, 4, low=-1), values(2, 3, 3, low=-0.5)
TURNED = {"query_rope": values(2, 3, 4, 2), "key_rope": values(2, 5, 2, 2, low=-1)}
CHOSEN = torch.tensor(
    [[[[2, 0, 1]], [[3, -1, -1]], [[4, 0, 2]]], [[[1, 2, -1]], [[0, 4, 3]], [[4, 3, 1]]]]
).int()
SEEN = torch.zeros(2, 1, 3, 5).bool()
for _b, _s, _, _n in (CHOSEN >= 0).nonzero().tolist():
    SEEN[_b, 0, _s, CHOSEN[_b, _s, 0, _n]] = True
WITH_ROPE = (torch.cat((Q, TURNED["query_rope"]), -1), torch.cat((K, TURNED["key_rope"]), -1))
LOSSES = {
    "npu_dense_lightning_indexer_softmax_lse": Case(softmax_rows, (QI, KI, W)),
    "npu_dense_lightning_indexer_softmax_lse-packed": Case(
        softmax_rows, (values(6, 3, 4), values(9, 1, 4), values(6, 3)), {"layout": "TND", "actual_seq_qlen": [2, 6], "actual_seq_klen": [4, 9]}
    ),
    "npu_dense_lightning_indexer_softmax_lse-all": Case(softmax_rows, (QI, KI, W), {"sparse_mode": 0}),
    "npu_dense_lightning_indexer_grad_kl_loss": Case(
        dense_loss, (Q, K, QI, KI, W, *attention_rows(*WITH_ROPE, causal(3, 5), 0.4), *softmax_rows(QI, KI, W), 0.4), TURNED
    ),
    "npu_dense_lightning_indexer_grad_kl_loss-packed": Case(
        dense_loss,
        (Q[0], K[0], QI[0], KI[0], W[0], *(t[0] for t in attention_rows(Q[:1], K[:1], torch.ones(3, 5).bool(), 0.4)),
         *(t[0] for t in softmax_rows(QI[:1], KI[:1], W[:1], sparse_mode=0)), 0.4),
        {"layout": "TND", "sparse_mode": 0, "actual_seq_qlen": [3], "actual_seq_klen": [5]},
    ),
    "npu_sparse_lightning_indexer_grad_kl_loss": Case(
        sparse_loss, (Q, K, QI, KI, W, CHOSEN, *attention_rows(Q, K, SEEN & causal(3, 5), 0.4), 0.4)
    ),
}  # fmt: skip

FAMILIES = {"projections": PROJECTIONS, "indexer losses": LOSSES}
