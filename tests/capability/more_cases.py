"""Calls of composed operators in MX formats, of regions, residual streams, transforms and rows of tokens."""

import torch

from tests.capability.composed_cases import Case, values
from tests.capability.served_cases import ONE, WIDENED

# ---- microscaling ----

ELEMENTS = {
    23: (torch.float8_e5m2, 15, 57344),
    24: (torch.float8_e4m3fn, 8, 448),
    296: (None, 2, 6),
}
GRID = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6]).double()


def float4(y):
    distance = (y.abs()[..., None] - GRID).abs()
    nearest = distance == distance.amin(-1, keepdim=True)
    # Of two codes that are as near, the even one.
    codes = torch.where(nearest, torch.arange(8) + 16 * (torch.arange(8) % 2), 99).amin(-1) % 16
    codes = codes + 8 * y.signbit()
    return (codes[..., ::2] + 16 * codes[..., 1::2]).to(torch.uint8)


def mx(x, axis=-1, dst_type=296, block_size=32, **_):
    dtype, exponent, most = ELEMENTS[dst_type]
    rows, pairs = x.movedim(axis, -1), -(-x.shape[axis] // (2 * block_size))
    scales = torch.zeros(*rows.shape[:-1], 2 * pairs, dtype=torch.uint8)
    y = torch.zeros_like(rows)
    for b in range(2 * pairs):
        part = rows[..., b * block_size : (b + 1) * block_size]
        if part.shape[-1] == 0:
            continue
        top = part.abs().amax(-1)
        e = torch.where(top > 0, top.log2().floor() - exponent, -127.0).clamp(-127, 127)
        scales[..., b] = (e + 127).to(torch.uint8)
        scaled = (part / 2 ** e[..., None]).clamp(-most, most)
        y[..., b * block_size : (b + 1) * block_size] = scaled
    y = y.movedim(-1, axis)
    scales = scales.unflatten(-1, (pairs, 2)).movedim(-2, axis % x.dim())
    return float4(y) if dtype is None else y.float().to(dtype), scales


def mx_both(x, dst_type=296, **_):
    return *mx(x, -1, dst_type), *mx(x, -2, dst_type)


def mx_blocks(x, dst_type=296, **_):
    """The greatest number of each block of 32 by 32 decides for all of them."""
    dtype, exponent, most = ELEMENTS[dst_type]
    rows, columns = x.shape[-2:]
    down, across = -(-rows // 64), -(-columns // 64)
    bits = torch.zeros(*x.shape[:-2], 2 * down, 2 * across, dtype=torch.uint8)
    y = torch.zeros_like(x)
    for i in range(2 * down):
        for j in range(2 * across):
            part = (..., slice(32 * i, 32 * i + 32), slice(32 * j, 32 * j + 32))
            if x[part].numel():
                top = x[part].abs().amax((-2, -1))
                e = torch.where(top > 0, top.log2().floor() - exponent, -127.0).clamp(-127, 127)
                bits[..., i, j] = (e + 127).to(torch.uint8)
                y[part] = (x[part] / 2 ** e[..., None, None]).clamp(-most, most)
    first = bits.repeat_interleave(32, -2)[..., :rows, :].unflatten(-1, (across, 2))
    second = (
        bits.repeat_interleave(32, -1)[..., :columns].unflatten(-2, (down, 2)).transpose(-2, -1)
    )
    return float4(y) if dtype is None else y.float().to(dtype), first, second


MX = {
    f"npu_dynamic_mx_quant-{number}-{axis}": Case(
        mx, (values(3, 70, 6) * torch.logspace(-3, 3, 70).double()[:, None],), {"axis": axis, "dst_type": number}, **WIDENED
    )
    for number in ELEMENTS
    for axis in (1, -1)
} | {
    "npu_dynamic_mx_quant-zeros": Case(mx, (torch.zeros(2, 64).double(),), {"dst_type": 24}, **WIDENED),
    "npu_dynamic_mx_quant-blocks": Case(mx, (values(2, 200),), {"dst_type": 23, "block_size": 64}, **WIDENED),
    "npu_dynamic_block_mx_quant": Case(mx_blocks, (values(2, 40, 70),), {"dst_type": 24}, **WIDENED),
    "npu_dynamic_block_mx_quant-float4": Case(mx_blocks, (values(70, 34),), **WIDENED),
    "npu_dynamic_mx_quant_with_dual_axis": Case(mx_both, (values(2, 40, 70),), {"dst_type": 24}, **WIDENED),
}  # fmt: skip

# ---- regions, experts, residual streams, transforms ----


def roi_align(x, rois, scale, height, width, samples, _):
    out = torch.zeros(rois.shape[0], x.shape[1], height, width).double()
    rows, columns = x.shape[2:]
    for n, (image, x1, y1, x2, y2) in enumerate(rois.tolist()):
        dy, dx = max((y2 - y1) * scale, 1) / height, max((x2 - x1) * scale, 1) / width
        for i in range(height * samples):
            for j in range(width * samples):
                y, z = y1 * scale + dy * (i + 0.5) / samples, x1 * scale + dx * (j + 0.5) / samples
                if not (-1 <= y <= rows and -1 <= z <= columns):
                    continue
                y, z = min(max(y, 0), rows - 1), min(max(z, 0), columns - 1)
                a, b = int(y), int(z)
                c, d = min(a + 1, rows - 1), min(b + 1, columns - 1)
                v, h = y - a, z - b
                planes = x[int(image)]
                value = (planes[:, a, b] * (1 - h) + planes[:, a, d] * h) * (1 - v)
                value = value + (planes[:, c, b] * (1 - h) + planes[:, c, d] * h) * v
                out[n, :, i // samples, j // samples] += value / samples**2
    return out


def roi_align_back(grad, rois, shape, width, height, scale, samples, _):
    x = torch.zeros(shape).double().requires_grad_()
    with torch.enable_grad():
        result = roi_align_of(x, rois, scale, height, width, samples)
    return torch.autograd.grad(result, x, grad)[0]


def roi_align_of(x, rois, scale, height, width, samples):
    """The same as roi_align as a linear function of the pixels, by one of them at a time."""
    units = torch.eye(x[0, 0].numel()).double().reshape(-1, 1, *x.shape[2:])
    parts = []
    for roi in rois:
        local = torch.cat((torch.zeros(1).double(), roi[1:].double()))[None]
        weights = torch.cat(
            [roi_align(u[None], local, scale, height, width, samples, 0) for u in units]
        )[:, 0]
        parts.append(torch.einsum("cp,phw->chw", x[int(roi[0])].flatten(1), weights))
    return torch.stack(parts)


def chosen(x, count, *_):
    found = x.nonzero().int()
    missing = torch.zeros(count - len(found), x.dim(), dtype=torch.int32)
    return torch.cat((found, missing)), torch.arange(count) < len(found)


def gated(x, k=1, finished=None, renorm=0, output_softmax=False):
    every = x.softmax(-1)
    order = (x if renorm else every).sort(dim=-1, descending=True, stable=True).indices[..., :k]
    out = x.gather(-1, order).softmax(-1) if renorm else every.gather(-1, order)
    if finished is not None:
        order = order.masked_fill(finished.reshape(*x.shape[:-1], 1), x.shape[-1])
    return out, order.int(), every if output_softmax and not renorm else torch.empty(0).double()


def streams(x, h_res, h_out, h_post):
    stays = x if h_res is None else (h_res[..., None] * x[..., None, :]).sum(-3)
    return h_post[..., None] * h_out[..., None, :] + stays


def streams_back(grad, x, h_res, h_out, h_post):
    leaves = [t.detach().requires_grad_() for t in (x, h_res, h_out, h_post)]
    return torch.autograd.grad(streams(*leaves), leaves, grad)


def transform_back(function, make):
    def gradient(grad, *args):
        x = make(grad, *args).requires_grad_()
        return torch.autograd.grad(function(x, grad, *args), x, grad)[0]

    return gradient


def stft_back(
    grad,
    x,
    n_fft,
    hop=None,
    win=None,
    window=None,
    normalized=False,
    onesided=None,
    return_complex=None,
):
    x = x.detach().requires_grad_()
    y = torch.stft(
        x,
        n_fft,
        hop,
        win,
        window,
        center=False,
        normalized=normalized,
        onesided=onesided,
        return_complex=True,
    )
    return torch.autograd.grad(y, x, grad)[0]


ROIS = torch.tensor([[0, -2, -2, 22, 22], [1, 3, 1, 9, 14], [0, 5, 5, 6, 6]]).double()
SPECTRUM = torch.complex(values(3, 5), values(3, 5) + 1)
STFT = torch.stft(
    values(40), 8, 4, 8, torch.hann_window(8).double(), center=False, return_complex=True
)
PLAIN = {"dtypes": (torch.float64,), "opcheck": False}
MORE = {
    "npu_roi_align": Case(roi_align, (values(2, 3, 6, 7), ROIS, 0.25, 3, 2, 2, 0), **ONE),
    "npu_roi_alignbk": Case(
        roi_align_back, (values(3, 3, 3, 2), ROIS, [2, 3, 6, 7], 2, 3, 0.25, 2, 0), **ONE
    ),
    "npu_random_choice_with_mask": Case(chosen, (torch.tensor([[True, False], [True, True]]), 5, 1, 0)),
    "npu_moe_gating_top_k_softmax_v2": Case(gated, (values(4, 6),), {"k": 3, "output_softmax": True}, **ONE),
    "npu_moe_gating_top_k_softmax_v2-renorm": Case(
        gated, (values(2, 3, 6),), {"k": 2, "renorm": 1, "finished": torch.tensor([[True, False, False], [False, True, False]])},
        **ONE,
    ),
    "npu_mhc_post": Case(streams, (values(2, 5, 4, 6), values(2, 5, 4, 4), values(2, 5, 6), values(2, 5, 4)), gradients=4),
    "npu_mhc_post-alone": Case(streams, (values(5, 4, 6), None, values(5, 6), values(5, 4)), gradients=1),
    "npu_mhc_post_backward": Case(
        streams_back, (values(5, 4, 6), values(5, 4, 6) + 1, values(5, 4, 4), values(5, 6), values(5, 4))
    ),
    "fft_r2c_backward": Case(
        transform_back(lambda x, g, *a: torch.ops.aten._fft_r2c(x, *a[:3]),
                       lambda g, dim, n, onesided, last: torch.zeros(3, last).double()),
        (SPECTRUM, [0, 1], 1, True, 8), **PLAIN,
    ),
    "fft_c2r_backward": Case(
        transform_back(lambda x, g, *a: torch.ops.aten._fft_c2r(x, *a, g.shape[-1]),
                       lambda g, dim, n: torch.zeros(3, 5).cdouble()),
        (values(3, 8), [0, 1], 2), **PLAIN,
    ),
    "stft_backward": Case(stft_back, (STFT, values(40), 8, 4, 8, torch.hann_window(8).double(), False, True, True), **PLAIN),
}  # fmt: skip

# ---- rows of tokens by experts ----


def by_experts(tokens, routing_map, probs=None, num_out_tokens=None, drop_and_pad=False):
    count, experts = routing_map.shape
    places = []
    for e in range(experts):
        own = routing_map[:, e].nonzero().flatten().tolist()
        if drop_and_pad:
            others = [t for t in range(count) if t not in own]
            own = (own + others)[: num_out_tokens // experts]
        places += [(t, e) for t in own]
    rows, columns = (torch.tensor(p) for p in zip(*places, strict=True))
    where = rows if drop_and_pad else rows.sort(stable=True).indices
    chances = torch.empty(0).double() if probs is None else probs[rows, columns]
    return tokens[rows], chances, where.int()


def by_experts_back(grad, probs_grad, where, routing_map, experts, count, padded):
    tokens = torch.zeros(count, grad.shape[1]).double().requires_grad_()
    probs = torch.zeros(count, experts).double().requires_grad_()
    found = by_experts(tokens, routing_map, probs, len(where), padded)[:2]
    return torch.autograd.grad(found, (tokens, probs), (grad, probs_grad))


def by_tokens(rows, where, shape, probs=None, routing_map=None, drop_and_pad=False):
    experts = routing_map.shape[1]
    if drop_and_pad:
        owners = where.long()
        columns = torch.arange(experts).repeat_interleave(len(where) // experts)
    else:
        rows = rows[where.long()]
        owners, columns = routing_map.nonzero().T
    used = torch.empty(0).double() if probs is None else probs[owners, columns]
    weighted = rows if probs is None else rows * used[:, None]
    out = torch.zeros(shape).double().index_add(0, owners, weighted)
    order = where.sort(stable=True)
    others = (order.indices.int(), order.values) if drop_and_pad else (where, where)
    return out, *others, used


def by_tokens_back(grad, order, ids, routing_map, rows, probs, padded, shape):
    where = torch.zeros_like(ids).scatter(0, order.long(), ids) if padded else order
    leaves = [rows.detach().requires_grad_(), probs.detach().requires_grad_()]
    out = by_tokens(leaves[0], where, shape, leaves[1], routing_map, padded)[0]
    return torch.autograd.grad(out, leaves, grad)


MAP = torch.tensor([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]).bool()
FULL = torch.ones(4, 3, dtype=torch.bool)
WHERE, PADS = by_experts(values(4, 5), MAP)[2], by_experts(values(4, 5), MAP, None, 6, True)[2]
SORTED = PADS.sort(stable=True)
ROUTED = {
    "npu_moe_token_permute_with_routing_map": Case(
        by_experts, (values(4, 5), MAP), {"probs": values(4, 3), "num_out_tokens": 8}, gradients=1
    ),
    "npu_moe_token_permute_with_routing_map-all": Case(
        by_experts, (values(4, 5), FULL.to(torch.int8)), {"num_out_tokens": 12}, gradients=1
    ),
    "npu_moe_token_permute_with_routing_map-padded": Case(
        by_experts, (values(4, 5), MAP), {"probs": values(4, 3), "num_out_tokens": 6, "drop_and_pad": True}, gradients=1
    ),
    "npu_moe_token_permute_with_routing_map_grad": Case(
        by_experts_back, (values(8, 5), values(8), WHERE, MAP, 3, 4, False)
    ),
    "npu_moe_token_permute_with_routing_map_grad-padded": Case(
        by_experts_back, (values(6, 5), values(6), PADS, MAP, 3, 4, True)
    ),
    "_npu_moe_token_unpermute_with_routing_map": Case(
        by_tokens, (values(8, 5), WHERE, [4, 5]), {"probs": values(4, 3), "routing_map": MAP}, gradients=1
    ),
    "_npu_moe_token_unpermute_with_routing_map-padded": Case(
        by_tokens, (values(6, 5), PADS, [4, 5]), {"probs": values(4, 3), "routing_map": MAP, "drop_and_pad": True},
        gradients=1,
    ),
    "_npu_moe_token_unpermute_with_routing_map-plain": Case(
        by_tokens, (values(8, 5), WHERE, [4, 5]), {"routing_map": MAP}, gradients=1
    ),
    "npu_moe_token_unpermute_with_routing_map_grad": Case(
        by_tokens_back, (values(4, 5), WHERE, WHERE, MAP, values(8, 5), values(4, 3), False, [4, 5])
    ),
    "npu_moe_token_unpermute_with_routing_map_grad-padded": Case(
        by_tokens_back,
        (values(4, 5), SORTED.indices.int(), SORTED.values, MAP, values(6, 5), values(4, 3), True, [4, 5]),
    ),
}  # fmt: skip

FAMILIES = {"microscaling": MX, "more": MORE, "routed": ROUTED}
